// The request that asks the upstream for a WebSocket: takes a place and a target, makes the headers, and judges the answer. Throws
// upstream_overloaded, upstream_timeout, upstream_unavailable, upstream_auth_failed and upstream_unreachable.

import { GatewayError } from '../catalogue/errors.ts';
import { upstreamFailure } from '../catalogue/upstream-failure.ts';
import type { Caller } from '../exchange/caller.ts';
import type { Forwardable } from '../exchange/exchange.ts';
import type { TrailNotes } from '../exchange/notes.ts';
import { headersIn } from '../http1/client/request-head.ts';
import type { AnswerHeaders } from '../http1/client/wire.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { isLoginRefusal } from '../shared/http/words.ts';
import { beforeSending, waitBeforeSending } from './attempts/before-sending.ts';
import { ExchangePlace } from './concurrency/exchange-place.ts';
import type { CredentialHeader } from './credentials/credential-kinds.ts';
import { missingCredentialCause, toUpstreamRefusal } from './errors/upstream-errors.ts';
import { upstreamFieldLines } from './headers/request-lines.ts';
import type { UpstreamRoute } from './routes.ts';
import { attemptResultOf } from './targets/attempt-result.ts';
import type { Target, Targets } from './targets/targets.ts';

interface HandshakeOptions {
  readonly targets: Pick<Targets, 'pick' | 'noteResult'>;
  readonly routes: ReadonlyMap<string, UpstreamRoute>;
  /** Returns the assertion, as for other requests (forward.ts). */
  assertionFor(caller: Caller, upstream: string): Awaitable<string>;
  traceparentFor(trail: TrailNotes): string;
}

export interface Handshake {
  readonly origin: string;
  /** Lower-case name → value, without the fields of the connection. */
  readonly headers: Readonly<Record<string, string>>;
  /** The rest of the deadline: milliseconds within which the head of the answer has to arrive. */
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Call it when the head of the answer has arrived. */
  answered(status: number): void;
  /** Call it if the handshake gets no answer, or if the client has left (undefined). Has no effect after an answer. */
  failed(error: GatewayError | undefined): void;
  /** Returns the refusal for the client if the upstream refuses the upgrade. */
  refusalOf(status: number, headers: AnswerHeaders, body: Buffer): GatewayError;
}

/** Fields of the client's handshake (RFC 6455 section 11.3), and the page that it comes from. */
const HANDSHAKE_FIELDS = [
  ...['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-protocol', 'sec-websocket-extensions', 'origin'],
];

export function createHandshake(options: HandshakeOptions): (exchange: Forwardable) => Promise<Handshake | undefined> {
  /** Returns undefined if the client has left. */
  return async function handshake(exchange) {
    const { operation, caller, response, trail } = exchange;
    const route = options.routes.get(operation.upstream) as UpstreamRoute;
    const deadlineAt = performance.now() + (operation.timeoutMs ?? route.timeoutMs);
    const assertion = route.sendsCaller ? await options.assertionFor(caller, route.audience) : undefined;
    if (!(await waitForCredential(route, exchange, deadlineAt))) return undefined;
    const place = new ExchangePlace(exchange, route.concurrency);
    const taken = await beforeSending(exchange, deadlineAt, (over) => takePlace(place, deadlineAt, over));
    const attempt = new HandshakeAttempt(options.targets, exchange, route, place);
    try {
      if (taken !== undefined && !response.destroyed) {
        attempt.pick();
        // A probe may have become due in the queue.
        if (await waitForCredential(route, exchange, deadlineAt)) {
          attempt.prepare(deadlineAt, assertion, options);
          return attempt;
        }
      }
      attempt.failed(undefined);
      trail.clientLeft();
      return undefined;
    } catch (error) {
      attempt.failed(undefined);
      throw error;
    }
  };
}

/** Waits until the header of the credential can be made. Returns false if the client has left. */
async function waitForCredential(
  { credential }: UpstreamRoute,
  exchange: Forwardable,
  deadlineAt: number,
): Promise<boolean> {
  const ready = credential?.untilReady();
  return ready === undefined || waitBeforeSending(exchange, deadlineAt, () => ready);
}

/** Waits for a place. Rejects with upstream_overloaded. */
async function takePlace(place: ExchangePlace, deadlineAt: number, over: AbortSignal): Promise<ExchangePlace> {
  over.throwIfAborted();
  if (place.take()) return place;
  over.addEventListener('abort', () => place.leaveQueue(), { once: true });
  await new Promise<void>((resolve, reject) => {
    place.wait(deadlineAt, (refusal) => (refusal === undefined ? resolve() : reject(refusal)));
  });
  return place;
}

/** Holds a place in the concurrency limit until the handshake is answered or has failed. An open WebSocket holds no place. */
class HandshakeAttempt implements Handshake {
  origin = '';
  headers: Handshake['headers'] = {};
  timeoutMs = 0;
  readonly idleTimeoutMs: number;
  readonly #targets: HandshakeOptions['targets'];
  readonly #exchange: Forwardable;
  readonly #route: UpstreamRoute;
  readonly #place: ExchangePlace;
  #target: Target | undefined;
  #sent: CredentialHeader | undefined;
  #sentAt = 0;
  #hasEnded = false;

  constructor(targets: HandshakeOptions['targets'], exchange: Forwardable, route: UpstreamRoute, place: ExchangePlace) {
    this.idleTimeoutMs = route.idleTimeoutMs;
    this.#targets = targets;
    this.#exchange = exchange;
    this.#route = route;
    this.#place = place;
  }

  pick(): void {
    const { operation, caller } = this.#exchange;
    this.#target = this.#targets.pick(operation.upstream, caller.mode);
    this.#sentAt = performance.now();
    this.origin = this.#target.origin;
    if (this.origin.startsWith('http')) return;
    throw new GatewayError('upstream_unreachable', { cause: new Error('a contract cannot answer for a WebSocket') });
  }

  /** Makes the headers. The header of the credential may spend the turn of a probe, so nothing may refuse the request after that. */
  prepare(deadlineAt: number, assertion: string | undefined, { traceparentFor }: HandshakeOptions): void {
    const { operation, trail } = this.#exchange;
    this.#sent = this.#route.credential?.header(operation.provesCredential);
    this.#sentAt = performance.now();
    trail.target = this.origin;
    trail.attempts = 1;
    this.headers = headersFor(this.#exchange, this.#route, assertion, traceparentFor(trail), this.#sent);
    this.timeoutMs = Math.max(1, deadlineAt - this.#sentAt);
  }

  answered(status: number): void {
    const { credential } = this.#route;
    const sent = this.#sent;
    // The credential is latched before `#end` gives the place to the next handshake, which would otherwise send it again.
    if (sent !== undefined && isLoginRefusal(status)) credential?.refused(sent, status);
    else if (sent !== undefined && status === 101)
      credential?.accepted(sent, this.#exchange.operation.provesCredential);
    this.#end(status, undefined);
  }

  failed(error: GatewayError | undefined): void {
    this.#end(undefined, error);
  }

  #end(status: number | undefined, error: GatewayError | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#place.giveBack();
    const failure = status !== undefined && status >= 500 ? status : error;
    if (this.#target !== undefined)
      this.#targets.noteResult(this.#target, attemptResultOf(status, error), this.#sentAt, failure);
  }

  refusalOf(status: number, headers: AnswerHeaders, body: Buffer): GatewayError {
    if (this.#sent !== undefined && isLoginRefusal(status)) return new GatewayError('upstream_auth_failed');
    if (status < 400) return upstreamFailure('upstream_bad_response', 'http_upgrade_failed');
    const loginFault = missingCredentialCause(this.#route, this.#exchange.operation);
    return toUpstreamRefusal(status, headers, body, this.#exchange, loginFault);
  }
}

function headersFor(
  exchange: Forwardable,
  { credential, sendClientAddress }: UpstreamRoute,
  assertion: string | undefined,
  traceparent: string,
  sent: CredentialHeader | undefined,
): Handshake['headers'] {
  const identity = { assertion, credentialHeaders: credential?.headerNames, traceparent, sendClientAddress };
  const fieldLines = upstreamFieldLines(exchange, identity, true);
  const flat = headersIn({ fieldLines, headers: sent?.fields ?? [] });
  const headers: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) headers[flat[i] as string] = flat[i + 1] as string;
  delete headers['accept-encoding'];
  for (const name of HANDSHAKE_FIELDS) {
    const value = exchange.headers.get(name);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}
