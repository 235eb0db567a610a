// Client of the admin listener of the gateway that runs on this machine.

import type { Settings } from '../config/settings.ts';

const PATIENCE_MS = 10_000;
/** Loopback addresses of a listener that is bound to all addresses. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

interface AdminAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface AdminClient {
  readonly origin: string;
  /** Resolves with undefined if no gateway answers. */
  ask(method: 'GET' | 'POST', path: string): Promise<AdminAnswer | undefined>;
}

/** @param token the admin token or the viewer token, if one is configured */
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
      const body = (await answer.json().catch(() => ({}))) as AdminAnswer['body'];
      return { status: answer.status, body };
    },
  };
}
