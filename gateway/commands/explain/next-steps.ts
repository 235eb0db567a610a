// Pure: what an operator can do next about a request that was refused or failed. Each step is a command to copy, or names a runbook.

import type { DecisionRecord } from '../../explain/record.ts';

/** Sections of docs/operations.md. */
const RUNBOOKS: Readonly<Record<string, string>> = {
  upstream_auth_failed: 'GatewayCredentialLatched',
  upstream_unreachable: 'GatewayTargetDown',
  upstream_unavailable: 'GatewayBreakerOpen',
  upstream_overloaded: 'GatewayShedding',
  gateway_overloaded: 'GatewayShedding',
  auth_unavailable: 'GatewayKeyStoreAway',
  records_unavailable: 'GatewayKeyStoreAway',
  internal_error: 'GatewayInternalErrors',
};

/** What the key of a caller is refused for. */
const KEY_CODES = /^(api_key|key_mode)_|^insufficient_scope$/;

/** Empty for a request that was answered. */
export function nextStepsOf(record: DecisionRecord): string[] {
  const { code, stage, status } = record;
  if (code === undefined) return [];
  const hasFailed = stage === 'forward' && Number(status) >= 500;
  const runbook = RUNBOOKS[String(code)] ?? (hasFailed ? 'GatewayUpstreamErrors' : undefined);
  return [...commandOf(record), ...(runbook === undefined ? [] : [`runbook ${runbook} in docs/operations.md`])];
}

function commandOf({ code, stage, status, organization, upstream }: DecisionRecord): string[] {
  if (stage === 'match') return ['bin/gateway routes'];
  if (stage === 'forward' && upstream !== undefined && Number(status) >= 500)
    return [`bin/gateway upstreams try ${upstream}`];
  if (organization === undefined) return [];
  if (code === 'rate_limited') return [`bin/gateway limits show --org ${organization}`];
  return KEY_CODES.test(String(code)) ? [`bin/gateway keys list --org ${organization}`] : [];
}
