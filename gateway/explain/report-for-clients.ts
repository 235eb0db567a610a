// Makes the explanation for the organization that sent the request. It uses only the members of the log line whose rows have `forClients`.
// An error object can contain more. For example, `idempotency_outcome_unknown` names the upstream in `sent_to`. Pure.

import type { FactRows, LogField } from '../catalogue/capability.ts';
import { LOG_FIELDS } from '../catalogue/log-fields.ts';
import { hasFailed } from '../shared/failed-requests.ts';
import type { ExchangeLine } from '../shared/questions/exchange-filter.ts';
import { durationText } from '../shared/text.ts';
import type { LogLine } from './log-line.ts';
import { createExchangeReport, type ExchangeReport } from './report.ts';
import { createStageText, FACTS } from './stage-text.ts';

/** These facts replace facts for operators whose text uses other members. */
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

/** Reports an exchange to the organization that sent it. */
export function reportForClients(line: ExchangeLine): ExchangeReport {
  return reportOf(publicPartOf(line), hasFailed(line));
}

function publicPartOf(line: ExchangeLine): LogLine {
  const members = Object.entries<LogField>(LOG_FIELDS).flatMap(([name, { forClients }]) => {
    const value = line[name];
    if (value === undefined || forClients === false) return [];
    return [[name, forClients === true ? value : forClients(value)] as const];
  });
  return Object.fromEntries(members);
}
