// The operations on past changes, which read the events of the caller's organization, and the audit log for operators.

import type { KeyStoreChange } from '../../auth/store/key-store.ts';
import { isoTime } from '../../shared/text.ts';
import type { UsedOperation } from '../../versions/report.ts';
import { deprecationJson, deprecationState } from '../../versions/report.ts';
import { type EventPlace, listAudit, listEvents, type PlacedEvent } from '../audit.ts';
import type { Handlers } from './call.ts';
import { pageOf } from './page.ts';

export const HISTORY: Handlers = {
  async listEvents(deps, call) {
    const position = call.cursors.position();
    const found = await listEvents(deps, {
      organization: call.organization.id,
      behind: position === undefined ? {} : (JSON.parse(position) as EventPlace),
      most: call.limit + 1,
    });
    const nowMs = deps.now();
    return pageOf(call, {
      found,
      positionOf: ({ place }) => JSON.stringify(place),
      toJson: ({ event }) => eventJson(event, nowMs),
    });
  },

  async listAudit(deps, call) {
    const { query, cursors, limit } = call;
    const from = query('from');
    const position = cursors.position();
    const found = await listAudit(deps, {
      organization: query('organization_id'),
      fromMs: from === undefined ? undefined : Date.parse(from),
      before: position === undefined ? undefined : Number(position),
      most: limit + 1,
    });
    return pageOf(call, { found, positionOf: ({ sequence }) => String(sequence), toJson: auditJson });
  },
};

function auditJson({ sequence, atMs, kind, by, organization, key, details }: KeyStoreChange): object {
  const { request_id: requestId = null, by_organization: _, ...others } = details;
  return {
    id: String(sequence),
    at: isoTime(atMs),
    kind,
    by,
    organization_id: organization ?? null,
    key_id: key ?? null,
    request_id: requestId,
    details: others,
  };
}

/** The details of a change that an organization may read. */
const CLIENT_DETAILS = ['before', 'after', 'reason', 'successor', 'ends_at'];

function eventJson(event: PlacedEvent['event'], nowMs: number): object {
  if (event.kind === 'deprecation') return deprecationEvent(event.use, event.atMs, nowMs);
  const { change, isOwn, atMs } = event;
  const { sequence, kind, by, key, details } = change;
  return {
    id: String(sequence),
    at: isoTime(atMs),
    kind,
    // An organization is not told the name of the operator.
    by: isOwn ? by : 'operator',
    key_id: key ?? null,
    request_id: isOwn ? (details.request_id ?? null) : null,
    details: Object.fromEntries(CLIENT_DETAILS.flatMap((name) => (name in details ? [[name, details[name]]] : []))),
  };
}

function deprecationEvent({ deprecation, calls, lastAtMs }: UsedOperation, atMs: number, nowMs: number): object {
  const { operation, method, path, deprecated, sunset, successor, guide } = deprecationJson(deprecation);
  return {
    id: `deprecated:${operation}`,
    at: isoTime(atMs),
    kind: 'operation.deprecated',
    by: null,
    key_id: null,
    request_id: null,
    details: {
      operation_id: operation,
      method,
      path,
      state: deprecationState(deprecation, nowMs),
      deprecated,
      sunset,
      successor,
      guide,
      requests: calls,
      last_used_at: isoTime(lastAtMs),
    },
  };
}
