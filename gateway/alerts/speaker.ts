// Decides whether this instance is the speaker, which sends the messages of all instances, and holds the outboxes. While Redis cannot be
// reached, each instance sends messages about its own causes.

import type { Cause } from '../shared/contracts/cause.ts';
import { type Alert, asJustSeen } from './due.ts';
import type { Outbox } from './outbox.ts';
import {
  asToldItself,
  type Outboxes,
  outboxesIn,
  storedIn,
  toldItself,
  toldSince,
  toStoredForm,
  untoldIn,
  withTold,
} from './outboxes.ts';
import { type AlertStore, lastingSilences, type Silence } from './store.ts';

/** An instance reports its own causes only after this time without Redis, because a failover may take as long. */
const ALONE_AFTER_MS = 10_000;

/** The causes that all instances see while their store cannot be reached. */
const OF_STORES = ['redis', 'stores'];
/** If the last speaker cannot be reached either, the other instances report these causes after this time, with the same `dedup_key`. */
const LEFT_MS = 180_000;
/**
 * After an outage of the store, the last speaker takes the lease before the others, because it alone knows what it told meanwhile. This
 * time is several times the interval between two checks.
 */
const LAST_SPEAKER_FIRST_MS = 10_000;

export class Speaker {
  readonly #store: AlertStore;
  readonly #instance: string;
  readonly #now: () => number;
  #takenMs: number;
  #speaks = false;
  #isAlone = false;
  #otherSpoke = false;
  /** When the store could be reached again; undefined while it cannot be reached. */
  #backMs: number | undefined = 0;
  #outboxes: Outboxes = {};
  /** What this instance told without the store, as long as the stored outboxes do not include it. */
  #toldAlone: Outboxes = {};
  /** The number of the latest write that this instance knows. */
  #writes = 0;
  #silences: readonly Silence[] = [];
  /** The part of the stored text that is worth another write. */
  #written = '';

  /** @param now epoch milliseconds that never decrease */
  constructor(store: AlertStore, instance: string, now: () => number) {
    this.#store = store;
    this.#instance = instance;
    this.#now = now;
    this.#takenMs = now();
  }

  /** Takes or renews the lease. Resolves with whether this instance is the speaker now; never rejects. */
  async take(): Promise<boolean> {
    try {
      const lease = await this.#store.take(this.#mayBegin());
      if (this.#isAlone) this.#toldAlone = withTold(toldSince(this.#outboxes, this.#takenMs), this.#toldAlone);
      this.#takenMs = this.#now();
      this.#backMs ??= this.#takenMs;
      this.#isAlone = false;
      this.#otherSpoke = !lease.speaks;
      this.#silences = lease.silences;
      await this.#join(lease);
    } catch {
      this.#written = '';
      this.#backMs = undefined;
      this.#isAlone = this.#speaks || this.#now() - this.#takenMs >= ALONE_AFTER_MS;
      if (this.#isAlone) this.#begin();
    }
    return this.#speaks;
  }

  /** Joins what this instance knows with what the store contains. The speaker adds what others told while they were alone. */
  async #join({ speaks, outboxes, handed = [] }: Awaited<ReturnType<AlertStore['take']>>): Promise<void> {
    const { writes = this.#writes, ...stored } = storedIn(outboxes);
    // Redis may come back with the outboxes of an earlier time, whose ends would be told again.
    if ((!this.#speaks || !speaks) && writes >= this.#writes) this.#outboxes = stored.outboxes;
    if (!this.#speaks || !speaks || writes < this.#writes) this.#written = '';
    this.#writes = Math.max(this.#writes, writes);
    this.#toldAlone = untoldIn(this.#outboxes, this.#toldAlone);
    if (speaks) {
      for (const told of [asToldItself(this.#toldAlone), ...handed.map(outboxesIn)])
        this.#outboxes = withTold(this.#outboxes, told);
      this.#toldAlone = {};
      // The next write also ends what was handed over.
      if (handed.length > 0) this.#written = '';
      this.#begin();
      return;
    }
    this.#speaks = false;
    const own = toldItself(this.#toldAlone);
    if (Object.keys(own).length > 0) await this.#store.handOver(toStoredForm(own));
  }

  #mayBegin(): boolean {
    if (!this.#otherSpoke) return true;
    return this.#backMs !== undefined && this.#now() - this.#backMs >= LAST_SPEAKER_FIRST_MS;
  }

  #begin(): void {
    if (!this.#speaks)
      this.#outboxes = Object.fromEntries(
        Object.entries(this.#outboxes).map(([name, one]) => [
          name,
          { ...one, alerts: asJustSeen(one.alerts, this.#now()) },
        ]),
      );
    this.#speaks = true;
  }

  /** Whether this instance reports only its own causes, because the store cannot be reached. */
  isAlone(): boolean {
    return this.#isAlone;
  }

  /** The outboxes of the speaker, by receiver. */
  outboxes(): Outboxes {
    return this.#outboxes;
  }

  silences(): readonly Silence[] {
    return lastingSilences(this.#silences, this.#now());
  }

  /**
   * Returns the alerts about other instances while the store cannot be reached. This instance cannot see the causes of the others, and
   * assumes that they last.
   */
  assumed(outbox: Outbox | undefined, causes: readonly Cause[]): readonly Cause[] {
    if (!this.#isAlone) return [];
    const seen = new Set(causes.map(({ id }) => id));
    const firing = Object.values(outbox?.alerts ?? {}).filter(({ state }) => state === 'firing');
    return firing
      .map(({ cause }) => cause)
      .filter(({ id, instances }) => !seen.has(id) && instances !== undefined && !instances.includes(this.#instance));
  }

  /** Whether the last speaker reports this cause, which all instances see. Always false while the store can be reached. */
  delegates(id: string): boolean {
    return this.#isAlone && this.#otherSpoke && OF_STORES.includes(id) && this.#now() - this.#takenMs < LEFT_MS;
  }

  /**
   * Whether the last speaker reports the end of this alert, which it told. It may have reported the end without storing that. Always false
   * while the store can be reached.
   */
  delegatesEnd({ told }: Alert): boolean {
    if (!this.#isAlone || !this.#otherSpoke || this.#now() - this.#takenMs >= LEFT_MS) return false;
    return told !== undefined && (told.byOther === true || told.atMs < this.#takenMs);
  }

  /** Stores the outboxes. Resolves with whether this instance is still the speaker; never rejects. */
  async write(next: Outboxes): Promise<boolean> {
    this.#outboxes = next;
    const significant = JSON.stringify(next, (key, value) => (key === 'lastMs' ? undefined : value));
    if (significant === this.#written) return true;
    try {
      this.#speaks = await this.#store.write(toStoredForm(next, this.#writes + 1));
      if (this.#speaks) this.#writes += 1;
      this.#written = this.#speaks ? significant : '';
    } catch {
      // The instance continues with the outboxes in its memory, and writes them later.
      this.#written = '';
    }
    return this.#speaks;
  }
}
