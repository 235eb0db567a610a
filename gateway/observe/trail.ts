// The notes of one exchange, made at arrival. All members exist from the start, so that every trail has one shape.

import type { Trail } from '../exchange.ts';

export function createTrail(id: string, method: string): Trail {
  return {
    id,
    method,
    startedAt: performance.now(),
    stage: 'admit',
    identifiedAt: 0,
    countedAt: 0,
    checkedAt: 0,
    clientAddress: undefined,
    clientRequestId: undefined,
    traceId: undefined,
    operation: undefined,
    tunnel: undefined,
    caller: undefined,
    quota: undefined,
    charged: undefined,
    quotaSource: undefined,
    quotaDecidedAtMs: undefined,
    shadowRefusals: undefined,
    replayed: false,
    recorded: false,
    target: undefined,
    attempts: 0,
    retries: undefined,
    retryBudgetSpent: false,
    upstreamStatus: undefined,
    upstreamMs: undefined,
    forwardedAt: undefined,
    bytesIn: 0,
    bytesOut: 0,
    status: 0,
    code: undefined,
    cause: undefined,
    refusal: undefined,
    violations: undefined,
    answerViolations: undefined,
  };
}
