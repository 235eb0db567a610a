// Relays the answer of one attempt, and says how it ended. The head decides what becomes of the body (`fate`): below 400 the client gets it
// as it arrives, or once it is checked or stored. From 400 on the client gets none of it: `#failByStatus` makes a refusal of the status,
// and attempts.ts (`failed`) ends with that refusal or sends the request again. This is the state `relayed` of the table in forward.ts. It
// is a class: the connection calls five methods on one object per request, and methods on a prototype cost nothing to create.

import type { GatewayError } from '../../errors.ts';
import type { Forwardable, Recording } from '../../exchange.ts';
import type { StreamEnd, StreamKind } from '../../findings.ts';
import type { AnswerHandler, AnswerHeaders, Control } from '../../http1/client/wire.ts';
import { streamKindOf } from '../../shared/stream-kinds.ts';
import type { AttemptFailure } from '../attempts/retry-plan.ts';
import { codingOf } from '../encoding/decode.ts';
import { ERROR_BODY_BYTES_MAX, toUpstreamRefusal } from '../errors/upstream-errors.ts';
import { isConnectionLost, toUpstreamFailure, upstreamFailure } from '../failure.ts';
import type { UpstreamRoute } from '../routes.ts';
import { AnswerStream } from '../streams/answer-stream.ts';
import { ClientAnswer } from './client-answer.ts';
import { CollectedBody } from './collected-body.ts';
import {
  CHECKED_BYTES_MAX,
  type ContractCheck,
  checkedMode,
  firstValueOf,
  takeUndeclared,
  violationsIn,
  wasAsked,
} from './contract-check.ts';

/** The owner of a relay. The relay calls exactly one of `relayed`, `failed` and `abandoned`, and calls it once. */
export interface RelayOwner {
  /** Start of this attempt, `performance.now()`. */
  readonly attemptAt: number;
  /** Called when the attempt has got a connection after waiting this long for those in use. */
  waited(waitedMs: number): void;
  /** Called when the client has the whole answer. */
  relayed(): void;
  /** @param status of the upstream's answer, 0 without one */
  failed(error: GatewayError, failure: AttemptFailure, wasSent: boolean, status: number): void;
  /** Called if the answer is a stream. `end` ends the stream from this side. Throws too_many_streams. */
  openStream(kind: StreamKind, end: (why: StreamEnd) => void): void;
  /** Called when the client has left. */
  abandoned(): void;
  /** Called when deadlines no longer apply, because the rest does not depend on the upstream. */
  stopClock(): void;
}

/**
 * Largest body that is read and dropped for a HEAD, so that the connection can be kept. A new connection costs less than reading more.
 */
const DROPPED_BYTES_MAX = 65_536;

/**
 * What becomes of the body of an answer:
 *
 * - `pass`: the client gets it as it arrives.
 * - `stream`: the client gets it as it arrives, and the gateway knows its items.
 * - `report`: the client gets it as it arrives, and a copy is checked against the contract.
 * - `refuse`: the client gets it when it is whole and keeps the contract.
 * - `error`: the client gets an error object in its place.
 * - `drop`: the client gets no body, as after HEAD.
 */
type BodyFate = 'pass' | 'stream' | 'report' | 'refuse' | 'error' | 'drop';

/**
 * From `ClientAnswer` it has `ended`, `control`, `status`, `headers`, `length`, `first` and `hasHead`, and the functions that write to the
 * client: `chooseForm`, `beginBody`, `pass`, `write`, `sendRest` and `closeBody`.
 */
export class Relay extends ClientAnswer implements AnswerHandler {
  /** Status of the upstream's answer once its head has arrived; undefined before. The client may get another status. */
  answeredStatus: number | undefined;
  #fate: BodyFate = 'pass';
  #droppedBytes = 0;
  /** The body as the gateway reads it, if its fate is `report`, `refuse` or `error`. */
  #read: CollectedBody | undefined;
  /**
   * What the client does not get before it is stored for repetitions of its request, so that an immediate repetition finds it. Undefined
   * once it is stored, and for an answer that is not stored.
   */
  #held: CollectedBody | undefined;
  /** Set if the fate is `stream`. */
  #stream: AnswerStream | undefined;
  readonly #contractCheck: ContractCheck;
  readonly #owner: RelayOwner;
  /** When the body began to pass to the client, by `performance.now()`; undefined before, and for a buffered body. */
  passesSince: number | undefined;
  #byteAt = 0;
  /** Aborts the read of a record that precedes the client's request (record-read.ts). */
  #reading: Control | undefined;

  constructor(exchange: Forwardable, route: UpstreamRoute, contractCheck: ContractCheck, owner: RelayOwner) {
    super(exchange, route);
    this.#held = exchange.recording && new CollectedBody(exchange.recording.bodyBytesMax);
    this.#contractCheck = contractCheck;
    this.#owner = owner;
  }

  /** Whether a byte of the request may have been sent: a connection has taken it, and writes it at once or as its body arrives. */
  get wasSent(): boolean {
    return this.control !== undefined;
  }

  protected get dropsBody(): boolean {
    return this.#fate === 'drop';
  }

  /**
   * When the latest byte of the answer arrived; undefined before the first. Returns `now` while the client is behind, because the upstream
   * is not to blame.
   */
  lastByteAt(now: number): number | undefined {
    if (this.#byteAt === 0) return undefined;
    return this.control?.paused === true || this.#stream?.mayPause === true ? now : this.#byteAt;
  }

  /**
   * Call it with the control of the read when a record is read before the request, and with undefined when the record has arrived. The
   * read is aborted if the attempt ends before that.
   */
  readsFirst(control: Control | undefined): void {
    this.#reading = control;
  }

  onRequestStart(control: Control): void {
    this.exchange.recording?.sent();
    if (control.waitedMs > 0) this.#owner.waited(control.waitedMs);
    this.control = control;
  }

  onResponseStart(control: Control, status: number, headers: AnswerHeaders): void {
    if (this.ended) return;
    this.noteAnswer(status);
    this.status = status;
    this.headers = headers;
    this.length = lengthOf(headers);
    const isAsked = wasAsked(status, headers, this.exchange);
    if (status < 400) this.#takeHead(control, isAsked);
    else if (isAsked) {
      // The body is read to its end, so that the connection can be kept.
      this.#fate = 'error';
      this.#read = new CollectedBody(ERROR_BODY_BYTES_MAX);
    } else throw upstreamFailure('upstream_bad_response', 'http_protocol_error', new Error('an unasked 416'));
  }

  /** Decides the fate of the body of an answer below 400. */
  #takeHead(control: Control, isAsked: boolean): void {
    const hasNoBody = this.status === 204 || this.status === 304;
    const contentType = firstValueOf(this.headers['content-type']);
    const hasBody = !hasNoBody && this.length !== 0;
    this.#applyContract(contentType, hasNoBody, hasBody, isAsked);
    this.chooseForm();
    const kind = streamKindOf(contentType);
    if (this.#fate === 'drop') {
      this.#startPassing();
      if (hasBody && (kind !== undefined || this.length > DROPPED_BYTES_MAX)) this.#cutOff(control);
    } else if (kind !== undefined) this.#beginStream(control, kind, contentType);
    else {
      if (this.#fate !== 'pass') this.#read = new CollectedBody(CHECKED_BYTES_MAX);
      if (this.#fate !== 'refuse') this.#startPassing();
    }
  }

  /** Throws if the contract does not declare the answer and undeclared ones are refused. */
  #applyContract(contentType: string | undefined, hasNoBody: boolean, hasBody: boolean, isAsked: boolean): void {
    const { operation, method, trail } = this.exchange;
    const undeclared = this.#contractCheck.undeclared(operation, this.status, contentType, hasBody, isAsked);
    if (undeclared !== undefined) this.protection = takeUndeclared(undeclared, trail);
    if (method === 'HEAD' || hasNoBody) this.#fate = 'drop';
    else if (undeclared === undefined)
      this.#fate = checkedMode(this.#contractCheck.modeFor(operation, this.status, contentType, isAsked), this.headers);
  }

  /** From now on the body passes to the client as it arrives, unless it is held back to be stored. */
  #startPassing(): void {
    if (this.#held === undefined) this.passesSince = this.#byteAt;
  }

  /** Call it when an answer has begun. Rules may still replace it before the client gets any of it. */
  noteAnswer(status: number): void {
    const { trail } = this.exchange;
    this.#byteAt = performance.now();
    this.answeredStatus = status;
    trail.upstreamStatus = status;
    trail.upstreamMs = this.#byteAt - this.#owner.attemptAt;
  }

  /** Call it when bytes of the body have arrived. */
  noteBytes(): void {
    this.#byteAt = performance.now();
  }

  /** Removes the connection from the number that its pool may open. */
  leavePool(): void {
    this.control?.detach();
  }

  /** Call it when the same attempt sends the request again. */
  noteAgain(): void {
    this.answeredStatus = undefined;
    this.passesSince = undefined;
    this.#byteAt = 0;
  }

  onResponseData(control: Control, chunk: Buffer): void {
    if (this.ended || this.leaveIfAnswered()) return;
    this.noteBytes();
    if (this.#fate === 'pass') this.#passOn(control, chunk);
    else if (this.#fate === 'stream') this.#stream?.data(chunk);
    else if (this.#fate === 'drop') this.#drop(control, chunk);
    else if (this.#read?.add(chunk) === false) this.#tooLong(control, chunk);
    else if (this.#fate === 'report') this.#passOn(control, chunk);
  }

  #passOn(control: Control, chunk: Buffer): void {
    this.countOut(chunk);
    if (this.#held === undefined) this.pass(chunk);
    else if (!this.#held.add(chunk)) this.#passTooLong(control, this.#held);
  }

  #drop(control: Control, chunk: Buffer): void {
    this.#droppedBytes += chunk.length;
    if (this.#droppedBytes > DROPPED_BYTES_MAX) this.#cutOff(control);
  }

  /** Handles a body that is too long to be read: it passes, or its end is not awaited. */
  #tooLong(control: Control, chunk: Buffer): void {
    this.#read?.drop();
    if (this.#fate === 'report') this.#passOn(control, chunk);
    else if (this.#fate === 'error') this.#failByStatus();
    else this.#keepsContract();
  }

  onResponseEnd(): void {
    if (this.ended || this.leaveIfAnswered()) return;
    if (this.#fate === 'error') this.#failByStatus();
    else if (this.#stream !== undefined) {
      this.#stream.ended();
      if (!this.ended) this.#complete();
    } else if (this.#read === undefined || this.#keepsContract()) {
      if (this.#held === undefined) this.#complete();
      else void this.#completeOnceStored(this.#held);
    }
  }

  /** Checks a body that is whole or too long. Returns false if the attempt has failed because of it. */
  #keepsContract(): boolean {
    const { operation, trail } = this.exchange;
    const read = this.#read as CollectedBody;
    const violations = violationsIn(read, this.status, this.headers, operation, this.#contractCheck);
    if (violations.length > 0) trail.note('answerViolations', violations);
    if (this.#fate === 'report') return true;
    if (violations.length > 0) {
      this.fail(upstreamFailure('upstream_contract_violation', 'http_protocol_error'), 'other');
      return false;
    }
    this.first = read.whole();
    trail.bytesOut = this.first.length;
    return true;
  }

  onResponseError(_control: Control | undefined, error: Error): void {
    this.fail(toUpstreamFailure(error, this.wasSent), isConnectionLost(error) ? 'lost' : 'other');
  }

  /**
   * Fails the attempt. An error from 500 on stays the outcome if the rest of its body is late or lost, because its status alone decides.
   * Below 500, the client would miss the words of the body.
   */
  fail(error: GatewayError, failure: AttemptFailure): void {
    if (this.ended) return;
    if (this.#fate === 'error' && this.status >= 500) {
      this.#failByStatus();
      return;
    }
    this.#settle();
    this.control?.abort();
    this.#owner.failed(error, failure, this.wasSent, this.status);
  }

  /**
   * Fails the attempt by an error of the upstream: the status decides the code, and the client gets the parts of the body that are
   * recognised. A body that is too long is not awaited.
   */
  #failByStatus(): void {
    const body = (this.#read as CollectedBody).whole();
    // If the body cannot be parsed because of a bug, `fail` is called with what was thrown.
    this.#fate = 'drop';
    this.fail(toUpstreamRefusal(this.status, this.headers, body, this.exchange), 'status');
  }

  /** Lets a stream send its keep-alive if one is due. */
  keepAlive(now: number): void {
    this.#stream?.keepAlive(now);
  }

  /** Ends the answer from this side, if it is a stream. */
  endStream(why: StreamEnd): boolean {
    this.#stream?.end(why);
    return this.#stream !== undefined;
  }

  #beginStream(control: Control, kind: StreamKind, contentType: string | undefined): void {
    const { operation, trail } = this.exchange;
    this.#fate = 'stream';
    const isOpaque = codingOf(this.headers) !== '';
    const mode = operation.answerCheck;
    const check =
      isOpaque || mode === 'off' ? undefined : this.#contractCheck.itemCheck(operation, this.status, contentType);
    const stream = new AnswerStream({
      kind,
      isOpaque,
      hasLength: this.length >= 0,
      check,
      refuses: mode === 'refuse',
      trail,
      write: (chunk) => {
        this.countOut(chunk);
        return this.write(chunk);
      },
      over: (isWhole) => this.#endStream(isWhole),
    });
    this.#owner.openStream(kind, (why) => stream.end(why));
    this.#stream = stream;
    trail.note('stream', kind);
    if (this.#held === undefined) this.#openHead();
    else {
      control.pause();
      void this.#store(undefined).then(() => {
        if (this.ended) return;
        this.#openHead();
        control.resume();
      });
    }
  }

  /** Sends the head of a stream before its first item. */
  #openHead(): void {
    this.passesSince = performance.now();
    this.beginBody();
    this.exchange.response.flushHeaders();
  }

  /** Ends a stream from this side. */
  #endStream(isWhole: boolean): void {
    if (this.ended) return;
    this.#settle();
    this.control?.abort();
    const { response } = this.exchange;
    if (isWhole) this.closeBody();
    // Destroy later, because Node sends the bytes that were written in this turn of the event loop at its end.
    else setImmediate(() => response.destroy());
    this.#owner.relayed();
  }

  /** Stops reading a body that the client does not get. The client sent HEAD, and the upstream was sent GET. */
  #cutOff(control: Control): void {
    // An answer to HEAD itself has no body, and its connection stays.
    if (this.exchange.operation.method === 'HEAD') return;
    control.abort();
    this.#complete();
  }

  #complete(): void {
    this.sendRest();
    this.#settle();
    this.#owner.relayed();
  }

  async #completeOnceStored(held: CollectedBody): Promise<void> {
    this.#owner.stopClock();
    const body = this.first ?? held.whole();
    await this.#store(body);
    if (this.ended) return;
    this.first = body;
    this.#complete();
  }

  /** Passes on an answer that has become too long to be stored, once the store has noted that. */
  #passTooLong(control: Control, held: CollectedBody): void {
    control.pause();
    void this.#store(undefined).then(() => {
      if (this.ended) return;
      this.beginBody();
      this.noteBytes();
      this.passesSince = this.#byteAt;
      if (this.write(held.whole())) control.resume();
    });
  }

  /**
   * Stores the answer, and resolves also if storing it has failed. A client that left meanwhile ends the exchange afterwards.
   *
   * @param body undefined for a stream and for a body that is too long: the store then notes only that the request was answered
   */
  async #store(body: Buffer | undefined): Promise<void> {
    const recording = this.exchange.recording as Recording;
    const headers = this.answerHeaders(this.headers, []);
    const isShort = body !== undefined && body.length <= recording.bodyBytesMax;
    await recording.keep({ status: this.status, headers, body: isShort ? body : undefined });
    this.#held = undefined;
    if (this.exchange.response.destroyed) this.clientGone();
  }

  /** Ends the attempt of a client that has left: no target failed, and no answer can be sent. */
  clientGone(): void {
    if (this.ended) return;
    // A request that was sent and whose answer is being stored runs to its end: the client can fetch the answer later.
    if (this.#held !== undefined && this.control !== undefined) return;
    this.#settle();
    this.control?.abort();
    this.#owner.abandoned();
  }

  protected drained(): void {
    this.noteBytes();
    this.#stream?.drained();
  }

  #settle(): void {
    this.ended = true;
    this.#reading?.abort();
    this.#stream?.stop();
    this.forgetDrain();
  }
}

/** Returns the declared length of a body; -1: none. */
function lengthOf(headers: AnswerHeaders): number {
  const text = firstValueOf(headers['content-length']);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : -1;
}
