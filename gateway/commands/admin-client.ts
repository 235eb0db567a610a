// Asks the gateway that runs on this machine, through its admin listener.

import type { Settings } from '../config/load.ts';

const PATIENCE_MS = 10_000;
/** A listener that is bound to all addresses is found on these. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export interface AdminAnswer {
  readonly status: number;
  readonly said: Readonly<Record<string, unknown>>;
}

export interface AdminClient {
  readonly origin: string;
  /** Undefined: no gateway answers there. */
  ask(method: 'GET' | 'POST', path: string): Promise<AdminAnswer | undefined>;
}

/** @param token the secret of the listener, if there is one */
export function createAdminClient(
  { adminHost, adminPort }: Pick<Settings, 'adminHost' | 'adminPort'>,
  token: string | undefined,
): AdminClient {
  const host = LOOPBACK[adminHost] ?? adminHost;
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${adminPort}`;
  return {
    origin,
    async ask(method, path) {
      const answer = await fetch(origin + path, {
        method,
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(PATIENCE_MS),
      }).catch(() => undefined);
      if (answer === undefined) return undefined;
      const said = (await answer.json().catch(() => ({}))) as AdminAnswer['said'];
      return { status: answer.status, said };
    },
  };
}
