// Rehearses a request. Sends it to a listener on a free port of this machine, whose pipeline has the steps of stand-ins.ts, and reports the
// result.

import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { ANY_KEY } from '../../auth/capability.ts';
import type { Configuration } from '../../configuration.ts';
import { closeAtOnce, listen } from '../../edge/connections/listen.ts';
import { createIds } from '../../edge/ids.ts';
import { createRefusals } from '../../edge/refusal/refusals.ts';
import { PublicServer, withoutUpgrades } from '../../edge/server.ts';
import type { Trail } from '../../exchange/trail.ts';
import type { LogLine } from '../../explain/log-line.ts';
import { openStreamsMaxOf } from '../../limits/limit-rules.ts';
import { createLineOf } from '../../observe/log/line.ts';
import { createPipeline } from '../../pipeline.ts';
import { createRehearsedSteps, type RehearsalParts } from './stand-ins.ts';

export interface RehearsedRequest {
  readonly method: string;
  readonly target: string;
  /** Flat names and values. */
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
  /** The address of the client; undefined if unknown. */
  readonly clientAddress: string | undefined;
}

interface RehearsalResult {
  readonly line: LogLine;
  /** The answer of a refusal; undefined if no stage refuses the request. */
  readonly refusal: { readonly status: number; readonly body: unknown } | undefined;
}

/** Rehearses a request. Rejects with an Error for operators if the request cannot be sent. */
export async function rehearse(asked: RehearsedRequest, parts: RehearsalParts): Promise<RehearsalResult> {
  const { publicUrl, limits, timeouts } = parts.configuration.config.gateway;
  const refusals = createRefusals({ publicUrl, countRefusal: () => undefined });
  const finished = Promise.withResolvers<Trail>();
  const handlers = withoutUpgrades(createPipeline(createRehearsedSteps(asked.clientAddress, parts)));
  const { server } = new PublicServer({
    ...limits,
    ...timeouts,
    constantHeaders: [],
    refusals,
    requestId: createIds(parts.now).requestId,
    usesFastPath: false,
    servingInForce: () => handlers,
    recordExchange: finished.resolve,
  });
  const port = await listen(server, '127.0.0.1', 0);
  try {
    const answer = await send(port, asked, new URL(publicUrl).host);
    const trail = await finished.promise;
    const line = JSON.parse(createLineOf()(trail, 30, parts.now())) as LogLine;
    return {
      line: {
        ...line,
        rehearsed: true,
        limits: limitsOf(trail, parts.configuration),
        ...timesOf(trail, parts.configuration),
      },
      refusal: trail.code === undefined ? undefined : answer,
    };
  } finally {
    await closeAtOnce(server);
  }
}

/** Returns the deadlines of the answer, and the bound of open streams if the answer may be a stream. */
function timesOf({ operation, caller, code }: Trail, { config }: Configuration): object {
  if (operation === undefined || caller === undefined || code !== undefined) return {};
  const { timeoutMs = 0, idleTimeoutMs, maxStreamMs } = config.upstreams[operation.upstream] ?? {};
  const times = { head_ms: operation.timeoutMs ?? timeoutMs, idle_ms: idleTimeoutMs, stream_ms: maxStreamMs };
  if (!(operation.streams || operation.webSocket)) return { times };
  return { times, open_streams_max: openStreamsMaxOf(config.limits, caller) };
}

/** Returns the states of all limits of the request. */
function limitsOf({ limits, charged, caller }: Trail, { config }: Configuration): object[] | undefined {
  const isPerKey = (policy: string) => policy === 'key' || config.limits.extra[policy]?.per === 'key';
  const isUnknown = (policy: string) => caller?.subject === ANY_KEY && isPerKey(policy);
  return limits?.states.map(({ policy, limit, remaining, resetMs }, index) => ({
    policy,
    quota: limit,
    remaining,
    wait_ms: resetMs,
    cost: charged?.[index]?.cost,
    ...(isUnknown(policy) ? { any_key: true } : {}),
    ...(charged?.[index]?.enforce === false ? { shadow: true } : {}),
  }));
}

/** The longest time of a rehearsal. Its stages take milliseconds. */
const PATIENCE_MS = 3000;

async function send(port: number, { method, target, headers, body }: RehearsedRequest, host: string) {
  const has = (name: string) => headers.some((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  const sent = [...headers];
  if (!has('host')) sent.push('Host', host);
  if (body !== undefined && !has('content-type')) sent.push('Content-Type', 'application/json');
  if (body !== undefined && !has('content-length')) sent.push('Content-Length', String(body.length));
  // Without the deadline, a rehearsal would wait forever if its headers announce a body that it does not send, or if it is a CONNECT, which
  // gets no response.
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const outgoing = httpRequest({ host: '127.0.0.1', port, method, path: target, headers: sent, agent: false, signal });
  outgoing.on('error', () => undefined);
  outgoing.end(body);
  const [answer] = await once(outgoing, 'response', { signal });
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return { status: answer.statusCode as number, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}
