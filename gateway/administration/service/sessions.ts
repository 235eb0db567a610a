// Operations about the sessions of people, for operators.

import type { Session } from '../../sessions/store/session-store.ts';
import { endSession } from '../sessions.ts';
import type { Handlers } from './call.ts';
import { pageOf } from './page.ts';

export const SESSIONS_OF_ORGANIZATIONS: Handlers = {
  async listOrganizationSessions({ sessions }, call) {
    const page = { after: placeIn(call.cursors.position()), limit: call.limit + 1 };
    const found = await sessions?.list(call.path('organization_id'), page);
    return pageOf(call, {
      found: found ?? [],
      positionOf: ({ createdAtMs, id }) => `${createdAtMs} ${id}`,
      toJson: sessionJson,
    });
  },

  async endOrganizationSession(deps, call) {
    const ended = await endSession(deps, await call.actor(), call.path('organization_id'), call.path('session_id'));
    return { body: sessionJson(ended) };
  },
};

function placeIn(position: string | undefined): Pick<Session, 'createdAtMs' | 'id'> | undefined {
  const [createdAtMs, id] = position?.split(' ') ?? [];
  return createdAtMs === undefined || id === undefined ? undefined : { createdAtMs: Number(createdAtMs), id };
}

function sessionJson({ id, organization, provider, subject, device, createdAtMs, usedAtMs, endsAtMs }: Session) {
  return {
    id,
    organization_id: organization,
    provider,
    subject,
    device,
    created_at: new Date(createdAtMs).toISOString(),
    used_at: new Date(usedAtMs).toISOString(),
    ends_at: new Date(endsAtMs).toISOString(),
  };
}
