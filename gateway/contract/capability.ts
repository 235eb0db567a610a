// The capability `contract`: error codes, and what the log and `gateway explain` say about operations and violations.

import { type Capability, type FactsOf, objectsIn, usualNote } from '../catalogue/capability.ts';
import type { NotedViolation } from '../exchange/findings.ts';
import type { Operation } from '../exchange/operation.ts';
import { violationPlace, violationReason } from '../shared/contracts/violation-text.ts';
import { CONTRACT_CODES } from './codes.ts';

const FIELDS = {
  operation: {
    section: 'operation',
    stage: 'match',
    type: 'text',
    forClients: true,
    notes: { operation: usualNote<Operation | undefined>() },
    meaning: 'the `operationId`',
  },
  route: { section: 'operation', stage: 'match', type: 'text', forClients: true, meaning: 'the path of the contract' },
  upstream: {
    section: 'operation',
    stage: 'match',
    type: 'text',
    forClients: false,
    meaning: 'the name of the upstream',
  },
  path: {
    section: 'refusal',
    stage: 'match',
    type: 'text',
    forClients: true,
    meaning: 'the path of a request that no operation has; `{…}` stands for each part that may be a value',
  },
  bytes_in: {
    section: 'size',
    stage: 'validate',
    type: 'bytes',
    forClients: true,
    notes: { bytesIn: usualNote<number>() },
    meaning: 'the body of the request',
  },
  violations: {
    section: 'refusal',
    stage: 'validate',
    type: 'list of objects',
    forClients: true,
    notes: { violations: usualNote<readonly NotedViolation[] | undefined>() },
    meaning: 'place, code and constraint of each violation of the contract, if the request was refused',
  },
} as const;

const REFUSAL_REASONS: Readonly<Record<string, string>> = {
  method_not_allowed: 'operations have this path, none of them with this method',
  method_not_implemented: 'no operation at all has this method',
  version_sunset: 'this version of the operation has ended',
  version_unknown: 'there is no such version',
};

const FACTS: FactsOf<typeof FIELDS, 'code'> = {
  operation: {
    match: (operation, { method, route, upstream }, outcome) =>
      outcome === 'refused' ? undefined : `${operation}: ${method} ${route}, of upstream ${upstream}`,
  },
  route: { toldBy: 'operation' },
  upstream: { toldBy: 'operation' },
  path: { match: (path, { method }) => `${method} ${path}` },
  code: {
    match: (code, _, outcome) =>
      outcome === 'refused' ? (REFUSAL_REASONS[String(code)] ?? 'no operation has this method and path') : undefined,
  },
  bytes_in: { validate: (bytes) => (Number(bytes) > 0 ? `body of ${bytes} bytes` : undefined) },
  violations: { validate: (violations) => objectsIn(violations).map(violationText) },
};

function violationText(violation: Readonly<Record<string, unknown>>): string {
  const { in: place, code } = violation;
  const { text, isName } = violationPlace(violation);
  const where = isName ? `${place} ${text}`.trimEnd() : text;
  return `${where} ${violationReason(violation)} (${code})`;
}

export const CONTRACT = { codes: CONTRACT_CODES, fields: FIELDS, facts: FACTS } as const satisfies Capability;
