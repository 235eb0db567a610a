// One attempt at an upstream that has rules or a credential. It sends the request with the credential of this moment, reads the answer to
// its end, judges it, and passes it on to the relay. The relay gets a stream at once. An error in a step fails the attempt.
//
//   send ─> #dispatch ─> onResponseEnd ─> #useRecord   if a request rule needs the current record; then #dispatch again
//                                      ─> #judge ─> Relay.passWhole, or #withhold

import { GatewayError } from '../../catalogue/errors.ts';
import { toUpstreamFailure, upstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { Operation } from '../../exchange/operation.ts';
import type { AnswerHandler, AnswerHeaders, Control, Outgoing } from '../../http1/client/wire.ts';
import { isLoginRefusal, streamKindOf } from '../../shared/http/words.ts';
import { jsonTreeValue, readJson } from '../../shared/json-tree.ts';
import type { Credential } from '../credentials/credential.ts';
import type { CredentialHeader } from '../credentials/credential-kinds.ts';
import { missingCredentialCause, toUpstreamRefusal } from '../errors/upstream-errors.ts';
import { CollectedBody } from '../relay/collected-body.ts';
import type { Relay } from '../relay/relay.ts';
import type { AnsweredRequest, CompleteAnswer, Judgement } from '../rules/answers/answer-rules.ts';
import { BUFFERED_BYTES_MAX, decodedAnswer } from '../rules/answers/decoded-answer.ts';
import { recordRequest } from '../rules/requests/record-request.ts';
import type { RecordRead, Rewritten } from '../rules/requests/rewrite.ts';
import type { Target } from '../targets/targets.ts';
import type { Attempts } from './attempts.ts';

export class JudgedAttempt implements AnswerHandler {
  readonly #outgoing: (attempts: Attempts) => Outgoing;
  readonly #changed: Rewritten | undefined;
  readonly #target: Target;
  readonly #relay: Relay;
  /** Has the parts of the exchange, and says whether the request may be repeated. */
  readonly #attempts: Attempts;
  /** The request that is made from the record, and the read of the record while its answer is awaited. */
  #afterRead: Outgoing | undefined;
  #read: RecordRead | undefined;
  /** The credential of the request that was sent last; undefined if there is no credential, or if nothing was sent. */
  #sent: CredentialHeader | undefined;
  #status = 0;
  #headers: AnswerHeaders = {};
  #body!: CollectedBody;
  /** True if the relay gets the answer as it arrives. */
  #passes = false;

  /**
   * @param outgoing makes the request without rules and credential
   * @param changed the request after its request rules; undefined if no rule names the operation
   */
  constructor(
    outgoing: (attempts: Attempts) => Outgoing,
    changed: Rewritten | undefined,
    target: Target,
    relay: Relay,
    attempts: Attempts,
  ) {
    this.#outgoing = outgoing;
    this.#changed = changed;
    this.#target = target;
    this.#relay = relay;
    this.#attempts = attempts;
  }

  /** Sends the request. Called a second time if a rule or a changed credential asks for it. */
  send(): void {
    const changed = this.#changed;
    const outgoing = this.#outgoing(this.#attempts);
    if (changed === undefined) {
      this.#dispatchOnceReady(outgoing);
      return;
    }
    const request = { ...outgoing, path: changed.path + this.#attempts.exchange.search };
    if (changed.recordRead === undefined) this.#dispatchOnceReady({ ...request, body: changed.body ?? outgoing.body });
    else {
      // Both requests use the one place of the exchange in the concurrency limit.
      this.#read = changed.recordRead;
      this.#afterRead = request;
      this.#dispatchOnceReady(recordRequest(outgoing, changed.path));
    }
  }

  /** Dispatches a request as soon as the credential is ready. Each request of this attempt passes here. */
  #dispatchOnceReady(request: Outgoing): void {
    const ready = this.#attempts.route.credential?.untilReady();
    if (ready === undefined) this.#dispatch(request);
    else void this.#attempts.clock.waitFor(ready).then(() => this.#dispatch(request));
  }

  #dispatch(request: Outgoing): void {
    if (this.#relay.isEnded) return;
    this.#body = new CollectedBody(BUFFERED_BYTES_MAX);
    try {
      this.#sent = this.#credentialHeader();
      this.#target.dispatcher.dispatch(withCredential(request, this.#sent), this);
    } catch (error) {
      this.#relay.onResponseError(undefined, error as Error);
    }
  }

  /** Returns the header of the credential; undefined if the upstream has no credential. Throws upstream_auth_failed. */
  #credentialHeader(): CredentialHeader | undefined {
    const { exchange, route } = this.#attempts;
    try {
      return route.credential?.header(exchange.operation.provesCredential);
    } catch (error) {
      const wasSentBefore = this.#sent !== undefined;
      if (!wasSentBefore) this.#attempts.notSent();
      throw error;
    }
  }

  get isEnded(): boolean {
    return this.#relay.isEnded;
  }

  onRequestStart(control: Control): void {
    // If the read of the record fails, the request of the client was not sent.
    if (this.#read === undefined) this.#relay.onRequestStart(control);
    else this.#relay.noteRecordRead(control);
  }

  onResponseStart(control: Control, status: number, headers: AnswerHeaders): void {
    if (this.#relay.isEnded) return;
    this.#status = status;
    this.#headers = headers;
    this.#passes = this.#read === undefined && !this.#isJudgedWhole(status, headers);
    if (this.#passes) {
      this.#tellAccepted(this.#attempts.exchange.operation);
      this.#relay.onResponseStart(control, status, headers);
    } else this.#relay.noteHead(status, headers, this.#body);
  }

  onResponseData(control: Control, chunk: Buffer): void {
    if (this.#passes) this.#relay.onResponseData(control, chunk);
    else {
      this.#attempts.clock.noteProgress();
      if (!this.#body.add(chunk)) throw upstreamFailure('upstream_bad_response', 'http_response_body_size');
    }
  }

  onResponseEnd(): void {
    if (this.#passes) this.#relay.onResponseEnd();
    else if (!this.#relay.isEnded) {
      const answer = { status: this.#status, headers: this.#headers, body: this.#body.whole() };
      if (this.#read === undefined) this.#judge(answer);
      else this.#useRecord(answer, this.#read);
    }
  }

  onResponseError(control: Control | undefined, error: Error): void {
    this.#relay.onResponseError(control, error);
  }

  /** Sends the request that is made from the record. */
  #useRecord(answer: CompleteAnswer, { operation, bodyFrom }: RecordRead): void {
    const { exchange, route } = this.#attempts;
    const readable = this.#readable(answer);
    const judgement = this.#judgementOf(readable, { operation, pathValues: exchange.pathValues, submitted: undefined });
    this.#tellCredential(judgement, readable.status, operation);
    if (judgement.kind !== 'pass') {
      this.#withhold(judgement, operation);
      return;
    }
    const { body } = judgement;
    const { status, headers } = readable;
    if (status >= 400) {
      const loginFault = missingCredentialCause(route, operation);
      this.#attempts.failed(toUpstreamRefusal(status, headers, body, undefined, loginFault), 'other');
      return;
    }
    const request = { ...(this.#afterRead as Outgoing), body: bodyFrom(body) };
    this.#read = undefined;
    this.#relay.startAgain();
    // The connection of the read is free once this handler has returned.
    queueMicrotask(() => this.#dispatchOnceReady(request));
  }

  /** Whether the answer is read to its end and judged. A stream below 400 is not, because it may never end. */
  #isJudgedWhole(status: number, headers: AnswerHeaders): boolean {
    return status >= 400 || (this.#attempts.route.answerRules !== undefined && !isStream(headers));
  }

  #judge(answer: CompleteAnswer): void {
    const readable = this.#readable(answer);
    const { exchange } = this.#attempts;
    const judgement = this.#judgementOf(readable, requestForRules(exchange));
    this.#tellCredential(judgement, readable.status, exchange.operation);
    if (judgement.kind !== 'pass') {
      this.#withhold(judgement, exchange.operation);
      return;
    }
    const { body } = judgement;
    // If no rule has changed the body, the client gets the bytes of the upstream with their content coding.
    const passed = body === readable.body ? answer : { ...readable, body };
    const headers = { ...passed.headers, 'content-length': String(passed.body.length) };
    try {
      this.#relay.passWhole(passed.status, headers, passed.body);
    } catch (error) {
      this.#relay.onResponseError(undefined, toUpstreamFailure(error));
    }
  }

  /** Returns the answer as the rules read it. */
  #readable(answer: CompleteAnswer): CompleteAnswer {
    return this.#attempts.route.answerRules === undefined ? answer : decodedAnswer(answer);
  }

  #judgementOf(answer: CompleteAnswer, request: AnsweredRequest): Judgement {
    const { credential, answerRules } = this.#attempts.route;
    return answerRules?.(answer, request) ?? defaultJudgement(answer, credential);
  }

  /** Tells the credential whether the upstream has accepted or refused it. An error of the upstream says neither. */
  #tellCredential({ kind }: Judgement, status: number, operation: Operation): void {
    if (kind !== 'credential') {
      if (status < 400) this.#tellAccepted(operation);
    } else if (this.#sent !== undefined) this.#attempts.route.credential?.refused(this.#sent, status);
  }

  #tellAccepted({ provesCredential }: Operation): void {
    if (this.#sent !== undefined) this.#attempts.route.credential?.accepted(this.#sent, provesCredential);
  }

  /** Sends the request once more, or fails the attempt. The client gets nothing of the answer. */
  #withhold(judgement: Exclude<Judgement, { kind: 'pass' }>, operation: Operation): void {
    const { route } = this.#attempts;
    if (judgement.kind === 'credential') {
      // The credential has changed since it was sent.
      const isOther = this.#sent !== undefined && route.credential?.isSuspended() === false;
      if (isOther && this.#attempts.takeRepetition('credential')) this.#repeat();
      else {
        const cause = missingCredentialCause(route, operation);
        this.#attempts.failed(new GatewayError('upstream_auth_failed', { cause }), 'other');
      }
    } else if (judgement.kind === 'repeat' && this.#attempts.takeRepetition('declared')) this.#repeat();
    else this.#attempts.failed(judgement.error, 'other');
  }

  #repeat(): void {
    this.#relay.startAgain();
    this.send();
  }
}

function withCredential(outgoing: Outgoing, sent: CredentialHeader | undefined): Outgoing {
  return sent === undefined ? outgoing : { ...outgoing, headers: [...outgoing.headers, ...sent.fields] };
}

function isStream(headers: AnswerHeaders): boolean {
  return streamKindOf(String(headers['content-type'] ?? '')) !== undefined;
}

/**
 * Returns the judgement for an answer that no rule matches. A 403 does not latch the credential, because it may concern the request of one
 * client, and a latched credential suspends the upstream for all clients.
 */
function defaultJudgement(answer: CompleteAnswer, credential: Credential | undefined): Judgement {
  const isRefusal = credential !== undefined && isLoginRefusal(answer.status);
  return isRefusal ? { kind: 'credential' } : { kind: 'pass', body: answer.body };
}

/** The request body is parsed only when a rule uses it. */
function requestForRules({ operation, pathValues, rawBody }: Forwardable): AnsweredRequest {
  return {
    operation,
    pathValues,
    get submitted() {
      const root = rawBody && readJson(rawBody);
      return root && jsonTreeValue(root);
    },
  };
}
