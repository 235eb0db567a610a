// Passes an answer that is a stream to the client: each chunk leaves as it arrives. Keeps an event stream alive while its service is
// silent, checks each item against the contract, and can end the stream between two items.

import type { StreamEnd, StreamKind } from '../../findings.ts';
import type { TrailNotes } from '../../notes.ts';
import { contain } from '../../shared/faults.ts';
import { type Boundaries, createBoundaries } from './boundaries.ts';
import { createItemSplitter, type Item, type ItemSplitter, itemValue } from './items.ts';

/** Checks one item against the contract. Returns one sentence per violation. */
export type ItemCheck = (item: unknown) => readonly string[];

/** After this silence between two events a comment is sent, so that proxies and clients do not take the stream for dead. */
const COMMENT_AFTER_MS = 15_000;
const COMMENT = Buffer.from(': keep-alive\n\n');
const ENDLESS: Item = { bytes: Buffer.alloc(0), isTooLong: true };
/** Milliseconds in which the current item may end before the stream is cut. */
const CREDENTIAL_END_MS = 400;
const END_MS = 2000;
/** Most violations in the log line of one stream. */
const VIOLATIONS_MAX = 20;

interface AnswerStreamOptions {
  readonly kind: StreamKind;
  /** Whether the body is encoded, so that its items cannot be seen. */
  readonly isOpaque: boolean;
  /** Whether the body has a length. Then nothing can be added, and its early end must be seen. */
  readonly hasLength: boolean;
  readonly check: ItemCheck | undefined;
  /** Whether an item that violates the contract ends the stream; otherwise it is only noted. */
  readonly refuses: boolean;
  readonly trail: TrailNotes;
  /** Sends bytes to the client. Returns false while the client is behind. */
  write(chunk: Buffer): boolean;
  /** Ends the answer. If `isWhole` is false, it must not look complete. */
  over(isWhole: boolean): void;
}

export class AnswerStream {
  readonly #options: AnswerStreamOptions;
  readonly #boundaries: Boundaries;
  readonly #items: ItemSplitter | undefined;
  #violations: string[] | undefined;
  /** `performance.now()` of the last byte to the client. */
  #silentSince = performance.now();
  #isBehind = false;
  #isEnding = false;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AnswerStreamOptions) {
    this.#options = options;
    this.#boundaries = createBoundaries(options.kind);
    this.#items = options.check && createItemSplitter(options.kind);
  }

  /** Whether a silence of any length is allowed. Within a line it is not. */
  get mayPause(): boolean {
    const { kind, isOpaque } = this.#options;
    return kind === 'events' && (isOpaque || this.#boundaries.isAtLineEnd());
  }

  /** Call it with bytes of the service. */
  data(chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#items === undefined) {
      this.#send(chunk);
      return;
    }
    if (!this.#options.refuses) this.#send(chunk);
    for (const item of this.#items.feed(chunk)) this.#take(item);
    // The item is held back until it is complete, and may never end.
    if (this.#options.refuses && this.#items.isTooLong()) this.#take(ENDLESS);
  }

  /** Call it when the answer of the service is complete. */
  ended(): void {
    if (this.#isOver) return;
    // An event without its empty line at the end is dropped. The last line of JSON may lack its end.
    if (this.#items !== undefined && this.#options.kind === 'lines') this.#take(this.#items.rest());
    this.stop();
  }

  /** Sends a comment if nothing was sent for a while. */
  keepAlive(now: number): void {
    const { kind, isOpaque, hasLength } = this.#options;
    if (now - this.#silentSince < COMMENT_AFTER_MS || kind !== 'events' || isOpaque || hasLength) return;
    if (this.#isBehind || this.#isEnding || this.#isOver || !this.#boundaries.isBetween()) return;
    this.#pass(COMMENT, now);
  }

  /** Ends the stream between two items, or soon, if no item ends soon. */
  end(why: StreamEnd): void {
    if (this.#isEnding || this.#isOver) return;
    this.#isEnding = true;
    this.#options.trail.note('streamEnd', why);
    if (!this.#options.isOpaque && this.#boundaries.isBetween()) this.#finish();
    else {
      const withinMs = why === 'credential' ? CREDENTIAL_END_MS : END_MS;
      this.#timer = setTimeout(() => contain(() => this.#cut()), withinMs).unref();
    }
  }

  /** Call it when nothing more is sent. */
  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  /** Call it when the client has caught up. */
  drained(): void {
    this.#isBehind = false;
  }

  #take(item: Item): void {
    if (this.#isOver) return;
    const isRefused = this.#isViolation(item) && this.#options.refuses;
    if (isRefused) this.end('contract');
    else if (this.#options.refuses) this.#send(item.bytes);
  }

  #isViolation({ bytes, isTooLong }: Item): boolean {
    const found = isTooLong ? ['an item is too long to be checked'] : this.#violationsOf(bytes);
    if (found.length === 0) return false;
    if (this.#violations === undefined) {
      this.#violations = [];
      this.#options.trail.note('answerViolations', this.#violations);
    }
    const known = this.#violations;
    known.push(...found.filter((text) => !known.includes(text)).slice(0, VIOLATIONS_MAX - known.length));
    return true;
  }

  #violationsOf(bytes: Buffer): readonly string[] {
    try {
      const value = itemValue(this.#options.kind, bytes);
      return value === undefined ? [] : (this.#options.check as ItemCheck)(value);
    } catch {
      return ['an item is not JSON'];
    }
  }

  #send(chunk: Buffer): void {
    const end = this.#isEnding ? this.#boundaries.endsIn(chunk)[0] : undefined;
    const sent = end === undefined ? chunk : chunk.subarray(0, end);
    this.#boundaries.see(sent);
    if (sent.length > 0) this.#pass(sent, performance.now());
    if (end !== undefined) this.#finish();
  }

  #pass(chunk: Buffer, now: number): void {
    this.#silentSince = now;
    this.#isBehind = !this.#options.write(chunk);
  }

  /** Ends the stream. An event stream ends as if the service had ended it, so that clients resume. Lines must not look complete. */
  #finish(): void {
    const { kind, hasLength } = this.#options;
    this.stop();
    this.#options.over(kind === 'events' && !hasLength);
  }

  #cut(): void {
    this.stop();
    this.#options.over(false);
  }
}
