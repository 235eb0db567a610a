// Everything under `/api`: the caller, the concurrency, and then principals or one of the calls that change something although they are a
// GET.
import type { IncomingMessage } from 'node:http';
import type { Account, Login } from './accounts.ts';
import { data, failure, forbidden, invalidParameters, type MailAnswer, noSuchResource, phrased } from './answers.ts';
import { API_BODY_BYTES_MAX, readMailBody } from './body.ts';
import { parseMailJson } from './form.ts';
import type { OAuth } from './oauth.ts';
import type { MailSettings } from './options.ts';
import type { Principals } from './principals.ts';
import type { Rates } from './rates.ts';
import { shownSettings } from './shown-settings.ts';

interface Parts {
  readonly login: Login;
  readonly rates: Rates;
  readonly principals: Principals;
  readonly oauth: Pick<OAuth, 'approve'>;
  readonly settings: Pick<MailSettings, 'settings' | 'settingErrors' | 'useForwarded' | 'publicUrl'>;
  pause(): Promise<void>;
  /** Gets the path of each call that would have changed the state of a real server. */
  onSideEffect(path: string): void;
}

export interface MailRequest {
  readonly request: IncomingMessage;
  readonly address: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** @throws Refused */
export type Administration = (arrived: MailRequest) => Promise<MailAnswer>;

const SIDE_EFFECTS = [
  /^\/api\/reload(?:\/|$)/,
  /^\/api\/update\/(?:spam-filter|webadmin)$/,
  /^\/api\/store\/(?:purge|reindex)\//,
  /^\/api\/spam-filter\/train\/(?:start|reset|stop|delete)$/,
];

export function createAdministration(parts: Parts): Administration {
  const { login, rates, principals, oauth, settings, pause, onSideEffect } = parts;

  async function dispatch({ request, path, query }: MailRequest, caller: Account): Promise<MailAnswer> {
    const body = await readMailBody(request, API_BODY_BYTES_MAX);
    await pause();
    const method = request.method ?? '';
    const segments = path.split('/').slice(2);
    if (segments[0] === 'principal') return principals.answer({ caller, method, segments, query, body });
    if (path === '/api/oauth' && method === 'POST') return data(oauth.approve(codeIn(body), caller.name));
    if (method === 'GET' && path === '/api/settings/keys') {
      if (!caller.permissions.has('settings-list')) throw forbidden();
      return data(shownSettings(settings, query));
    }
    if (path === '/api/restart') throw failure('unsupported', { details: 'Restart is not supported' });
    if (method !== 'GET' || !SIDE_EFFECTS.some((pattern) => pattern.test(path))) throw noSuchResource();
    if (!caller.permissions.has('settings-reload')) throw forbidden();
    const isTrial = path === '/api/reload' && query.has('dry-run');
    if (!isTrial) onSideEffect(path);
    return data(path === '/api/reload' ? { errors: settings.settingErrors, warnings: {} } : null);
  }

  return async function administer(arrived) {
    const { request, address } = arrived;
    if (request.method === 'OPTIONS') return preflight();
    const caller = await login(request.headers.authorization, address, false);
    const leave = rates.enter(caller);
    try {
      return await dispatch(arrived, caller);
    } finally {
      leave();
    }
  };
}

/** Of a client on another device, which the user has read there. */
function codeIn(body: Buffer | undefined): string {
  const { type, code } = (parseMailJson(body?.toString() ?? '') ?? {}) as Readonly<Record<string, unknown>>;
  if (type !== 'device' || typeof code !== 'string') throw invalidParameters();
  return code;
}

/** Without authentication, and with a length for a body that never comes. */
function preflight(): MailAnswer {
  const { status, headers, body } = phrased(204);
  return { status, headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) }, body: '' };
}
