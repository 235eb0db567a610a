// Checks the ports of the gateway: free, or in use by a running gateway.

import { once } from 'node:events';
import { get } from 'node:http';
import { get as getSecurely } from 'node:https';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Finding, fail, ok, reasonOf } from '../finding.ts';

const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
const PATIENCE_MS = 2000;
const ATTEMPTS = 3;
const ATTEMPT_EVERY_MS = 100;

interface PortToCheck {
  readonly check: string;
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** The environment variable of the port. */
  readonly variable: string;
}

export async function checkPort({ check, host, port, isTls, variable }: PortToCheck): Promise<Finding> {
  if (port === 0) return ok(check, `${variable} is 0: the system chooses a free port.`);
  const where = `${host}:${port}`;
  const state = await portState({ host, port, isTls });
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
export async function portState({
  host,
  port,
  isTls,
}: Pick<PortToCheck, 'host' | 'port' | 'isTls'>): Promise<PortState> {
  for (let attempt = 1; ; attempt++) {
    const reason = await listenOnce(host, port);
    if (reason === undefined) return 'free';
    if (reason !== 'EADDRINUSE') return { reason };
    if (await isGateway(LOOPBACK[host] ?? host, port, isTls)) return 'gateway';
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

/** Recognizes the public listener by the request id in its answers, and the admin listener by status 200 of /livez. */
async function isGateway(host: string, port: number, isTls: boolean): Promise<boolean> {
  const options = { host, port, path: '/livez', timeout: PATIENCE_MS, agent: false };
  const request = isTls ? getSecurely({ ...options, rejectUnauthorized: false }) : get(options);
  request.on('timeout', () => request.destroy(new Error('timeout')));
  try {
    const [answer] = await once(request, 'response');
    answer.resume();
    const id: unknown = answer.headers['x-request-id'];
    return answer.statusCode === 200 || (typeof id === 'string' && id.startsWith('req_'));
  } catch {
    return false;
  } finally {
    request.destroy();
  }
}
