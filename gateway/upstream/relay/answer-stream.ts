// Passes an answer that is a stream to the client, each chunk as it arrives. Keeps an event stream alive while the service is silent,
// checks each item against the contract, and can end the stream between two items.

import type { AnswerCheck, ItemCheck } from '../../exchange/answer-check.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { StreamEnd, StreamKind } from '../../exchange/findings.ts';
import { contain } from '../../shared/faults.ts';
import { codingOf } from '../encoding/decode.ts';
import { firstValueOf } from '../headers/answer-headers.ts';
import { type Boundaries, createBoundaries } from '../streams/boundaries.ts';
import { createItemSplitter, type Item, type ItemSplitter, itemValue } from '../streams/items.ts';
import type { ClientAnswer } from './client-answer.ts';
import type { Received, Receiver } from './receiver.ts';

/** After this silence between two events the gateway sends a comment, because proxies and clients would close a silent stream as dead. */
const COMMENT_AFTER_MS = 15_000;
const COMMENT = Buffer.from(': keep-alive\n\n');
const ENDLESS: Item = { bytes: Buffer.alloc(0), isTooLong: true };
/**
 * Milliseconds for which the end of a stream waits for the end of the current item, before the stream is cut. The wait is shorter after the
 * end of a credential.
 */
const CREDENTIAL_END_MS = 400;
const END_MS = 2000;
/** Maximum number of violations in the log line of one stream. */
const VIOLATIONS_MAX = 20;

export class AnswerStream implements Receiver {
  readonly #kind: StreamKind;
  readonly #exchange: Forwardable;
  readonly #answer: ClientAnswer;
  readonly #cut: (isWhole: boolean) => void;
  /** Whether the body has a content coding, so that the gateway cannot find its items. */
  readonly #isOpaque: boolean;
  /**
   * Whether the body has a declared length. Nothing can be added to such a body, and if it ends early, the client must see that a part is
   * missing.
   */
  readonly #hasLength: boolean;
  /** Whether an item that violates the contract ends the stream; otherwise it is only noted. */
  readonly #refuses: boolean;
  /** The check of the items; undefined if they are not checked. */
  readonly #check: ItemCheck | undefined;
  readonly #items: ItemSplitter | undefined;
  readonly #boundaries: Boundaries;
  #violations: string[] | undefined;
  /** `performance.now()` of the last byte to the client. */
  #silentSince = performance.now();
  #isEnding = false;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param cut ends the answer before the upstream does; a timer may call it. `isWhole`: the client sees nothing missing
   */
  constructor(
    kind: StreamKind,
    exchange: Forwardable,
    answer: ClientAnswer,
    answerCheck: AnswerCheck,
    cut: (isWhole: boolean) => void,
  ) {
    const { operation } = exchange;
    const { status, headers, length } = answer;
    this.#kind = kind;
    this.#exchange = exchange;
    this.#answer = answer;
    this.#cut = cut;
    this.#isOpaque = codingOf(headers) !== '';
    this.#hasLength = length >= 0;
    this.#refuses = operation.answerCheck === 'refuse';
    if (!this.#isOpaque && operation.answerCheck !== 'off')
      this.#check = answerCheck.itemCheck(operation, status, firstValueOf(headers['content-type']));
    this.#items = this.#check && createItemSplitter(kind);
    this.#boundaries = createBoundaries(kind);
  }

  /** Sends the head, before the first item. Until then, the upstream may be paused. */
  open(): void {
    this.#answer.beginBody();
    this.#exchange.response.flushHeaders();
    this.#answer.resume();
  }

  /** Whether the upstream may be silent for any time, as between two lines of an event stream. Within a line, the deadline applies. */
  get mayPause(): boolean {
    return this.#kind === 'events' && (this.#isOpaque || this.#boundaries.isAtLineEnd());
  }

  data(chunk: Buffer): Received | undefined {
    if (this.#isOver) return undefined;
    if (this.#items === undefined) {
      this.#send(chunk);
      return undefined;
    }
    if (!this.#refuses) this.#send(chunk);
    for (const item of this.#items.feed(chunk)) this.#take(item);
    // An item that is too long may never end, so the check does not wait for its end.
    if (this.#refuses && this.#items.isTooLong()) this.#take(ENDLESS);
    return undefined;
  }

  end(): Received | undefined {
    if (this.#isOver) return undefined;
    // The last line of JSON is an item even without its line end. The last event without its empty line is not, because clients drop it,
    // too.
    if (this.#items !== undefined && this.#kind === 'lines') this.#take(this.#items.rest());
    if (this.#isOver) return undefined;
    this.stop();
    return this.#answer.end();
  }

  /** Sends a comment if nothing was sent for a while. */
  keepAlive(now: number): void {
    if (now - this.#silentSince < COMMENT_AFTER_MS || this.#kind !== 'events') return;
    if (this.#isOpaque || this.#hasLength) return;
    if (this.#answer.isBehind || this.#isEnding || this.#isOver || !this.#boundaries.isBetween()) return;
    this.#pass(COMMENT, now);
  }

  /**
   * Ends the stream before the upstream does, between two items at once, otherwise when the current item has ended. If the item does not
   * end in time, cuts the stream within it.
   */
  endEarly(why: StreamEnd): void {
    if (this.#isEnding || this.#isOver) return;
    this.#isEnding = true;
    this.#exchange.trail.note('streamEnd', why);
    if (!this.#isOpaque && this.#boundaries.isBetween()) this.#endBetween();
    else {
      const withinMs = why === 'credential' ? CREDENTIAL_END_MS : END_MS;
      this.#timer = setTimeout(() => contain(() => this.#finish(false)), withinMs).unref();
    }
  }

  /** Call it when nothing more is sent. */
  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #take(item: Item): void {
    if (this.#isOver) return;
    const isRefused = this.#isViolation(item) && this.#refuses;
    if (isRefused) this.endEarly('contract');
    else if (this.#refuses) this.#send(item.bytes);
  }

  #isViolation({ bytes, isTooLong }: Item): boolean {
    const found = isTooLong ? ['an item is too long to be checked'] : this.#violationsOf(bytes);
    if (found.length === 0) return false;
    if (this.#violations === undefined) {
      this.#violations = [];
      this.#exchange.trail.note('answerViolations', this.#violations);
    }
    const known = this.#violations;
    known.push(...found.filter((text) => !known.includes(text)).slice(0, VIOLATIONS_MAX - known.length));
    return true;
  }

  #violationsOf(bytes: Buffer): readonly string[] {
    try {
      const value = itemValue(this.#kind, bytes);
      return value === undefined ? [] : (this.#check as ItemCheck)(value);
    } catch {
      return ['an item is not JSON'];
    }
  }

  #send(chunk: Buffer): void {
    const end = this.#isEnding ? this.#boundaries.endsIn(chunk)[0] : undefined;
    const sent = end === undefined ? chunk : chunk.subarray(0, end);
    this.#boundaries.see(sent);
    if (sent.length > 0) this.#pass(sent, performance.now());
    if (end !== undefined) this.#endBetween();
  }

  #pass(chunk: Buffer, now: number): void {
    this.#silentSince = now;
    this.#answer.countOut(chunk);
    this.#answer.write(chunk);
  }

  /**
   * Ends the stream between two items. An event stream ends as if the service had ended it, so that clients connect again. A stream of
   * lines is cut, because clients would otherwise take it for complete.
   */
  #endBetween(): void {
    this.#finish(this.#kind === 'events' && !this.#hasLength);
  }

  #finish(isWhole: boolean): void {
    this.stop();
    this.#cut(isWhole);
  }
}
