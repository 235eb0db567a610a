// Receives the answer of one attempt, and says how the attempt ended. The head decides which receiver gets the body:
//
//   UnjudgedAnswer   rules or a credential are to judge the whole answer first; if it passes, another receiver gets it
//   ErrorBody        status 400 and above: the client gets an error object instead (error-body.ts)
//   AnswerStream     a stream: the client gets each chunk as it arrives, and the gateway knows the items
//   CheckedBody      checked by the contract: the client gets it as it arrives, or once it is whole and keeps the contract
//   HeldAnswer       to be stored for repetitions: the client gets it once it is stored
//   ClientAnswer     all others: the client gets it as it arrives, or none of it after HEAD
//
// The last four write to the client through ClientAnswer. A receiver returns what the relay does next (receiver.ts). At the end, the relay
// ends itself, and then tells its owner how the attempt has ended (relay-owner.ts).

import { GatewayError } from '../../catalogue/errors.ts';
import { isConnectionLost, toUpstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { AnswerCheck } from '../../exchange/answer-check.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { StreamKind } from '../../exchange/findings.ts';
import type { AnswerHandler, AnswerHeaders, Control } from '../../http1/client/wire.ts';
import { contain } from '../../shared/faults.ts';
import { streamKindOf } from '../../shared/http/words.ts';
import type { ExchangeClock } from '../deadlines/exchange-clock.ts';
import { isServerError } from '../errors/upstream-errors.ts';
import { firstValueOf } from '../headers/answer-headers.ts';
import type { AnswerJudge, CompleteAnswer } from './answer-judge.ts';
import { AnswerStream } from './answer-stream.ts';
import { CheckedBody } from './checked-body.ts';
import { ClientAnswer, DROPPED_BYTES_MAX } from './client-answer.ts';
import { reactionToBody } from './contract-check.ts';
import { ErrorBody } from './error-body.ts';
import { HeldAnswer } from './held-answer.ts';
import type { Received, Receiver, Release } from './receiver.ts';
import type { AttemptFailure, RelayOwner } from './relay-owner.ts';
import { refuseUnrequestedRange } from './requested-status.ts';
import { UnjudgedAnswer } from './unjudged-answer.ts';

export class Relay implements AnswerHandler {
  /** Whether the attempt has ended, so that nothing more may be done with it. */
  isEnded = false;
  /**
   * Whether a byte of the request may have been sent. True as soon as a connection has taken the request, because it writes the request at
   * once or as the body arrives.
   */
  wasSent = false;
  /** Judges each answer before the client gets any of it; undefined if the upstream has neither rules nor a credential. */
  readonly judge: AnswerJudge | undefined;
  /** The body that is a stream; undefined for any other answer. */
  stream: AnswerStream | undefined;
  readonly #owner: RelayOwner;
  readonly #exchange: Forwardable;
  readonly #clock: ExchangeClock;
  readonly #answerCheck: AnswerCheck;
  readonly #answer: ClientAnswer;
  /** The body that is stored for repetitions; undefined for any other answer. */
  readonly #held: HeldAnswer | undefined;
  /** Status of the upstream's answer; undefined before its head has arrived. */
  #status: number | undefined;
  /** Gets the body. Chosen by the head. */
  #receiver!: Receiver;

  constructor(owner: RelayOwner, answerCheck: AnswerCheck, judge: AnswerJudge | undefined) {
    const { exchange, route, clock } = owner;
    this.#owner = owner;
    this.#exchange = exchange;
    this.#clock = clock;
    this.#answerCheck = answerCheck;
    this.judge = judge;
    this.#answer = new ClientAnswer(exchange, route, clock);
    this.#held = exchange.recording && new HeldAnswer(exchange.recording, this.#answer, clock);
  }

  onRequestStart(control: Control): void {
    this.#answer.control = control;
    // If the read of the record fails, the request of the client was not sent.
    if (this.judge?.readsRecord === true) return;
    this.#exchange.recording?.sent();
    if (control.waitedMs > 0) this.#clock.noteWaited(control.waitedMs);
    this.wasSent = true;
  }

  onResponseStart(_control: Control, status: number, headers: AnswerHeaders): void {
    if (this.isEnded) return;
    const { judge } = this;
    const isPassed = judge === undefined || judge.judgeHead(status, headers) === 'pass';
    this.#noteHead(status);
    if (isPassed) this.#takeHead(status, headers);
    else this.#receiver = new UnjudgedAnswer(judge, this.#owner, status, headers);
  }

  #noteHead(status: number): void {
    const { trail } = this.#exchange;
    this.#clock.noteProgress();
    this.#status = status;
    trail.upstreamStatus = status;
    trail.upstreamMs = this.#clock.progressMs;
  }

  #takeHead(status: number, headers: AnswerHeaders): void {
    if (status < 400) this.#chooseReceiver(status, headers);
    else {
      this.#receiver = new ErrorBody(this.#owner, status, headers);
      refuseUnrequestedRange(status, headers, this.#exchange);
    }
  }

  /** Chooses the object that receives the body of an answer below 400. */
  #chooseReceiver(status: number, headers: AnswerHeaders): void {
    const answer = this.#answer;
    this.#receiver = this.#held ?? answer;
    answer.takeHead(status, headers);
    const reaction = reactionToBody(this.#answerCheck, this.#exchange, answer);
    answer.isSandboxed = reaction === 'sandbox';
    const compressed = answer.chooseForm();
    if (compressed !== undefined) compressed.onError = (error) => this.#compressorFailed(error);
    const kind = streamKindOf(firstValueOf(answer.headers['content-type']));
    if (kind !== undefined && !answer.dropsBody) {
      this.#openStream(kind);
      return;
    }
    if (this.#held === undefined && reaction !== 'refuse') this.#clock.notePassing();
    if (reaction === 'refuse' || reaction === 'report')
      this.#receiver = new CheckedBody(reaction, this.#exchange, this.#answerCheck, answer, this.#held ?? answer);
    if (answer.dropsBody && answer.hasBody && (kind !== undefined || answer.length > DROPPED_BYTES_MAX))
      this.#proceed(answer.stopReading());
  }

  #openStream(kind: StreamKind): void {
    const cut = (isWhole: boolean) => this.#cut(isWhole);
    const stream = new AnswerStream(kind, this.#exchange, this.#answer, this.#answerCheck, cut);
    this.#owner.openStream(kind, (why) => stream.endEarly(why));
    this.stream = stream;
    this.#receiver = stream;
    this.#exchange.trail.note('stream', kind);
    if (this.#held === undefined) stream.open();
    else this.#proceed(this.#held.storeWithoutBody(() => stream.open()));
  }

  onResponseData(_control: Control, chunk: Buffer): void {
    if (this.isEnded || this.#endIfForestalled()) return;
    this.#clock.noteProgress();
    this.#proceed(this.#receiver.data(chunk));
  }

  onResponseEnd(): void {
    if (!this.isEnded && !this.#endIfForestalled()) this.#proceed(this.#receiver.end());
  }

  /** Passes on an answer that was read to its end and judged. */
  #passWhole({ status, headers, body }: CompleteAnswer): void {
    try {
      this.#takeHead(status, headers);
      if (body.length > 0 && !this.isEnded) this.#proceed(this.#receiver.data(body));
      if (!this.isEnded) this.#proceed(this.#receiver.end());
    } catch (error) {
      this.onResponseError(undefined, toUpstreamFailure(error));
    }
  }

  /** Forgets the answer, and has the same attempt send its next request. */
  #startAgain(): void {
    const { trail } = this.#exchange;
    this.#clock.noteAttempt();
    this.#status = undefined;
    trail.upstreamStatus = undefined;
    trail.upstreamMs = undefined;
    this.judge?.sendNext(this);
  }

  /** Does what a receiver has returned. */
  #proceed(received: Received | undefined): void {
    if (received === undefined) return;
    if (received.kind === 'complete') {
      this.#end();
      this.#owner.relayed(this.#answer.status);
    } else if (received.kind === 'first') queueMicrotask(() => this.#releaseFirst());
    else if (received.kind === 'next') this.#startAgain();
    else if (received.kind === 'store') void received.stored.then(() => this.#releaseStored(received.release));
    else if (received.kind === 'fail') this.#fail(received.error, received.failure);
    else this.#passWhole(received.answer);
  }

  /** If the client has left, or has got another answer, while its answer was stored, the exchange ends. */
  #releaseStored(release: Release): void {
    if (this.isEnded) return;
    if (this.#exchange.response.destroyed || this.#answer.isForestalled) this.#leave();
    else this.#proceed(release());
  }

  #releaseFirst(): void {
    contain(
      () => {
        if (!this.isEnded && !this.#endIfForestalled()) this.#answer.releaseFirst();
      },
      (thrown) => this.onResponseError(undefined, thrown as Error),
    );
  }

  onResponseError(_control: Control | undefined, error: Error): void {
    if (this.isEnded) return;
    this.interrupt(toUpstreamFailure(error, this.wasSent), isConnectionLost(error) ? 'lost' : 'other');
  }

  /**
   * Fails the attempt, because the rest of the answer will not arrive. A 5xx is refused by its status alone. The refusal for a 4xx is made
   * from its whole body, so without the rest of the body, the attempt fails with `error`.
   */
  interrupt(error: GatewayError, failure: AttemptFailure): void {
    const isDecided = this.#status !== undefined && isServerError(this.#status);
    const refusal = isDecided ? this.#receiver.refusal?.() : undefined;
    if (refusal === undefined) this.#fail(error, failure);
    else this.#fail(refusal, 'status');
  }

  #fail(error: GatewayError, failure: AttemptFailure): void {
    this.abort();
    this.#owner.failed({ error, failure, wasSent: this.wasSent, status: this.#status });
  }

  /** The compressor has failed, so the answer cannot be completed. Ends this exchange only. */
  #compressorFailed(cause: Error): void {
    if (this.isEnded) this.#exchange.response.destroy();
    else this.#fail(new GatewayError('internal_error', { cause }), 'other');
  }

  /**
   * Ends a stream before the upstream does.
   *
   * @param isWhole false if the client is to see that a part is missing
   */
  #cut(isWhole: boolean): void {
    if (this.isEnded) return;
    this.abort();
    this.#answer.close(isWhole);
    this.#owner.relayed(this.#answer.status);
  }

  /**
   * Ends the attempt if another part of the gateway has already answered the client, unless its answer will be stored. Returns whether it
   * has ended.
   */
  #endIfForestalled(): boolean {
    if (!this.#answer.isForestalled || this.outlastsClient) return false;
    this.#leave();
    return true;
  }

  #leave(): void {
    this.abort();
    this.#owner.clientLeft();
  }

  /** Ends the attempt without the rest of its answer. */
  abort(): void {
    this.#end();
    this.#answer.control?.abort();
  }

  #end(): void {
    this.isEnded = true;
    this.stream?.stop();
    this.#answer.forgetDrain();
  }

  /**
   * Whether the attempt continues after its client has left. If the answer will be stored, a request that was sent continues to its end,
   * because the client can get the stored answer by a retry.
   */
  get outlastsClient(): boolean {
    return this.#held?.isStored === false && this.wasSent;
  }

  /** Whether a pause of the answer is not the fault of the upstream, because the client is behind, or because a stream may be silent. */
  get mayPause(): boolean {
    return this.#answer.isBehind || this.stream?.mayPause === true;
  }

  /** Removes the connection from its pool. The answer continues. */
  detach(): void {
    this.#answer.control?.detach();
  }
}
