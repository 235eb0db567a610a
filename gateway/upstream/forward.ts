// Stage: sends the checked request to a target of its upstream and hands the answer to the relay. Throws upstream_* codes.

import { Readable } from 'node:stream';
import type { Awaitable, Caller, Checked, Fresh, Recording } from '../exchange.ts';
import { type Guard, sendGuarded } from './guarded.ts';
import { requestHeaders } from './headers.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { type AnswerJudge, Relay } from './relay.ts';
import type { Target, Targets } from './targets.ts';

export interface ForwardOptions {
  readonly targets: Targets;
  /** Headers of every answer, flat. */
  readonly alwaysCarried: readonly string[];
  readonly answers: AnswerJudge;
  timeoutMs(upstream: string): number;
  /** Undefined: the upstream asks for nothing but being sent to. */
  guardOf(upstream: string): Guard | undefined;
  /** A token that proves to the upstream who asks; mostly a look-up. */
  assertionFor(caller: Caller, upstream: string): Awaitable<string>;
  traceId(): string;
  spanId(): string;
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

  async function send(fresh: Fresh): Promise<void> {
    const { operation, caller, trail } = fresh;
    const target = options.targets.pick(operation.upstream, caller.mode);
    trail.target = target.origin;
    let outcome: Outcome = 'abandoned';
    try {
      await sendTo(target, fresh);
      if (trail.status !== 499) outcome = outcomeOf(trail.upstreamStatus, undefined);
    } catch (error) {
      outcome = outcomeOf(trail.upstreamStatus, error);
      throw error;
    } finally {
      options.targets.ended(target, outcome);
    }
  }

  async function sendTo(target: Target, fresh: Fresh): Promise<void> {
    const { operation, caller, trail } = fresh;
    trail.traceId = options.traceId();
    const traceparent = `00-${trail.traceId}-${options.spanId()}-03`;
    const guard = options.guardOf(operation.upstream);
    if (guard !== undefined) return sendThrough(guard, fresh, target, traceparent);
    const assertion = options.assertionFor(caller, operation.upstream);
    const headers = requestHeaders(fresh, {
      assertion: typeof assertion === 'string' ? assertion : await assertion,
      traceparent,
    });
    const body = bodyOf(fresh, headers);
    await relayed(fresh, options.timeoutMs(operation.upstream), (relay) => {
      const { method, path } = lineOf(fresh);
      target.dispatcher.dispatch({ method, path, headers, body }, relay);
    });
  }

  async function sendThrough(guard: Guard, fresh: Fresh, target: Target, traceparent: string): Promise<void> {
    const { operation, caller } = fresh;
    const assertion =
      guard.credential === undefined ? await options.assertionFor(caller, operation.upstream) : undefined;
    const headers = requestHeaders(fresh, { assertion, traceparent });
    await sendGuarded(fresh, {
      guard,
      target,
      timeoutMs: options.timeoutMs(operation.upstream),
      outgoing: { ...lineOf(fresh), headers, body: bodyOf(fresh, headers) },
      relayed: (leftMs, dispatch) => relayed(fresh, leftMs, dispatch),
    });
  }

  /** Resolves when the exchange has ended, rejects with what the client is to be told. */
  function relayed(fresh: Fresh, timeoutMs: number, dispatch: (relay: Relay) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const relay = new Relay(fresh, options.answers, options.alwaysCarried, timeoutMs, resolve, reject);
      if (!relay.ended) dispatch(relay);
    });
  }
}

/** HEAD on an operation that only knows GET runs as GET; the relay leaves the body out. */
function lineOf({ method, operation, path, search }: Checked): { readonly method: string; readonly path: string } {
  const { publicPrefix, upstreamPrefix } = operation;
  const upstreamPath = publicPrefix === upstreamPrefix ? path : upstreamPrefix + path.slice(publicPrefix.length);
  return { method: method === 'HEAD' ? operation.method : method, path: upstreamPath + search };
}

/** The bytes that were checked, or the request itself where the contract says that its body streams. */
function bodyOf(checked: Checked, headers: string[]): Buffer | Readable | null {
  if (checked.rawBody) return checked.rawBody;
  if (!checked.hasBody || checked.operation.body !== 'stream') return null;
  const length = checked.headers.get('content-length');
  if (length !== undefined) headers.push('content-length', length);
  if (checked.headers.has('expect')) checked.response.writeContinue();
  return Readable.from(countedBody(checked), { objectMode: false });
}

async function* countedBody({ request, trail }: Checked): AsyncGenerator<Buffer> {
  // When the upstream stops reading, the client's connection still has an answer to carry.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    trail.bytesIn += (chunk as Buffer).length;
    yield chunk as Buffer;
  }
}
