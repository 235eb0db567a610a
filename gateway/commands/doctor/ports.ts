// Checks whether the ports of the gateway are free, or in use by a running gateway.

import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { get as getSecurely } from 'node:https';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Finding, fail, ok, reasonOf } from '../finding.ts';

const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
const PATIENCE_MS = 2000;
const ATTEMPTS = 3;
const ATTEMPT_EVERY_MS = 100;

interface Listener {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly isAdmin: boolean;
}

interface PortToCheck extends Listener {
  readonly check: string;
  /** The environment variable of the port. */
  readonly variable: string;
}

export async function checkPort(listener: PortToCheck): Promise<Finding> {
  const { check, host, port, variable } = listener;
  if (port === 0) return ok(check, `${variable} is 0: the system chooses a free port.`);
  const where = `${host}:${port}`;
  const state = await portState(listener);
  if (state === 'free') return ok(check, `${where} is free.`);
  if (state === 'gateway') return ok(check, `${where} is served by a running gateway.`);
  if (state === 'taken')
    return fail(check, `${where} is in use by another program.`, `End that program, or set ${variable}.`);
  return fail(
    check,
    `${where} cannot be listened on (${state.reason}).`,
    `Set ${variable} to a port that this account may open.`,
  );
}

/** `gateway`: a gateway listens there; `taken`: another program does. */
type PortState = 'free' | 'gateway' | 'taken' | { readonly reason: string };

/** Tries to listen for a moment. Tries again if the port is in use, because another command may be trying. */
export async function portState(listener: Listener): Promise<PortState> {
  for (let attempt = 1; ; attempt++) {
    const reason = await listenOnce(listener.host, listener.port);
    if (reason === undefined) return 'free';
    if (reason !== 'EADDRINUSE') return { reason };
    if (await isGateway(listener)) return 'gateway';
    if (attempt === ATTEMPTS) return 'taken';
    await sleep(ATTEMPT_EVERY_MS);
  }
}

/** Returns why listening fails; undefined if it succeeds. */
async function listenOnce(host: string, port: number): Promise<string | undefined> {
  const server = createServer().listen({ host, port, exclusive: true });
  try {
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return reasonOf(error);
  } finally {
    server.close();
  }
}

/** The public listener itself answers this path, so the probe is not counted as a refused request. */
const PUBLIC_PATH = '/.well-known/jwks.json';

/** Recognizes the public listener by the request id in its answers, and the admin listener by status 200 of /livez. */
async function isGateway(where: Listener): Promise<boolean> {
  if (where.isAdmin) return (await answerTo(where, '/livez'))?.statusCode === 200;
  const id = (await answerTo(where, PUBLIC_PATH))?.headers['x-request-id'];
  return typeof id === 'string' && id.startsWith('req_');
}

/** Resolves with the head of the answer; undefined without an answer. */
async function answerTo({ host, port, isTls }: Listener, path: string): Promise<IncomingMessage | undefined> {
  const options = { host: LOOPBACK[host] ?? host, port, path, timeout: PATIENCE_MS, agent: false };
  const request = isTls ? getSecurely({ ...options, rejectUnauthorized: false }) : get(options);
  request.on('timeout', () => request.destroy(new Error('timeout')));
  try {
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    answer.resume();
    return answer;
  } catch {
    return undefined;
  } finally {
    request.destroy();
  }
}
