// The session of the caller, and the other sessions of the same person: GET /session, GET /session/list, DELETE /session/{session_id}.
// Throws resource_missing, session_store_unavailable.

import { GatewayError } from '../../catalogue/errors.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { Session } from '../store/session-store.ts';
import { fromStore } from '../store-away.ts';
import { emptyAnswer, jsonAnswer, type SessionHandler } from './answer.ts';
import type { SessionDeps } from './deps.ts';
import { endAtProvider } from './end-at-provider.ts';

/** Maximum number of sessions in a list. The number is larger than a person may have sessions (`sessions.perPersonMax`). */
const LISTED_MAX = 1000;

export const getSession: SessionHandler = async ({ reader, settings }, { caller }) => {
  const session = reader.sessionOf(caller);
  const { name, email } = session.claims;
  return jsonAnswer({
    ...sessionJson(session),
    subject: session.subject,
    name: textOr(name),
    email: textOr(email),
    organization_id: session.organization,
    scopes: [...caller.scopes].sort(),
    idle_seconds: session.idleMs / 1000,
    cross_site: {
      request_header: settings.requestHeader === undefined ? null : { name: settings.requestHeader, value: '1' },
    },
  });
};

export const listSessions: SessionHandler = async ({ reader, store }, { caller }) => {
  const own = reader.sessionOf(caller);
  const { provider, subject } = own;
  const all = await fromStore(() => store.list({ person: { provider, subject } }, { limit: LISTED_MAX }));
  return jsonAnswer({ data: all.map((one) => ({ ...sessionJson(one), current: one.id === own.id })) });
};

export const endOtherSession: SessionHandler = async (deps, exchange) => {
  const [id = ''] = exchange.pathValues;
  const session = await ownSession(deps, exchange, id);
  const ended = await fromStore(() => deps.live.end(session.id, 'signed_out'));
  if (ended !== undefined) endAtProvider(deps, ended);
  return emptyAnswer();
};

/** Returns a session of the caller. A session of another person gets the same error as an unknown session. */
async function ownSession({ reader, store }: SessionDeps, { caller }: Forwardable, id: string): Promise<Session> {
  const { provider, subject } = reader.sessionOf(caller);
  const session = await fromStore(() => store.get(id));
  if (session?.provider === provider && session.subject === subject) return session;
  throw new GatewayError('resource_missing');
}

/** Returns a session as lists show it. */
export function sessionJson({ id, provider, device, createdAtMs, usedAtMs, endsAtMs }: Session): object {
  return {
    id,
    provider,
    device,
    created_at: new Date(createdAtMs).toISOString(),
    // The last use that is stored. Later uses may not be written yet.
    used_at: new Date(usedAtMs).toISOString(),
    ends_at: new Date(endsAtMs).toISOString(),
  };
}

function textOr(claim: unknown): string | null {
  return typeof claim === 'string' && claim.length <= 320 ? claim : null;
}
