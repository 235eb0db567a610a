// Stage: sends the checked request to a target of its upstream, within the concurrency limit, and relays the answer. Throws upstream_*
// codes.
//
// The states of one forwarded request in their order, each with the states that follow and the files that hold it:
//
//   prepared   gets the assertion; is changed by rules, takes the lock of its record        queued
//              forward.ts, send-judged.ts
//   queued     waits for its place                                                          sent; ended if the queue is too long
//              upstream/concurrency/exchange-place.ts, upstream/concurrency/fair-queue.ts
//   sent       has a target, and a deadline for its answer                                  judged, relayed or failed
//              upstream/attempts/attempts.ts, upstream/deadlines/exchange-clock.ts
//   judged     rules and credential read the whole answer                                   relayed or failed; sent once more
//              upstream/attempts/judged-attempt.ts
//   relayed    the client gets the answer as it arrives, or once it is checked or stored    ended; failed before the first byte
//              upstream/relay/relay.ts, and the files that its first lines name
//   failed     is sent again if that is safe and paid for                                   sent after a pause; ended by a refusal
//              upstream/attempts/retry-plan.ts
//   ended      gives place, target and deadline back
//              upstream/attempts/attempts.ts
//
// In each state the deadline can pass or the client can leave. Both end the exchange: upstream/attempts/before-sending.ts in the state
// `prepared`, upstream/attempts/attempts.ts in the others.
//
// A WebSocket has no attempts: upstream/handshake.ts takes its place and its target, and sends its one request.
//
// The calls from `forward` to the bytes:
//
//   forward ─> Attempts.run ─> ExchangePlace.take   takes a place, or waits for one
//     ─> Attempts.#begin ─> Targets.pick             picks the target (upstream/targets/targets.ts)
//     ─> dispatch ─> outgoing                       makes the request (upstream/headers/request-lines.ts); with rules or a credential,
//                                                   JudgedAttempt.sendNext comes before
//     ─> Pool.dispatch                              writes it to a connection (http1/client/pool.ts, http1/client/write-request.ts)
//   Relay.onResponseStart, onResponseData           get the answer from the connection (upstream/relay/relay.ts)
//     ─> ClientAnswer ─> response.write             gives it to the client (upstream/relay/client-answer.ts)
//     ─> ErrorBody ─> toUpstreamRefusal             returns the refusal for a status from 400 on (upstream/errors/upstream-errors.ts)
//   Attempts.failed ─> RetryPlan.nextAfter          sends the request again, or ends the exchange with the refusal

import type { Caller } from '../exchange/caller.ts';
import type { Checked, Forwardable, Recording } from '../exchange/exchange.ts';
import type { TrailNotes } from '../exchange/notes.ts';
import type { Outgoing } from '../http1/client/wire.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { Attempts } from './attempts/attempts.ts';
import { isStreamed } from './attempts/retry-plan.ts';
import { withheldCookies } from './headers/cookies.ts';
import { upstreamFieldLines } from './headers/request-lines.ts';
import { samePath } from './path.ts';
import type { Relay } from './relay/relay.ts';
import type { Execute, UpstreamRoute } from './routes.ts';
import { type JudgedOptions, sendJudged } from './send-judged.ts';
import { deliver } from './targets/in-process.ts';
import type { Target } from './targets/targets.ts';

interface ForwardOptions extends Omit<JudgedOptions, 'outgoing'> {
  /** The routes of all upstreams, by name. routes.ts */
  readonly routes: ReadonlyMap<string, UpstreamRoute>;
  /** Returns a signed token that names the caller to the upstream, in most cases from a cache. auth/assertions/assertions.ts */
  assertionFor(caller: Caller, upstream: string): Awaitable<string>;
  /** Throws too_many_streams if no stream may be opened for the caller. streams/open-streams.ts */
  refuseIfFull(exchange: Forwardable): void;
  /** Returns the `traceparent` of one attempt, and notes its ids in the trail. observe/tracing/tracing.ts */
  traceparentFor(trail: TrailNotes): string;
}

export function createForward(options: ForwardOptions): (exchange: Forwardable) => Promise<void> {
  const outgoing = createOutgoing(options);
  const judgedOptions: JudgedOptions = { ...options, outgoing };

  return function forward(exchange) {
    return exchange.recording === undefined ? send(exchange) : sendRecorded(exchange, exchange.recording);
  };

  /**
   * Sends a request with an Idempotency-Key. The recording gets every error, because otherwise the key would stay in use and a repetition
   * would be refused.
   */
  async function sendRecorded(exchange: Forwardable, recording: Recording): Promise<void> {
    try {
      await send(exchange);
      // If no answer has been stored by now, the client left before anything was sent.
      await recording.endWithoutAnswer(undefined);
    } catch (error) {
      await recording.endWithoutAnswer(error);
      throw error;
    }
  }

  function send(exchange: Forwardable): Promise<void> {
    const { operation, caller } = exchange;
    if (operation.streams) options.refuseIfFull(exchange);
    if (operation.cookies !== undefined)
      exchange.trail.note('notSent', withheldCookies(exchange.headers.get('cookie'), operation.cookies));
    const route = options.routes.get(operation.upstream) as UpstreamRoute;
    const deadlineAt = performance.now() + (operation.timeoutMs ?? route.timeoutMs);
    if (route.execute !== undefined)
      return new Attempts(options, exchange, route, deadlineAt, undefined, execute).run();
    const assertion = route.sendsCaller ? options.assertionFor(caller, route.audience) : undefined;
    if (!(assertion instanceof Promise)) return sendAs(exchange, route, deadlineAt, assertion);
    return assertion.then((made) => sendAs(exchange, route, deadlineAt, made));
  }

  /** @param assertion undefined if the upstream is not told who calls */
  function sendAs(
    exchange: Forwardable,
    route: UpstreamRoute,
    deadlineAt: number,
    assertion: string | undefined,
  ): Promise<void> {
    if (route.credential !== undefined || route.requestRules !== undefined || route.answerRules !== undefined)
      return sendJudged(judgedOptions, exchange, route, deadlineAt, assertion);
    return new Attempts(options, exchange, route, deadlineAt, assertion, dispatch).run();
  }

  function dispatch(target: Target, relay: Relay, attempts: Attempts): void {
    target.pool.dispatcher.dispatch(outgoing(attempts), relay);
  }
}

/** Executes an operation that the gateway answers itself. The relay gets the answer in the same calls as from a connection. */
function execute(_: Target, relay: Relay, { exchange, route }: Attempts): void {
  void deliver(relay, () => (route.execute as Execute)(exchange));
}

/** Returns the function that makes the request for the upstream. It is called for each attempt. */
function createOutgoing(options: Pick<ForwardOptions, 'traceparentFor'>): (attempts: Attempts) => Outgoing {
  return function outgoing({ exchange, route, assertion, count }) {
    const { credential, answerRules, sendClientAddress } = route;
    // Each attempt is one span of the trace.
    const traceparent = options.traceparentFor(exchange.trail);
    const identity = { assertion, credentialHeaders: credential?.headerNames, traceparent, sendClientAddress };
    const readsAnswer =
      exchange.operation.answerCheck === 'refuse' || exchange.recording !== undefined || answerRules !== undefined;
    return {
      method: methodOf(exchange),
      path: samePath(exchange.operation, exchange.path) + exchange.search,
      fieldLines: upstreamFieldLines(exchange, identity, readsAnswer),
      headers: lengthHeaders(exchange),
      body: bodyOf(exchange, count === 1),
    };
  };
}

/**
 * Returns the method for the upstream. HEAD on an operation that declares only GET is sent as GET; the client does not get the body
 * (upstream/relay/client-answer.ts).
 */
function methodOf({ method, operation }: Checked): string {
  return method === 'HEAD' ? operation.method : method;
}

const NO_HEADERS: readonly string[] = Object.freeze([]);

/** Returns the `content-length` header of a streamed body, if the client has announced the length. */
function lengthHeaders(checked: Checked): readonly string[] {
  const length = isStreamed(checked) ? checked.headers.get('content-length') : undefined;
  return length === undefined ? NO_HEADERS : ['content-length', length];
}

/**
 * Returns the checked bytes, or the chunks of the request if the contract declares a streamed body. At the first attempt, a client that
 * waits for 100 Continue gets it.
 */
function bodyOf(checked: Checked, isFirst: boolean): Outgoing['body'] {
  if (checked.rawBody) return checked.rawBody;
  if (!isStreamed(checked)) return null;
  if (checked.headers.has('expect') && isFirst) checked.response.writeContinue();
  return countedBody(checked);
}

async function* countedBody({ request, trail, bodyCheck, headers }: Checked): AsyncGenerator<Buffer> {
  const length = Number(headers.get('content-length'));
  // If the upstream stops reading, the loop ends early. `destroyOnReturn: false` then keeps the connection of the client, which the answer
  // needs.
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    trail.bytesIn = bytes;
    if (bodyCheck !== undefined) {
      bodyCheck.push(chunk as Buffer);
      if (bytes === length) bodyCheck.end();
    }
    yield chunk as Buffer;
  }
  bodyCheck?.end();
}
