// Stage: sends the checked request to a target of its upstream, once there is a place for it, and hands the answer to the relay. Throws
// upstream_* codes.

import type { Awaitable, Caller, Checked, Fresh, Recording, Trail } from '../exchange.ts';
import { sendWithPolicies } from './apply-policies.ts';
import { type AttemptsOptions, sendWithAttempts } from './attempts.ts';
import { upstreamRequestHeaders } from './headers.ts';
import type { Outgoing } from './http1/wire.ts';
import type { Relay } from './relay.ts';
import { isStreamed } from './retry.ts';
import type { UpstreamRoute } from './routes.ts';
import type { Target } from './targets.ts';

export interface ForwardOptions extends AttemptsOptions {
  wayTo(upstream: string): UpstreamRoute;
  /** A token that proves to the upstream who asks; mostly a look-up. */
  assertionFor(caller: Caller, upstream: string): Awaitable<string>;
  /** The `traceparent` of one sending; notes its ids in the trail. */
  traceparentFor(trail: Trail): string;
}

export function createForward(options: ForwardOptions): (fresh: Fresh) => Promise<void> {
  return function forward(fresh) {
    return fresh.recording === undefined ? send(fresh) : sendRecorded(fresh, fresh.recording);
  };

  /** Whatever goes wrong on the way, the recording hears of it. */
  async function sendRecorded(fresh: Fresh, recording: Recording): Promise<void> {
    try {
      await send(fresh);
      // Without an answer kept, the client has left before anything was sent.
      await recording.fail(undefined);
    } catch (error) {
      await recording.fail(error);
      throw error;
    }
  }

  function send(fresh: Fresh): Promise<void> {
    const { operation, caller } = fresh;
    const way = options.wayTo(operation.upstream);
    const deadlineAt = performance.now() + way.timeoutMs;
    if (way.guard?.credential !== undefined) return sendAs(fresh, way, deadlineAt, undefined);
    const assertion = options.assertionFor(caller, operation.upstream);
    if (typeof assertion === 'string') return sendAs(fresh, way, deadlineAt, assertion);
    return assertion.then((made) => sendAs(fresh, way, deadlineAt, made));
  }

  /** @param assertion undefined where the upstream is shown a credential instead */
  function sendAs(fresh: Fresh, way: UpstreamRoute, deadlineAt: number, assertion: string | undefined): Promise<void> {
    const outgoing = (): Outgoing => {
      // Each attempt is a span of its own.
      const headers = upstreamRequestHeaders(fresh, { assertion, traceparent: options.traceparentFor(fresh.trail) });
      return { method: methodOf(fresh), path: pathOf(fresh), headers, body: bodyOf(fresh, headers) };
    };
    if (way.guard !== undefined) return sendWithPolicies(options, fresh, way, way.guard, deadlineAt, outgoing);
    const dispatch = (target: Target, relay: Relay) => void target.dispatcher.dispatch(outgoing(), relay);
    return sendWithAttempts(options, fresh, way, deadlineAt, dispatch);
  }
}

/** HEAD on an operation that only knows GET runs as GET; the relay leaves the body out. */
function methodOf({ method, operation }: Checked): string {
  return method === 'HEAD' ? operation.method : method;
}

function pathOf({ operation, path, search }: Checked): string {
  const { publicPrefix, upstreamPrefix } = operation;
  return (publicPrefix === upstreamPrefix ? path : upstreamPrefix + path.slice(publicPrefix.length)) + search;
}

/** The bytes that were checked, or the request itself where the contract says that its body streams. */
function bodyOf(checked: Checked, headers: string[]): Outgoing['body'] {
  if (checked.rawBody) return checked.rawBody;
  if (!isStreamed(checked)) return null;
  const length = checked.headers.get('content-length');
  if (length !== undefined) headers.push('content-length', length);
  if (checked.headers.has('expect') && checked.trail.attempts === 1) checked.response.writeContinue();
  return countedBody(checked);
}

async function* countedBody({ request, trail }: Checked): AsyncGenerator<Buffer> {
  // When the upstream stops reading, the client's connection still has an answer to carry.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    trail.bytesIn += (chunk as Buffer).length;
    yield chunk as Buffer;
  }
}
