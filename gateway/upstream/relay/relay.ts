// Receives the answer of one attempt, and says how the attempt ended. The head decides which object gets the body:
//
//   ErrorBody      status 400 and above: the client gets an error object instead (upstream/errors/upstream-errors.ts)
//   AnswerStream   a stream: the client gets each chunk as it arrives, and the gateway knows the items
//   CheckedBody    checked by the contract: the client gets it as it arrives, or once it is whole and keeps the contract
//   HeldAnswer     to be stored for repetitions: the client gets it once it is stored
//   ClientAnswer   all others: the client gets it as it arrives, or none of it after HEAD
//
// All but ErrorBody write to the client through ClientAnswer. This is the state `relayed` of the table in upstream/forward.ts.

import type { GatewayError } from '../../catalogue/errors.ts';
import { isConnectionLost, toUpstreamFailure, upstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { StreamEnd, StreamKind } from '../../exchange/findings.ts';
import type { AnswerHandler, AnswerHeaders, Control } from '../../http1/client/wire.ts';
import { streamKindOf } from '../../shared/http/words.ts';
import type { AttemptFailure } from '../attempts/retry-plan.ts';
import { ErrorBody } from '../errors/upstream-errors.ts';
import { firstValueOf } from '../headers/answer-headers.ts';
import type { UpstreamRoute } from '../routes.ts';
import { AnswerStream } from '../streams/answer-stream.ts';
import type { AnswerOwner } from './answer-owner.ts';
import { CheckedBody } from './checked-body.ts';
import { ClientAnswer, DROPPED_BYTES_MAX } from './client-answer.ts';
import type { CollectedBody } from './collected-body.ts';
import { type ContractCheck, checkHead, wasAsked } from './contract-check.ts';
import { HeldAnswer } from './held-answer.ts';

/**
 * The owner of a relay: `Attempts` (upstream/attempts/attempts.ts). The relay calls exactly one of `relayed`, `failed` and `abandoned`, and
 * calls it once.
 */
export interface RelayOwner {
  /** Start of this attempt, `performance.now()`. */
  readonly attemptAt: number;
  /** Called when the attempt has got a connection for which it has waited, because all connections were in use. */
  waited(waitedMs: number): void;
  /** Called when the client has the whole answer. */
  relayed(): void;
  failed(error: GatewayError, failure: AttemptFailure): void;
  /** Called if the answer is a stream. `end` ends the stream from this side. Throws too_many_streams. */
  openStream(kind: StreamKind, end: (why: StreamEnd) => void): void;
  /** Called when the client has left, and no answer is being stored. */
  abandoned(): void;
  /** The deadlines. The relay stops them when the rest of the answer no longer depends on the upstream. */
  readonly clock: { stop(): void };
}

export class Relay implements AnswerHandler, AnswerOwner {
  ended = false;
  control: Control | undefined;
  /** Status of the upstream's answer once its head has arrived; undefined before. The client may get another status. */
  answeredStatus: number | undefined;
  /** When the body began to pass to the client, by `performance.now()`; undefined before, and for a body that is sent as a whole. */
  passesSince: number | undefined;
  /** The body that is a stream; undefined for any other answer. */
  stream: AnswerStream | undefined;
  /** The read of a record that precedes the request, while it lasts (upstream/attempts/record-read.ts). */
  recordRead: Control | undefined;
  #progressAt = 0;
  /** The object that gets the body. An ErrorBody is chosen as soon as the head has arrived, even if rules read the body first. */
  #receiver: ErrorBody | AnswerStream | CheckedBody | HeldAnswer | ClientAnswer;
  readonly #exchange: Forwardable;
  readonly #contractCheck: ContractCheck;
  readonly #owner: RelayOwner;
  readonly #answer: ClientAnswer;
  /** The body that is stored for repetitions; undefined for any other answer. */
  readonly #held: HeldAnswer | undefined;

  constructor(exchange: Forwardable, route: UpstreamRoute, contractCheck: ContractCheck, owner: RelayOwner) {
    this.#exchange = exchange;
    this.#contractCheck = contractCheck;
    this.#owner = owner;
    this.#answer = new ClientAnswer(exchange, route, this);
    this.#held = exchange.recording && new HeldAnswer(exchange.recording, exchange, this.#answer, this, owner.clock);
    this.#receiver = this.#held ?? this.#answer;
  }

  /**
   * Whether a byte of the request may have been sent. True as soon as a connection has taken the request, because it writes the request at
   * once or as the body arrives.
   */
  get wasSent(): boolean {
    return this.control !== undefined;
  }

  /**
   * When the answer last made progress; undefined before its first byte. Returns `now` while the client is behind, because the upstream is
   * not to blame.
   */
  lastProgressAt(now: number): number | undefined {
    if (this.#progressAt === 0) return undefined;
    return this.control?.paused === true || this.stream?.mayPause === true ? now : this.#progressAt;
  }

  onRequestStart(control: Control): void {
    this.#exchange.recording?.sent();
    if (control.waitedMs > 0) this.#owner.waited(control.waitedMs);
    this.control = control;
  }

  onResponseStart(control: Control, status: number, headers: AnswerHeaders): void {
    if (this.ended) return;
    this.noteHead(status, headers);
    if (status >= 400) refuseUnasked(status, headers, this.#exchange);
    else this.#chooseReceiver(control, status, headers);
  }

  /**
   * Call it when the head of an answer has arrived. Rules may still change the answer before the client gets any of it.
   *
   * @param read collects the body of an answer that is read to its end before it is passed on
   */
  noteHead(status: number, headers: AnswerHeaders, read?: CollectedBody): void {
    const { trail } = this.#exchange;
    this.#progressAt = performance.now();
    this.answeredStatus = status;
    if (status >= 400) this.#receiver = new ErrorBody(status, headers, this.#exchange, this, read);
    trail.upstreamStatus = status;
    trail.upstreamMs = this.#progressAt - this.#owner.attemptAt;
  }

  /** Passes on an answer that was read to its end. Rules may have changed these headers and this body. */
  passWhole(status: number, headers: AnswerHeaders, body: Buffer): void {
    const control = this.control as Control;
    if (this.#receiver instanceof ErrorBody) {
      refuseUnasked(status, headers, this.#exchange);
      if (!this.leaveIfAnswered()) this.#receiver.end(headers, body);
      return;
    }
    this.#chooseReceiver(control, status, headers);
    if (body.length > 0) this.onResponseData(control, body);
    this.onResponseEnd();
  }

  /** Chooses the object that receives the body of an answer below 400. */
  #chooseReceiver(control: Control, status: number, headers: AnswerHeaders): void {
    this.#answer.takeHead(status, headers);
    const answer = this.#answer;
    const checked = checkHead(this.#contractCheck, this.#exchange, answer);
    answer.chooseForm();
    const kind = streamKindOf(firstValueOf(answer.headers['content-type']));
    if (kind !== undefined && !answer.dropsBody) {
      this.#openStream(control, kind);
      return;
    }
    if (this.#held === undefined && checked !== 'refuse') this.passesSince = this.#progressAt;
    if (checked !== 'pass')
      this.#receiver = new CheckedBody(
        checked,
        this.#exchange,
        this.#contractCheck,
        answer,
        this.#held ?? answer,
        this,
      );
    if (answer.dropsBody && answer.hasBody && (kind !== undefined || answer.length > DROPPED_BYTES_MAX))
      answer.cutOff(control);
  }

  #openStream(control: Control, kind: StreamKind): void {
    const stream = new AnswerStream(kind, this.#exchange, this.#contractCheck, this.#answer, this);
    this.#owner.openStream(kind, (why) => stream.endEarly(why));
    this.stream = stream;
    this.#receiver = stream;
    this.#exchange.trail.note('stream', kind);
    stream.open(control, this.#held);
  }

  /** Call it when bytes of the body have arrived, or when the client has caught up. */
  noteProgress(): void {
    this.#progressAt = performance.now();
  }

  /** Call it before the same attempt sends the request again. */
  forgetAnswer(): void {
    this.answeredStatus = undefined;
    this.#receiver = this.#held ?? this.#answer;
    this.passesSince = undefined;
    this.#progressAt = 0;
  }

  onResponseData(control: Control, chunk: Buffer): void {
    if (this.ended || this.leaveIfAnswered()) return;
    this.noteProgress();
    this.#receiver.data(control, chunk);
  }

  onResponseEnd(): void {
    if (!this.ended && !this.leaveIfAnswered()) this.#receiver.end();
  }

  onResponseError(_control: Control | undefined, error: Error): void {
    this.fail(toUpstreamFailure(error, this.wasSent), isConnectionLost(error) ? 'lost' : 'other');
  }

  /**
   * Fails the attempt, before its answer or in the middle of it. A 5xx that has begun ends as if its body were whole, because the refusal
   * is made from the status. In the middle of a 4xx, the attempt fails with `error`: the refusal for a 4xx is made from its whole body.
   */
  fail(error: GatewayError, failure: AttemptFailure): void {
    if (this.ended) return;
    if (this.#receiver instanceof ErrorBody && this.#receiver.isDecidedByStatus) this.#receiver.end();
    else this.failAs(error, failure);
  }

  /** Fails the attempt with this error, whatever has arrived. */
  failAs(error: GatewayError, failure: AttemptFailure): void {
    if (this.ended) return;
    this.#settle();
    this.control?.abort();
    this.#owner.failed(error, failure);
  }

  complete(): void {
    this.#settle();
    this.#owner.relayed();
  }

  endHere(isWhole: boolean): void {
    if (this.ended) return;
    this.#settle();
    this.control?.abort();
    this.#answer.close(isWhole);
    this.#owner.relayed();
  }

  leaveIfAnswered(): boolean {
    if (!this.#answer.isForestalled) return false;
    this.clientGone();
    return true;
  }

  /** Ends the attempt of a client that has left: no target failed, and no answer can be sent. */
  clientGone(): void {
    if (this.ended) return;
    // If the answer will be stored, a request that was sent continues to its end: the client can get the stored answer by a repetition.
    if (this.#held?.isStored === false && this.wasSent) return;
    this.#settle();
    this.control?.abort();
    this.#owner.abandoned();
  }

  drained(): void {
    this.noteProgress();
    this.stream?.drained();
  }

  #settle(): void {
    this.ended = true;
    this.recordRead?.abort();
    this.stream?.stop();
    this.#answer.forgetDrain();
  }
}

/** Throws upstream_bad_response for a 416 if the request had no range. */
function refuseUnasked(status: number, headers: AnswerHeaders, exchange: Forwardable): void {
  if (!wasAsked(status, headers, exchange))
    throw upstreamFailure('upstream_bad_response', 'http_protocol_error', new Error('an unasked 416'));
}
