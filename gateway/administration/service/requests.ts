// The operations on recent requests of the caller, or, with the scope gateway:read, of its organization.

import type { StageReport } from '../../explain/report.ts';
import { explainOwnRequest, listRequests, type RequestLine, type Sight } from '../requests.ts';
import type { Call, Handlers } from './call.ts';
import { pageOf } from './page.ts';

export const REQUESTS: Handlers = {
  async listRequests(deps, call) {
    const { query, cursors, limit } = call;
    const found = await listRequests(deps, sightOf(call), {
      operationId: query('operation_id'),
      status: query('status'),
      code: query('code'),
      key: query('key_id'),
      fromMs: momentIn(query('from')),
      toMs: momentIn(query('to')),
      behind: placeIn(cursors.position()),
      // One more, to know whether there is another page.
      limit: limit + 1,
    });
    return pageOf(call, { found, positionOf: ({ time, request_id: id }) => `${time} ${id}`, toJson: requestJson });
  },

  async explainRequest(deps, call) {
    const { request, verdict, remedy, docUrl, stages } = await explainOwnRequest(
      deps,
      sightOf(call),
      call.path('request_id'),
    );
    const body = { request: requestJson(request), verdict, remedy, doc_url: docUrl, stages: stages.map(stageJson) };
    return { body };
  },
};

/**
 * A caller with this scope sees the requests of the whole organization, in the caller's modes. Other callers see only their own requests.
 */
const SEES_ALL = 'gateway:read';

/** Returns the requests that the caller may see. A live key sees requests in both modes, and a test key only requests in test mode. */
function sightOf({ caller, organization: { id: organization } }: Call): Sight {
  const { mode, scopes, issuer, subject } = caller;
  const modes = mode === 'test' ? { organization, mode } : { organization };
  if (scopes.has(SEES_ALL)) return modes;
  return issuer === undefined ? { ...modes, key: subject } : { ...modes, issuer, subject };
}

function requestJson(line: RequestLine): object {
  return {
    request_id: line.request_id,
    at: new Date(line.time).toISOString(),
    method: line.method,
    path: line.route ?? null,
    operation_id: line.operation ?? null,
    key_id: line.key_id ?? line.subject ?? null,
    status: line.status,
    stage: line.stage,
    code: line.code ?? null,
    duration_ms: line.duration_ms,
  };
}

function stageJson({ stage, outcome, told, duration_ms: durationMs }: StageReport): object {
  const isMeasured = typeof durationMs === 'number' && durationMs >= 0;
  return { stage, outcome, facts: told, ...(isMeasured && { duration_ms: durationMs }) };
}

function placeIn(position: string | undefined) {
  const [atMs, requestId = ''] = position?.split(' ') ?? [];
  return position === undefined ? undefined : { atMs: Number(atMs), requestId };
}

function momentIn(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}
