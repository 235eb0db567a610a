// Receives the answer of one attempt, and says how the attempt ended. The head decides which object gets the body:
//
//   ErrorBody      status 400 and above: the client gets an error object instead (upstream/errors/error-body.ts)
//   AnswerStream   a stream: the client gets each chunk as it arrives, and the gateway knows the items
//   CheckedBody    checked by the contract: the client gets it as it arrives, or once it is whole and keeps the contract
//   HeldAnswer     to be stored for repetitions: the client gets it once it is stored
//   ClientAnswer   all others: the client gets it as it arrives, or none of it after HEAD
//
// All but ErrorBody write to the client through ClientAnswer. The attempt ends by the first call of one of these methods, which calls
// `relayed`, `failed` or `clientLeft` of the attempts (upstream/attempts/attempts.ts):
//
//   complete     the rest of the answer is on its way to the client
//   cut          the gateway ends a stream before the upstream does
//   fail         the client gets none of this answer, or a part of it
//   interrupt    the rest of the answer will not arrive, so the attempt fails; after a 5xx, with the error of its status
//   clientLeft   the client has left; an answer that is being stored continues

import type { GatewayError } from '../../catalogue/errors.ts';
import { isConnectionLost, toUpstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { StreamEnd, StreamKind } from '../../exchange/findings.ts';
import type { AnswerHandler, AnswerHeaders, Control } from '../../http1/client/wire.ts';
import { streamKindOf } from '../../shared/http/words.ts';
import type { Attempts } from '../attempts/attempts.ts';
import type { AttemptFailure } from '../attempts/retry-plan.ts';
import { ErrorBody } from '../errors/error-body.ts';
import { isDecidedByStatus } from '../errors/upstream-errors.ts';
import { firstValueOf } from '../headers/answer-headers.ts';
import type { UpstreamRoute } from '../routes.ts';
import { AnswerStream } from '../streams/answer-stream.ts';
import { CheckedBody } from './checked-body.ts';
import { ClientAnswer, DROPPED_BYTES_MAX } from './client-answer.ts';
import type { CollectedBody } from './collected-body.ts';
import { admitHead, type ContractCheck, refuseUnaskedRange } from './contract-check.ts';
import { HeldAnswer } from './held-answer.ts';

/** The answer of one attempt. */
export class Relay implements AnswerHandler {
  /** Begins this attempt, and learns how it ends. */
  readonly attempts: Attempts;
  readonly exchange: Forwardable;
  readonly contractCheck: ContractCheck;
  readonly answer: ClientAnswer;
  #isEnded = false;
  #startedAt = performance.now();
  #isWaiting = false;
  #control: Control | undefined;
  #answeredStatus: number | undefined;
  #passesSince: number | undefined;
  /** The body that is a stream; undefined for any other answer. */
  #stream: AnswerStream | undefined;
  /** The read of a record that precedes the request, while it lasts (upstream/attempts/record-read.ts). */
  #recordRead: Control | undefined;
  #progressAt = 0;
  /** The object that gets the body. An ErrorBody is chosen as soon as the head has arrived, even if rules read the body first. */
  #receiver: ErrorBody | AnswerStream | CheckedBody | HeldAnswer | ClientAnswer;
  /** The body that is stored for repetitions; undefined for any other answer. */
  readonly #held: HeldAnswer | undefined;

  constructor(attempts: Attempts, contractCheck: ContractCheck) {
    const { exchange, route } = attempts;
    this.attempts = attempts;
    this.exchange = exchange;
    this.contractCheck = contractCheck;
    this.answer = new ClientAnswer(exchange, route, this);
    this.#held = exchange.recording && new HeldAnswer(exchange.recording, this);
    this.#receiver = this.#held ?? this.answer;
  }

  get route(): UpstreamRoute {
    return this.attempts.route;
  }

  /** Whether the attempt has ended, so that nothing more may be done with it. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * The start of the attempt, by `performance.now()`. The wait for a connection or for the credential belongs to the time in the queue, not
   * to the time of the service.
   */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** Whether the attempt waits for its credential before it sends. Only the deadline of the exchange applies meanwhile. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** The control of the connection, once a connection has taken the request. */
  get control(): Control | undefined {
    return this.#control;
  }

  /** Status of the upstream's answer once its head has arrived; undefined before. The client may get another status. */
  get answeredStatus(): number | undefined {
    return this.#answeredStatus;
  }

  /** When the body began to pass to the client, by `performance.now()`; undefined before, and for a body that is sent as a whole. */
  get passesSince(): number | undefined {
    return this.#passesSince;
  }

  /**
   * Whether a byte of the request may have been sent. True as soon as a connection has taken the request, because it writes the request at
   * once or as the body arrives.
   */
  get wasSent(): boolean {
    return this.#control !== undefined;
  }

  /**
   * When the answer last made progress; undefined before its first byte. Returns `now` while the client is behind, because the upstream is
   * not to blame.
   */
  lastProgressAt(now: number): number | undefined {
    if (this.#progressAt === 0) return undefined;
    return this.#control?.paused === true || this.#stream?.mayPause === true ? now : this.#progressAt;
  }

  /** @param ready resolves when the header of the credential can be made; never rejects */
  async waitForCredential(ready: Promise<void>): Promise<void> {
    const sinceMs = performance.now();
    this.#isWaiting = true;
    await ready;
    this.#isWaiting = false;
    this.#waited(performance.now() - sinceMs);
  }

  #waited(waitedMs: number): void {
    this.#startedAt += waitedMs;
    this.attempts.place.noteQueued(waitedMs);
  }

  /** Call it when the read of a record has begun, and when it has ended (undefined). */
  readsRecord(control: Control | undefined): void {
    this.#recordRead = control;
  }

  /** Call it before the same attempt sends another request: its request once more, or the request that is made from a record. */
  startAgain(): void {
    const { trail } = this.exchange;
    this.#startedAt = performance.now();
    this.#answeredStatus = undefined;
    this.#receiver = this.#held ?? this.answer;
    this.#passesSince = undefined;
    this.#progressAt = 0;
    trail.upstreamStatus = undefined;
    trail.upstreamMs = undefined;
  }

  onRequestStart(control: Control): void {
    this.exchange.recording?.sent();
    if (control.waitedMs > 0) this.#waited(control.waitedMs);
    this.#control = control;
  }

  onResponseStart(control: Control, status: number, headers: AnswerHeaders): void {
    if (this.#isEnded) return;
    this.noteHead(status, headers);
    if (status >= 400) refuseUnaskedRange(status, headers, this.exchange);
    else this.#chooseReceiver(control, status, headers);
  }

  /**
   * Call it when the head of an answer has arrived. Rules may still change the answer before the client gets any of it.
   *
   * @param read collects the body of an answer that is read to its end before it is passed on
   */
  noteHead(status: number, headers: AnswerHeaders, read?: CollectedBody): void {
    const { trail } = this.exchange;
    this.#progressAt = performance.now();
    this.#answeredStatus = status;
    if (status >= 400) this.#receiver = new ErrorBody(status, headers, this, read);
    trail.upstreamStatus = status;
    trail.upstreamMs = this.#progressAt - this.#startedAt;
  }

  /** Passes on an answer that was read to its end. Rules may have changed these headers and this body. */
  passWhole(status: number, headers: AnswerHeaders, body: Buffer): void {
    const control = this.#control as Control;
    if (this.#receiver instanceof ErrorBody) {
      refuseUnaskedRange(status, headers, this.exchange);
      if (!this.endIfForestalled()) this.#receiver.end(headers, body);
      return;
    }
    this.#chooseReceiver(control, status, headers);
    if (body.length > 0) this.onResponseData(control, body);
    this.onResponseEnd();
  }

  /** Chooses the object that receives the body of an answer below 400. */
  #chooseReceiver(control: Control, status: number, headers: AnswerHeaders): void {
    const { answer } = this;
    answer.takeHead(status, headers);
    const checked = admitHead(this.contractCheck, this.exchange, answer);
    answer.chooseForm();
    const kind = streamKindOf(firstValueOf(answer.headers['content-type']));
    if (kind !== undefined && !answer.dropsBody) {
      this.#openStream(control, kind);
      return;
    }
    if (this.#held === undefined && checked !== 'refuse') this.#passesSince = this.#progressAt;
    if (checked !== 'pass') this.#receiver = new CheckedBody(checked, this, this.#held ?? answer);
    if (answer.dropsBody && answer.hasBody && (kind !== undefined || answer.length > DROPPED_BYTES_MAX))
      answer.cutOff(control);
  }

  #openStream(control: Control, kind: StreamKind): void {
    const stream = new AnswerStream(kind, this);
    this.attempts.openStream(kind, (why) => stream.endEarly(why));
    this.#stream = stream;
    this.#receiver = stream;
    this.exchange.trail.note('stream', kind);
    stream.open(control, this.#held);
  }

  /** Call it when bytes of the body have arrived, or when the client has caught up. */
  noteProgress(): void {
    this.#progressAt = performance.now();
  }

  /** Call it when a body that was held back begins to pass to the client. */
  notePassing(): void {
    this.noteProgress();
    this.#passesSince = this.#progressAt;
  }

  onResponseData(control: Control, chunk: Buffer): void {
    if (this.#isEnded || this.endIfForestalled()) return;
    this.noteProgress();
    this.#receiver.data(control, chunk);
  }

  onResponseEnd(): void {
    if (!this.#isEnded && !this.endIfForestalled()) this.#receiver.end();
  }

  onResponseError(_control: Control | undefined, error: Error): void {
    this.interrupt(toUpstreamFailure(error, this.wasSent), isConnectionLost(error) ? 'lost' : 'other');
  }

  complete(): void {
    this.#end();
    this.attempts.relayed();
  }

  /** @param isWhole false if the client is to see that a part is missing */
  cut(isWhole: boolean): void {
    if (this.#isEnded) return;
    this.#end();
    this.#control?.abort();
    this.answer.close(isWhole);
    this.attempts.relayed();
  }

  fail(error: GatewayError, failure: AttemptFailure): void {
    if (this.#isEnded) return;
    this.#end();
    this.#control?.abort();
    this.attempts.failed(error, failure);
  }

  /**
   * A 5xx is refused by its status alone, without the rest of the body. The refusal for a 4xx is made from its whole body, so without the
   * rest of the body, the attempt fails with `error`.
   */
  interrupt(error: GatewayError, failure: AttemptFailure): void {
    if (this.#isEnded) return;
    if (this.#receiver instanceof ErrorBody && isDecidedByStatus(this.#receiver.status)) this.#receiver.end();
    else this.fail(error, failure);
  }

  /** No target has failed, and no answer can be sent. */
  clientLeft(): void {
    if (this.#isEnded) return;
    // If the answer will be stored, a request that was sent continues to its end, because the client can get the stored answer by a retry.
    if (this.#held?.isStored === false && this.wasSent) return;
    this.#end();
    this.#control?.abort();
    this.attempts.clientLeft();
  }

  /** Ends the attempt if another part of the gateway has already answered the client. Returns whether it has. */
  endIfForestalled(): boolean {
    if (!this.answer.isForestalled) return false;
    this.clientLeft();
    return true;
  }

  /** Call it from time to time. Keeps a stream alive whose service is silent. */
  keepAlive(now: number): void {
    this.#stream?.keepAlive(now);
  }

  /** Ends a stream before the upstream does. Returns false if the answer is no stream. */
  endStream(why: StreamEnd): boolean {
    this.#stream?.endEarly(why);
    return this.#stream !== undefined;
  }

  /** Call it when the whole answer has arrived but the client gets it later. The deadlines are for the upstream. */
  stopDeadlines(): void {
    this.attempts.clock.stop();
  }

  /** Call it when the client has read on, so that everything that was written for it has left the gateway. */
  drained(): void {
    this.noteProgress();
    this.#stream?.drained();
  }

  #end(): void {
    this.#isEnded = true;
    this.#recordRead?.abort();
    this.#stream?.stop();
    this.answer.forgetDrain();
  }
}
