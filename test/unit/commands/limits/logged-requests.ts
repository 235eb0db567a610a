// Lines of an access log for the tests of the replay, as `observe/log/line.ts` writes them, without the members that the limits do not
// read.

import type { LoggedRequest } from '../../../../gateway/commands/limits/simulate/logged-request.ts';
import { START_MS } from '../../limits/scenarios.ts';

/** Members of an exchange that was admitted and answered. */
export function exchange(members: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    level: 30,
    time: START_MS + 40,
    stage: 'forward',
    status: 200,
    operation: 'listThings',
    organization: 'org_a',
    tier: 'standard',
    key_id: 'key_1',
    client: '192.0.2.1',
    duration_ms: 38.6,
    decided_at: START_MS,
    msg: 'exchange',
    ...members,
  };
}

/** A request of an organization, so many milliseconds after the start. */
export function recorded(afterMs: number, members: Partial<LoggedRequest> = {}): LoggedRequest {
  return {
    atMs: START_MS + afterMs,
    writtenAtMs: START_MS + afterMs,
    organization: 'org_a',
    tier: 'standard',
    subject: 'key_1',
    issuer: undefined,
    operation: 'listThings',
    client: '192.0.2.1',
    refused: false,
    ...members,
  };
}
