// The client of the admin listener of the gateway that runs on this machine.

import type { OperatorSecrets } from '../config/secrets.ts';
import type { Settings } from '../config/settings.ts';
import type { HostProcess } from '../process/host-process.ts';
import { listeningProcess } from './listening-process.ts';

const PATIENCE_MS = 10_000;
/** The time in which a working gateway says that it is alive, however long another answer takes. */
const ALIVE_MS = 1500;
/** Most answers come before this time. Only a later answer makes the client ask whether the gateway is alive. */
const USUAL_MS = 500;
/** Loopback addresses of a listener that is bound to all addresses. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

interface AdminAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface AdminClient {
  readonly origin: string;
  /** Whether the latest answer did not come in time. A stopped process still accepts connections. */
  readonly isSilent: boolean;
  /** Resolves with undefined if no gateway answers. */
  ask(method: 'GET' | 'POST', path: string): Promise<AdminAnswer | undefined>;
}

interface Tokens {
  readonly look: string | undefined;
  readonly act: string | undefined;
}

/** The variable with the user's own token, for which the secret `operator_tokens` contains a line. */
const OWN_TOKEN = 'GATEWAY_OPERATOR_TOKEN';

/**
 * Returns the tokens to try, in order. The user's own token comes first, because the audit log then names the operator. Reading works with
 * any token.
 */
export function tokensOf({ admin, viewer, named }: OperatorSecrets, environment: HostProcess['environment']): Tokens {
  const own = environment[OWN_TOKEN] || undefined;
  return { look: own ?? admin ?? viewer ?? named[0]?.token, act: own ?? admin ?? viewer };
}

/** Returns the sentence for no answer. */
export function absenceText({ origin, isSilent }: Pick<AdminClient, 'origin' | 'isSilent'>): string {
  if (isSilent) return `The gateway at ${origin} takes connections, but does not answer: ${silenceText(origin)}`;
  return `No gateway answers at ${origin}: it does not run, or was started with another ADMIN_HOST or ADMIN_PORT.`;
}

function silenceText(origin: string): string {
  const { pid, isStopped } = listeningProcess(Number(new URL(origin).port)) ?? {};
  if (pid === undefined)
    return 'its process hangs, or is stopped. Its user learns by this command which process it is.';
  if (isStopped) return `its process ${pid} is stopped. "kill -CONT ${pid}" lets it go on.`;
  return `its process ${pid} hangs. Read the end of its log, end it with "kill -KILL ${pid}", and start it again.`;
}

/** Returns the sentence for an unexpected answer. */
export function complaintOf({ origin }: Pick<AdminClient, 'origin'>, { status, body }: AdminAnswer): string {
  const says = `The gateway at ${origin} answered ${status}: ${body.error ?? 'no reason given'}`;
  const isAboutToken = body.code === 'token_required' || body.code === 'admin_token_required';
  return isAboutToken ? `${says} Put your token of the secret operator_tokens into ${OWN_TOKEN}.` : says;
}

export function createAdminClient(
  { adminHost, adminPort }: Pick<Settings, 'adminHost' | 'adminPort'>,
  tokens: Tokens,
  patienceMs = PATIENCE_MS,
): AdminClient {
  const host = LOOPBACK[adminHost] ?? adminHost;
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${adminPort}`;
  let isSilent = false;
  return {
    origin,
    get isSilent() {
      return isSilent;
    },
    async ask(method, path) {
      const token = method === 'GET' ? tokens.look : tokens.act;
      const hang = new AbortController();
      const probe = setTimeout(() => void abortIfSilent(origin, hang), USUAL_MS);
      const answer = await fetch(origin + path, {
        method,
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        signal: AbortSignal.any([AbortSignal.timeout(patienceMs), hang.signal]),
      }).catch((error: Error) => error);
      clearTimeout(probe);
      isSilent = answer instanceof Error && answer.name === 'TimeoutError';
      if (answer instanceof Error) return undefined;
      const body = (await answer.json().catch(() => ({}))) as AdminAnswer['body'];
      return { status: answer.status, body };
    },
  };
}

async function abortIfSilent(origin: string, controller: AbortController): Promise<void> {
  const signal = AbortSignal.timeout(ALIVE_MS);
  await fetch(`${origin}/livez`, { signal }).catch(() => undefined);
  // Its reason is a TimeoutError.
  if (signal.aborted) controller.abort(signal.reason);
}
