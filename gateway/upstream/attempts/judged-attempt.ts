// One attempt at an upstream that has rules or a credential. It sends the request with the credential of this moment, and judges the
// answer for the relay.
//
//   sendNext ─> #dispatch ─> Relay ─> judge ─> #useRecord     if a request rule needs the current record; then sendNext
//                                           ─> #judgeAnswer   if a rule or the credential refuses the answer, sendNext may repeat it

import { GatewayError } from '../../catalogue/errors.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { Operation } from '../../exchange/operation.ts';
import type { AnswerHandler, AnswerHeaders, Outgoing } from '../../http1/client/wire.ts';
import { isLoginRefusal, streamKindOf } from '../../shared/http/words.ts';
import { jsonTreeValue, readJson } from '../../shared/json-tree.ts';
import type { Credential } from '../credentials/credential.ts';
import type { CredentialHeader } from '../credentials/credential-kinds.ts';
import { missingCredentialCause, toUpstreamRefusal } from '../errors/upstream-errors.ts';
import type { AnswerJudge, AnswerTreatment, CompleteAnswer } from '../relay/answer-judge.ts';
import { type AnsweredRequest, decodedAnswer, type Judgement } from '../rules/answers/answer-rules.ts';
import { recordRequest } from '../rules/requests/record-request.ts';
import type { RecordRead, Rewritten } from '../rules/requests/rewrite.ts';
import type { Target } from '../targets/targets.ts';
import type { Attempts } from './attempts.ts';

export class JudgedAttempt implements AnswerJudge {
  readonly #outgoing: (attempts: Attempts) => Outgoing;
  readonly #changed: Rewritten | undefined;
  readonly #target: Target;
  /** Has the parts of the exchange, and says whether the request may be repeated. */
  readonly #attempts: Attempts;
  /** The read of the record, until its answer is judged. */
  #read: RecordRead | undefined;
  /** The request that follows the read. It gets its body from the record. */
  #afterRead: Outgoing | undefined;
  /** The credential of the request that was sent last; undefined if there is no credential, or if nothing was sent. */
  #sent: CredentialHeader | undefined;

  /**
   * @param outgoing makes the request without rules and credential
   * @param changed the request after its request rules; undefined if no rule names the operation
   */
  constructor(
    outgoing: (attempts: Attempts) => Outgoing,
    changed: Rewritten | undefined,
    target: Target,
    attempts: Attempts,
  ) {
    this.#outgoing = outgoing;
    this.#changed = changed;
    this.#target = target;
    this.#attempts = attempts;
  }

  /** Sends the request of the client, or the read of its record. */
  #send(relay: AnswerHandler): void {
    const changed = this.#changed;
    const outgoing = this.#outgoing(this.#attempts);
    if (changed === undefined) {
      this.#dispatchOnceReady(outgoing, relay);
      return;
    }
    const request = { ...outgoing, path: changed.path + this.#attempts.exchange.search };
    if (changed.recordRead === undefined)
      this.#dispatchOnceReady({ ...request, body: changed.body ?? outgoing.body }, relay);
    else {
      // Both requests use the one place of the exchange in the concurrency limit.
      this.#read = changed.recordRead;
      this.#afterRead = request;
      this.#dispatchOnceReady(recordRequest(outgoing, changed.path), relay);
    }
  }

  /** Dispatches a request as soon as the credential is ready. Each request of this attempt passes here. */
  #dispatchOnceReady(request: Outgoing, relay: AnswerHandler): void {
    const ready = this.#attempts.route.credential?.untilReady();
    if (ready === undefined) this.#dispatch(request, relay);
    else void this.#attempts.clock.waitFor(ready).then(() => this.#dispatch(request, relay));
  }

  #dispatch(request: Outgoing, relay: AnswerHandler): void {
    if (relay.isEnded) return;
    try {
      this.#sent = this.#credentialHeader();
      this.#target.pool.dispatcher.dispatch(withCredential(request, this.#sent), relay);
    } catch (error) {
      relay.onResponseError(undefined, error as Error);
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

  get readsRecord(): boolean {
    return this.#read !== undefined;
  }

  /** A stream below 400 is not read to its end, because it may never end. */
  judgeHead(status: number, headers: AnswerHeaders): 'pass' | 'read' {
    const { route, exchange } = this.#attempts;
    const isPassed = status < 400 && (route.answerRules === undefined || isStream(headers));
    if (this.#read !== undefined || !isPassed) return 'read';
    this.#tellAccepted(exchange.operation);
    return 'pass';
  }

  judge(answer: CompleteAnswer): AnswerTreatment {
    return this.#read === undefined ? this.#judgeAnswer(answer) : this.#useRecord(answer, this.#read);
  }

  /** Has the request sent that is made from the record. */
  #useRecord(answer: CompleteAnswer, { operation, bodyFrom }: RecordRead): AnswerTreatment {
    const { exchange, route } = this.#attempts;
    const readable = this.#readable(answer);
    const judgement = this.#judgementOf(readable, { operation, pathValues: exchange.pathValues, submitted: undefined });
    this.#tellCredential(judgement, readable.status, operation);
    if (judgement.kind !== 'pass') return this.#withheld(judgement, operation);
    const { body } = judgement;
    const { status, headers } = readable;
    if (status >= 400) {
      const loginFault = missingCredentialCause(route, operation);
      return failed(toUpstreamRefusal(status, headers, body, undefined, loginFault));
    }
    this.#afterRead = { ...(this.#afterRead as Outgoing), body: bodyFrom(body) };
    this.#read = undefined;
    return { kind: 'next' };
  }

  #judgeAnswer(answer: CompleteAnswer): AnswerTreatment {
    const readable = this.#readable(answer);
    const { exchange } = this.#attempts;
    const judgement = this.#judgementOf(readable, requestForRules(exchange));
    this.#tellCredential(judgement, readable.status, exchange.operation);
    if (judgement.kind !== 'pass') return this.#withheld(judgement, exchange.operation);
    const { body } = judgement;
    // If no rule has changed the body, the client gets the bytes of the upstream with their content coding.
    const passed = body === readable.body ? answer : { ...readable, body };
    const headers = { ...passed.headers, 'content-length': String(passed.body.length) };
    return { kind: 'pass', answer: { ...passed, headers } };
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

  /** Has the request sent once more, or the attempt failed. */
  #withheld(judgement: Exclude<Judgement, { kind: 'pass' }>, operation: Operation): AnswerTreatment {
    const { route } = this.#attempts;
    if (judgement.kind === 'credential') {
      // The credential has changed since it was sent.
      const isOther = this.#sent !== undefined && route.credential?.isSuspended() === false;
      if (isOther && this.#attempts.takeRepetition('credential')) return { kind: 'next' };
      const cause = missingCredentialCause(route, operation);
      return failed(new GatewayError('upstream_auth_failed', { cause }));
    }
    const isRepeated = judgement.kind === 'repeat' && this.#attempts.takeRepetition('declared');
    return isRepeated ? { kind: 'next' } : failed(judgement.error);
  }

  sendNext(relay: AnswerHandler): void {
    const request = this.#read === undefined ? this.#afterRead : undefined;
    this.#afterRead = undefined;
    if (request === undefined) this.#send(relay);
    // The connection of the read is free once its handler has returned.
    else queueMicrotask(() => this.#dispatchOnceReady(request, relay));
  }
}

function failed(error: GatewayError): AnswerTreatment {
  return { kind: 'fail', error, failure: 'other' };
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
