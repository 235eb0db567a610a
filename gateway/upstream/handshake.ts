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
import { waitBeforeSending } from './attempts/before-sending.ts';
import { ExchangePlace } from './concurrency/exchange-place.ts';
import type { Credential } from './credentials/credential.ts';
import type { CredentialHeader } from './credentials/credential-kinds.ts';
import { missingCredentialCause, toUpstreamRefusal } from './errors/upstream-errors.ts';
import { upstreamRequestLines } from './headers/request-lines.ts';
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
  /** Milliseconds from the established connection to the head of the answer, which is the rest of the deadline. */
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
    const { operation, caller } = exchange;
    const route = options.routes.get(operation.upstream) as UpstreamRoute;
    const deadlineAt = performance.now() + (operation.timeoutMs ?? route.timeoutMs);
    const { credential } = route;
    const assertion = route.sendsCaller ? await options.assertionFor(caller, route.audience) : undefined;
    if (!(await waitForCredential(credential, exchange, deadlineAt))) return undefined;
    const leavePlace = await placeForHandshake(exchange, route, deadlineAt);
    if (leavePlace === undefined) return undefined;
    if (exchange.response.destroyed) {
      leavePlace();
      exchange.trail.clientLeft();
      return undefined;
    }
    try {
      return await toHandshake(options, exchange, route, assertion, deadlineAt, leavePlace);
    } catch (error) {
      leavePlace();
      throw error;
    }
  };
}

/** Waits until the header of the credential can be made. Returns false if the client has left. */
async function waitForCredential(
  credential: Credential | undefined,
  exchange: Forwardable,
  deadlineAt: number,
): Promise<boolean> {
  const ready = credential?.untilReady();
  return ready === undefined || waitBeforeSending(exchange, deadlineAt, ready);
}

/**
 * Returns the handshake. It holds a place in the concurrency limit until it is answered or has failed. Returns undefined if the client has
 * left.
 *
 * @param deadlineAt `performance.now()`
 */
async function toHandshake(
  options: HandshakeOptions,
  exchange: Forwardable,
  route: UpstreamRoute,
  assertion: string | undefined,
  deadlineAt: number,
  leavePlace: () => void,
): Promise<Handshake | undefined> {
  const { operation, caller, trail } = exchange;
  const { credential } = route;
  const target: Target = options.targets.pick(operation.upstream, caller.mode);
  let sentAt = performance.now();
  let hasEnded = false;

  function end(status: number | undefined, error: GatewayError | undefined): void {
    if (hasEnded) return;
    hasEnded = true;
    leavePlace();
    const failure = status !== undefined && status >= 500 ? status : error;
    options.targets.noteResult(target, attemptResultOf(status, error), sentAt, failure);
  }

  let sent: CredentialHeader | undefined;
  try {
    if (!target.origin.startsWith('http')) {
      const cause = new Error('a contract cannot answer for a WebSocket');
      throw new GatewayError('upstream_unreachable', { cause });
    }
    // A probe may have become due in the queue. The header is made only now, because it may spend the turn of this probe, and nothing may
    // refuse the request after that.
    if (!(await waitForCredential(credential, exchange, deadlineAt))) {
      end(undefined, undefined);
      return undefined;
    }
    sent = credential?.header(operation.provesCredential);
  } catch (error) {
    end(undefined, undefined);
    throw error;
  }
  sentAt = performance.now();
  trail.target = target.origin;
  trail.attempts = 1;
  return {
    origin: target.origin,
    headers: headersFor(exchange, route, assertion, options.traceparentFor(trail), sent),
    timeoutMs: Math.max(1, deadlineAt - sentAt),
    idleTimeoutMs: route.idleTimeoutMs,
    answered(status) {
      // The credential is latched before `end` gives the place to the next handshake, which would otherwise send it again.
      if (sent !== undefined && isLoginRefusal(status)) credential?.refused(sent, status);
      else if (sent !== undefined && status === 101) credential?.accepted(sent, operation.provesCredential);
      end(status, undefined);
    },
    failed: (error) => end(undefined, error),
    refusalOf(status, answerHeaders, body) {
      if (sent !== undefined && isLoginRefusal(status)) return new GatewayError('upstream_auth_failed');
      if (status >= 400)
        return toUpstreamRefusal(status, answerHeaders, body, exchange, missingCredentialCause(route, operation));
      return upstreamFailure('upstream_bad_response', 'http_upgrade_failed');
    },
  };
}

function headersFor(
  exchange: Forwardable,
  { credential, sendClientAddress }: UpstreamRoute,
  assertion: string | undefined,
  traceparent: string,
  sent: CredentialHeader | undefined,
): Handshake['headers'] {
  const identity = { assertion, credentialHeader: credential?.headerName, traceparent, sendClientAddress };
  const flat = headersIn({ lines: upstreamRequestLines(exchange, identity, true), headers: [] });
  const headers: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) headers[flat[i] as string] = flat[i + 1] as string;
  delete headers['accept-encoding'];
  for (const name of HANDSHAKE_FIELDS) {
    const value = exchange.headers.get(name);
    if (value !== undefined) headers[name] = value;
  }
  if (sent !== undefined) headers[sent.name] = sent.value;
  return headers;
}

/**
 * Waits for the place of a WebSocket handshake. The handshake holds the place until it is answered or has failed; an open WebSocket holds
 * no place. Rejects with upstream_overloaded.
 *
 * @param deadlineAt `performance.now()`
 * @returns the function that gives the place back; undefined if the client has left, and the trail then has status 499
 */
function placeForHandshake(
  exchange: Forwardable,
  route: UpstreamRoute,
  deadlineAt: number,
): Promise<(() => void) | undefined> {
  const { response, trail } = exchange;
  return new Promise((resolve, reject) => {
    const place = new ExchangePlace(exchange, route.concurrency, {
      begin() {
        response.off('close', leave);
        resolve(() => void place.leave());
      },
      clientLeft,
      refuse(thrown) {
        response.off('close', leave);
        reject(thrown);
      },
    });

    function clientLeft(): void {
      response.off('close', leave);
      trail.clientLeft();
      resolve(undefined);
    }

    function leave(): void {
      place.leaveQueue();
      clientLeft();
    }

    // This listener comes first, because the trail needs the status 499 before the listener that ends and logs the exchange runs.
    response.prependListener('close', leave);
    place.take(deadlineAt);
  });
}
