// Writes the history of this instance to the store of all instances: its increases once per slot, so that no more than those of the current
// slot are lost when the process is killed, and the whole history in longer intervals.

import { promisify } from 'node:util';
import { constants, deflateRaw } from 'node:zlib';
import type { CountedIncreases, SharedHistories, SharedHistory } from '../fleet/shared-histories.ts';
import { RESOLUTIONS } from './ranges.ts';
import type { Increases } from './sample.ts';

const deflated = promisify(deflateRaw);
const [{ slotMs: SLOT_MS }] = RESOLUTIONS;
const WHOLE_EVERY_MS = 300_000;
/** Samples that wait for a write; more than a slot has. Without Redis, no write comes. */
const PENDING_MAX = 100;

export class HistoryJournal {
  readonly #id: string;
  readonly #encode: () => Buffer;
  #pending: CountedIncreases[] = [];
  #writtenAtMs = 0;
  /** The time at which the whole history was written; 0 if it must be written next, because increases may be lost. */
  #wholeAtMs = 0;
  #writing: Promise<void> = Promise.resolve();

  /** @param encode returns the bytes of the history of this moment */
  constructor(id: string, encode: () => Buffer) {
    this.#id = id;
    this.#encode = encode;
  }

  note(sinceMs: number, atMs: number, increases: Increases): void {
    if (!Object.values(increases).some(({ length }) => length > 0)) return;
    if (this.#pending.length < PENDING_MAX) this.#pending.push({ sinceMs, atMs, increases });
    else this.#writeWholeNext();
  }

  /** Writes if the slot is another one than the last time; an earlier one after the clock was set back. Call it after each sample. */
  writeInNewSlot(store: SharedHistories, instance: string, nowMs: number): void {
    if (Math.floor(nowMs / SLOT_MS) !== Math.floor(this.#writtenAtMs / SLOT_MS))
      void this.write(store, instance, nowMs);
  }

  /** Resolves when the increases so far are written, or when Redis cannot be reached. */
  write(store: SharedHistories, instance: string, nowMs: number): Promise<void> {
    this.#writtenAtMs = nowMs;
    const of = { id: this.#id, instance, untilMs: nowMs };
    this.#writing = this.#writing.then(() => this.#write(store, of).catch(() => this.#writeWholeNext()));
    return this.#writing;
  }

  async #write(store: SharedHistories, of: SharedHistory): Promise<void> {
    const increases = this.#pending;
    this.#pending = [];
    if (of.untilMs - this.#wholeAtMs < WHOLE_EVERY_MS) {
      await store.append(of, increases);
      return;
    }
    await store.replace(of, await deflated(this.#encode(), { level: constants.Z_BEST_SPEED }));
    this.#wholeAtMs = of.untilMs;
  }

  /** Increases that may not have been written are in the next whole history. */
  #writeWholeNext(): void {
    this.#pending = [];
    this.#wholeAtMs = 0;
  }
}
