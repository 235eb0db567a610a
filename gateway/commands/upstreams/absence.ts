// Finds out whether anything listens at the address of an upstream, before and during its trial. A trial of an absent service would report
// each of its requests.

import { once } from 'node:events';
import { connect } from 'node:net';
import { filledTemplate } from '../../upstream/path.ts';
import { type Finding, fail } from '../finding.ts';
import type { Backend, BackendRequest } from './backend.ts';

const PATIENCE_MS = 3000;

/**
 * The reasons why a service is absent, by the error of connecting. Other errors are not listed, because the trial itself says more about
 * them.
 */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at',
  ENOTFOUND: 'there is no host of the name in',
  EHOSTUNREACH: 'no network leads to',
  ENETUNREACH: 'no network leads to',
};

/** Returns why the service cannot be reached; undefined if it listens, or if it is a service of the sandbox. */
export async function absenceAt(address: string): Promise<string | undefined> {
  const url = /^https?:\/\//.test(address) ? URL.parse(address) : null;
  if (url === null) return undefined;
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(PATIENCE_MS) });
    return undefined;
  } catch (error) {
    const reason = REASONS[codeOf(error)];
    return reason === undefined ? undefined : `${reason} ${url.origin}`;
  } finally {
    socket.on('error', () => undefined).destroy();
  }
}

/** Returns the code of an error. A name with several addresses fails with an error for each of them. */
function codeOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: readonly { code?: unknown }[] };
  return String(code ?? errors?.[0]?.code ?? '');
}

interface WatchedConnection {
  readonly backend: Backend;
  /** Connects again if the last request has no answer. Resolves with an empty list while the service listens. */
  findings(): Promise<Finding[]>;
}

/**
 * Notices that a service stops during its trial. Without this, the trial would report every later request as a failure.
 *
 * @param address of the service, as in upstreams.yaml
 */
export function watchService(backend: Backend, address: string): WatchedConnection {
  /** The first request since the last answer. */
  let unanswered: BackendRequest | undefined;
  return {
    backend: {
      ...backend,
      async send(asked) {
        const answered = await backend.send(asked);
        unanswered = answered.problem === undefined ? undefined : (unanswered ?? asked);
        return answered;
      },
    },
    async findings() {
      if (unanswered === undefined || (await absenceAt(address)) === undefined) return [];
      const { entry, pathValues, method = entry.operation.method, path, search } = unanswered;
      const target = (path ?? filledTemplate(entry.operation, pathValues)) + search;
      return [
        fail('service', `The service has stopped after ${method} ${target}.`, 'Look at its log, and start it again.'),
      ];
    },
  };
}
