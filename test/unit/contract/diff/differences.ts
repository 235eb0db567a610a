// Two documents written in a test, and the result of a comparison: `breaking request-bound-narrowed`.

import { compareContracts } from '../../../../gateway/contract/diff/compare.ts';
import { type Described, describedAll } from '../../../../gateway/contract/diff/described.ts';
import type { DiffFinding } from '../../../../gateway/contract/diff/findings.ts';
import { operationsOf } from '../../../../gateway/contract/operations/operations.ts';
import type { JsonObject } from '../../../../gateway/contract/pointer.ts';
import { toDocument } from '../../../../gateway/contract/reading/document.ts';
import { normalizeSchemas } from '../../../../gateway/contract/schemas/dialect.ts';
import type { Mistake } from '../../../../gateway/shared/mistakes.ts';

/** Without the linter, which takes longer than everything else together. */
function describe(document: object): Described[] {
  const root = structuredClone(document) as JsonObject;
  const hasNames = normalizeSchemas(root);
  const mistakes: Mistake[] = [];
  const made = toDocument('it.yaml', {
    root,
    files: ['it.yaml'],
    warnings: [],
    hasNames,
    isSwagger: false,
    isBroken: false,
  });
  const known = { upstreams: ['it'], limits: [] };
  const operations = [...operationsOf(made, { upstream: 'it', public: true }, known, mistakes)];
  if (mistakes.length > 0) throw new Error(JSON.stringify(mistakes));
  return describedAll(operations);
}

export function findingsOf(old: object, fresh: object): DiffFinding[] {
  return [...compareContracts(describe(old), describe(fresh))].flat();
}

/** Level and rule of each, sorted. */
export function rulesOf(old: object, fresh: object): string[] {
  return findingsOf(old, fresh)
    .map(({ level, rule }) => `${level} ${rule}`)
    .sort();
}

/** A document around one operation; `rest` are members of the document. */
export function documentOf(operation: object, rest: object = {}, template = '/v1/things', item: object = {}): object {
  return {
    openapi: '3.1.1',
    info: { title: 'Things', version: '1' },
    paths: { [template]: { ...item, post: { responses: { 200: { description: 'done' } }, ...operation } } },
    ...rest,
  };
}

const json = (schema: unknown) => ({ 'application/json': { schema } });

/** The schema of the request body, or of the answer. */
export const inBody = {
  request: (schema: unknown, rest: object = {}) => documentOf({ requestBody: { content: json(schema) } }, rest),
  response: (schema: unknown, rest: object = {}) =>
    documentOf({ responses: { 200: { description: 'done', content: json(schema) } } }, rest),
};
