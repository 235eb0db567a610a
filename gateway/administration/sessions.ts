// The action by which an operator ends the session of a person.

import { GatewayError } from '../catalogue/errors.ts';
import type { Session } from '../sessions/store/session-store.ts';
import type { Actor } from './actor.ts';
import { readAuthority } from './authority.ts';
import type { AdministrationDeps } from './deps.ts';

type EndDeps = Pick<AdministrationDeps, 'store' | 'sessions' | 'now'>;

/**
 * Ends a session on every instance, and notes who has done it.
 *
 * @throws GatewayError resource_missing, session_store_unavailable
 */
export async function endSession(deps: EndDeps, actor: Actor, organization: string, id: string): Promise<Session> {
  const { author } = await readAuthority(deps, actor);
  const ended = await deps.sessions?.end(organization, id);
  if (ended === undefined) throw new GatewayError('resource_missing');
  const { provider, subject } = ended;
  await deps.store.audit.append('session.ended', author, { session: id, provider, subject }, organization);
  return ended;
}
