// Sends a request to an upstream that has rules or a credential. Applies the request rules, adds the credential, and judges the answer
// before the client gets any of it.

import { GatewayError } from '../catalogue/errors.ts';
import type { Forwardable } from '../exchange/exchange.ts';
import type { AnswerHandler, AnswerHeaders, Outgoing } from '../http1/client/wire.ts';
import { isLoginRefusal, streamKindOf } from '../shared/http/words.ts';
import { jsonTreeValue, readJson } from '../shared/json-tree.ts';
import type { AnsweredRequest, CompleteAnswer, Judgement } from './answers/answer-rules.ts';
import { Attempts, type AttemptsOptions, type SendRequest } from './attempts/attempts.ts';
import { beforeSending, waitBeforeSending } from './attempts/before-sending.ts';
import { RecordReadAnswer, recordRequest } from './attempts/record-read.ts';
import type { Credential } from './credentials/credential.ts';
import type { CredentialHeader } from './credentials/credential-kinds.ts';
import { missingCredentialCause, toUpstreamRefusal } from './errors/upstream-errors.ts';
import { type AnswerJudge, BufferedAnswer, decodedAnswer } from './relay/buffered-answer.ts';
import type { Relay } from './relay/relay.ts';
import type { RecordLock, RecordLocks } from './requests/record-locks.ts';
import type { RecordRead, Rewritten } from './requests/rewrite.ts';
import type { UpstreamRoute } from './routes.ts';
import type { Target } from './targets/targets.ts';

/**
 * A process that crashes, or that has lost Redis, cannot release its lock. Redis then ends the lock this long after the deadline of the
 * request, because the service may still execute the request for a while.
 */
const LEASE_MARGIN_MS = 5000;

export interface JudgedOptions extends AttemptsOptions {
  readonly locks: Pick<RecordLocks, 'lockOf'>;
  /** Makes the request without rules and credential. Called for each attempt. */
  outgoing(attempts: Attempts): Outgoing;
}

/**
 * Resolves when the exchange has ended. Throws upstream_overloaded, upstream_timeout, upstream_auth_failed, and the errors of the rules and
 * the relay.
 *
 * @param deadlineAt as `performance.now()` counts
 * @param assertion undefined if the upstream is not told who calls
 */
export async function sendJudged(
  options: JudgedOptions,
  exchange: Forwardable,
  route: UpstreamRoute,
  deadlineAt: number,
  assertion: string | undefined,
): Promise<void> {
  const { operation } = exchange;
  const change = route.requestRules?.(operation);
  const changed = change && (await beforeSending(exchange, deadlineAt, (over) => change(exchange, over)));
  // The client has left.
  if (change !== undefined && changed === undefined) return;
  const read = changed?.recordRead;
  const lock = read && options.locks.lockOf(`${operation.upstream} ${read.record}`);
  try {
    if (lock !== undefined && !(await takeLock(lock, exchange, deadlineAt))) return;
    const headerReady = route.credential?.untilReady();
    if (headerReady !== undefined && !(await waitBeforeSending(exchange, deadlineAt, headerReady))) return;
    const send: SendRequest = (target, relay) => {
      new JudgedAttempt(options.outgoing, changed, target, relay).send();
    };
    await new Attempts(options, exchange, route, deadlineAt, assertion, send).run();
  } finally {
    lock?.release();
  }
}

/** Takes the lock of a record. Returns false if the client has left. */
async function takeLock(lock: RecordLock, exchange: Forwardable, deadlineAt: number): Promise<boolean> {
  const taken = await beforeSending(exchange, deadlineAt, async (over) => {
    await lock.take(deadlineAt - performance.now() + LEASE_MARGIN_MS, over);
    return lock;
  });
  return taken !== undefined;
}

/** One attempt. It sends the request with the credential of this moment, and judges the answer. An error in a step fails the attempt. */
class JudgedAttempt implements AnswerJudge {
  readonly #outgoing: JudgedOptions['outgoing'];
  readonly #changed: Rewritten | undefined;
  readonly #target: Target;
  readonly #relay: Relay;
  readonly #attempts: Attempts;
  /** The credential of the request whose answer is awaited. */
  #sent: CredentialHeader | undefined;

  /** @param changed the request after its request rules; undefined if no rule names the operation */
  constructor(outgoing: JudgedOptions['outgoing'], changed: Rewritten | undefined, target: Target, relay: Relay) {
    this.#outgoing = outgoing;
    this.#changed = changed;
    this.#target = target;
    this.#relay = relay;
    this.#attempts = relay.attempts;
  }

  /** Sends the request. Called a second time if a rule or a changed credential asks for it. */
  send(): void {
    const changed = this.#changed;
    const outgoing = this.#outgoing(this.#attempts);
    if (changed === undefined) this.#sendOnceReady(outgoing);
    else if (changed.recordRead !== undefined) this.#readRecord(outgoing, changed.path, changed.recordRead);
    else {
      const path = changed.path + this.#attempts.exchange.search;
      this.#sendOnceReady({ ...outgoing, path, body: changed.body ?? outgoing.body });
    }
  }

  /** Dispatches a request as soon as the credential is ready. Each request of this attempt passes here. */
  #sendOnceReady(outgoing: Outgoing, handler: AnswerHandler = new BufferedAnswer(this.#relay, this)): void {
    const ready = this.#attempts.route.credential?.untilReady();
    if (ready === undefined) this.#dispatch(outgoing, handler);
    else void this.#relay.waitForCredential(ready).then(() => this.#dispatch(outgoing, handler));
  }

  #dispatch(outgoing: Outgoing, handler: AnswerHandler): void {
    if (this.#relay.isEnded) return;
    const { credential } = this.#attempts.route;
    try {
      this.#sent = credential?.header(this.#attempts.exchange.operation.provesCredential);
      this.#target.dispatcher.dispatch(withCredential(outgoing, this.#sent), handler);
    } catch (error) {
      if (credential !== undefined && this.#sent === undefined) this.#attempts.notSent();
      this.#relay.onResponseError(undefined, error as Error);
    }
  }

  /**
   * Reads the record, then sends the request that is made from it. Both requests use the one place of the exchange in the concurrency
   * limit.
   */
  #readRecord(outgoing: Outgoing, path: string, { operation, bodyFrom }: RecordRead): void {
    const { exchange } = this.#attempts;
    const useRecord = (answer: CompleteAnswer) => {
      const readable = this.#readable(answer);
      const request = { operation, pathValues: exchange.pathValues, submitted: undefined };
      const body = this.#applyRules(readable, request);
      if (body === undefined) return;
      const { status, headers } = readable;
      if (status >= 400) {
        const loginFault = missingCredentialCause(this.#attempts.route, operation);
        this.#relay.fail(toUpstreamRefusal(status, headers, body, undefined, loginFault), 'other');
        return;
      }
      const changedBody = bodyFrom(body);
      this.#relay.startAgain();
      // The connection of the read is free once this handler has returned.
      queueMicrotask(() => this.#sendOnceReady({ ...outgoing, path: path + exchange.search, body: changedBody }));
    };
    this.#sendOnceReady(recordRequest(outgoing, path), new RecordReadAnswer(this.#relay, useRecord));
  }

  readsWhole(status: number, headers: AnswerHeaders): boolean {
    const { credential, answerRules } = this.#attempts.route;
    // A stream is not buffered, because it may never end.
    if (status >= 400 || (answerRules !== undefined && !isStream(headers))) return true;
    if (this.#sent !== undefined) credential?.accepted(this.#sent, this.#attempts.exchange.operation.provesCredential);
    return false;
  }

  answerForClient(answer: CompleteAnswer): CompleteAnswer | undefined {
    const readable = this.#readable(answer);
    const body = this.#applyRules(readable, requestForRules(this.#attempts.exchange));
    if (body === undefined) return undefined;
    // If no rule has changed the body, the client gets the bytes of the upstream with their content coding.
    return body === readable.body ? answer : { ...readable, body };
  }

  /** Returns the answer as the rules read it. */
  #readable(answer: CompleteAnswer): CompleteAnswer {
    return this.#attempts.route.answerRules === undefined ? answer : decodedAnswer(answer);
  }

  /**
   * Applies the rules and the state of the credential to an answer. Returns the body for the client. Returns undefined if the attempt has
   * failed or the request was sent again, so that the client gets nothing of this answer.
   */
  #applyRules(answer: CompleteAnswer, request: AnsweredRequest): Buffer | undefined {
    const { credential, answerRules } = this.#attempts.route;
    const sent = this.#sent;
    const judgement = answerRules?.(answer, request) ?? defaultJudgement(answer, credential);
    if (judgement.kind === 'credential') {
      if (sent !== undefined) credential?.refused(sent, answer.status);
      const hasChanged = sent !== undefined && credential?.isSuspended() === false;
      if (hasChanged && this.#attempts.beginRepeat('credential')) this.send();
      else {
        const cause = missingCredentialCause(this.#attempts.route, request.operation);
        this.#relay.fail(new GatewayError('upstream_auth_failed', { cause }), 'other');
      }
      return undefined;
    }
    if (sent !== undefined && answer.status < 400) credential?.accepted(sent, request.operation.provesCredential);
    if (judgement.kind === 'pass') return judgement.body;
    if (judgement.kind === 'repeat' && this.#attempts.beginRepeat('declared')) this.send();
    else this.#relay.fail(judgement.error, 'other');
    return undefined;
  }
}

function withCredential(outgoing: Outgoing, sent: CredentialHeader | undefined): Outgoing {
  return sent === undefined ? outgoing : { ...outgoing, headers: [...outgoing.headers, sent.name, sent.value] };
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
