// What an explanation tells the organization that sent the request: the fields of the log line that an allow list names, and sentences made
// of these fields alone. The list leaves out the upstream and its targets, how the gateway counts and retries, and names of the
// configuration. An error object can say more: `idempotency_outcome_unknown` names the upstream in `sent_to`. Pure.

import type { FactRows } from '../capability.ts';
import type { LogFieldName } from '../log-fields.ts';
import { durationText } from '../shared/duration-text.ts';
import type { ExchangeLine } from '../shared/exchange-filter.ts';
import { hasFailed } from '../shared/refused.ts';
import type { DecisionRecord } from './record.ts';
import { createExchangeReport, type ExchangeReport } from './report.ts';
import { createStageText, FACTS } from './stage-text.ts';

/** `told`: as the line has it. A function: what it returns, in place of the value. */
type Told = 'told' | 'not told' | ((value: unknown) => unknown);

/** An allow list: a field that is missing here does not compile. Most fields that clients are told were in the answer to the request. */
const TOLD: { readonly [Name in LogFieldName]: Told } = {
  level: 'not told',
  time: 'told',
  request_id: 'told',
  method: 'told',
  stage: 'told',
  status: 'told',
  code: 'told',
  duration_ms: 'told',
  stages_ms: 'told',
  trace_id: 'not told',
  worker: 'not told',
  msg: 'not told',
  // The next ones are about the caller's own organization.
  organization: 'told',
  tier: 'told',
  key_id: 'told',
  // A name in gateway.yaml.
  token_issuer: 'not told',
  subject: 'told',
  // It is about the person who has signed in, who may be no concern of the organization.
  session: 'not told',
  mode: 'told',
  hint: 'told',
  required_scopes: 'told',
  held_scopes: 'told',
  // The next ones are about the request itself.
  client: 'told',
  client_request_id: 'told',
  max_bytes: 'told',
  tunnel: 'not told',
  operation: 'told',
  route: 'told',
  upstream: 'not told',
  path: 'told',
  bytes_in: 'told',
  violations: 'told',
  retry_after: 'told',
  limit: 'told',
  limit_remaining: 'told',
  limit_quota: 'told',
  limits: 'told',
  limit_source: 'not told',
  decided_at: 'not told',
  shadow_refused: 'told',
  violated_policies: 'told',
  replayed: 'told',
  recorded: 'told',
  outcome_unknown: 'told',
  target: 'not told',
  queued_ms: 'told',
  // A name of the configuration.
  timeout: 'not told',
  attempts: 'not told',
  retries: 'not told',
  retry_budget_spent: 'not told',
  // The service may have refused the credential of the gateway.
  upstream_status: 'not told',
  upstream_ms: 'told',
  // Names of members and headers that the contract does not declare.
  answer_violations: 'not told',
  withheld: droppedQueryIn,
  compressed: 'told',
  // Addresses and stacks.
  cause: 'not told',
  bytes_out: 'told',
  stream: 'told',
  stream_end: 'told',
  mcp: 'told',
  tool: 'told',
  within: 'told',
};

/** In place of facts whose text names what is not told. */
const FACTS_FOR_CLIENTS: FactRows = {
  mode: {
    authenticate: (mode, { key_id: key, subject, organization, tier }) =>
      `${key === undefined ? `token for ${subject}` : `key ${key}`}, organization ${organization}, tier ${tier}, mode ${mode}`,
  },
  operation: {
    match: (operation, { method, route }, outcome) =>
      outcome === 'refused' ? undefined : `${operation}: ${method} ${route}`,
  },
  queued_ms: { forward: (ms) => `it waited ${durationText(Number(ms))} for its turn` },
  upstream_ms: { forward: (ms) => `the answer began after ${durationText(Number(ms))}` },
};

const reportOf = createExchangeReport(
  createStageText(FACTS.map(([name, fact]) => [name, FACTS_FOR_CLIENTS[name] ?? fact] as const)),
);

/** The report of a line for clients. Everything in it is made from what they may know. */
export function reportForClients(line: ExchangeLine): ExchangeReport {
  return reportOf(toldOf(line), hasFailed(line));
}

function toldOf(line: ExchangeLine): DecisionRecord {
  const members = Object.entries<Told>(TOLD).flatMap(([name, told]) => {
    const value = line[name];
    if (value === undefined || told === 'not told') return [];
    return [[name, told === 'told' ? value : told(value)] as const];
  });
  return Object.fromEntries(members);
}

/** Names that the client itself has sent; the others are of headers and cookies of the service. */
function droppedQueryIn(withheld: unknown): readonly string[] | undefined {
  const names = Array.isArray(withheld) ? withheld.map(String) : [];
  const own = names.filter((name) => name.startsWith('query: '));
  return own.length === 0 ? undefined : own;
}
