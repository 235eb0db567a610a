// Asks the gateway that runs on this machine, through its admin listener.

import type { Settings } from '../../config/load.ts';
import type { ResetReport, Usage, UsageReport } from '../../limits/usage.ts';
import type { CommandContext } from '../context.ts';

const PATIENCE_MS = 10_000;
/** A listener that is bound to all addresses is found on these. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Ends the command with a sentence when no gateway answers. */
export function createRemoteUsage(
  { fail }: Pick<CommandContext, 'fail'>,
  { adminHost, adminPort }: Pick<Settings, 'adminHost' | 'adminPort'>,
  token: string | undefined,
): Usage {
  const host = LOOPBACK[adminHost] ?? adminHost;
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${adminPort}`;

  async function ask(method: 'GET' | 'POST', path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
    const answer = await fetch(`${origin}${path}?${new URLSearchParams(query)}`, {
      method,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).catch(() =>
      fail(`No gateway answers at ${origin}. Without REDIS_URL its memory is the only place that has the counters.`),
    );
    const said = (await answer.json().catch(() => ({}))) as { readonly code?: string; readonly error?: string };
    if (answer.ok) return said;
    if (answer.status === 404 && said.code === 'organization_unknown') return undefined;
    return fail(`The gateway at ${origin} answered ${answer.status}: ${said.error ?? 'no reason given'}`);
  }

  return {
    show: async (organization) => (await ask('GET', '/limits', { organization })) as UsageReport | undefined,
    reset: async (organization, by) =>
      (await ask('POST', '/limits/reset', { organization, by })) as ResetReport | undefined,
  };
}
