// Operations compiled from a document written in a test, by the same loader as at boot.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadContracts, locateMistakes } from '../../../gateway/contract/load.ts';
import type { ContractOperation } from '../../../gateway/contract/operations/operations.ts';
import { createDirectReader } from '../../../gateway/contract/reading/document.ts';
import type { Schemas } from '../../../gateway/contract/schemas/schemas.ts';
import { toBodyViolations, type Violation } from '../../../gateway/contract/violations/violations.ts';
import type { Mistake } from '../../../gateway/shared/mistakes.ts';
import { temporaryDirectory } from '../../support/directory.ts';

export interface Compiled {
  readonly operations: readonly ContractOperation[];
  readonly schemas: Schemas;
  readonly mistakes: readonly Mistake[];
}

/** Loads a whole document; `says` holds members of its entry in upstreams.yaml. */
export async function compileDocument(document: object, says: object = { public: true }): Promise<Compiled> {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'it.yaml'), JSON.stringify(document, null, 1));
  const mistakes: Mistake[] = [];
  const mistakeAt = (reason: string, remedy: string) => ({ file: 'upstreams.yaml', reason, remedy });
  const source = {
    contracts: ['it.yaml'],
    upstream: 'it',
    mistakeAtGlob: (_: number, reason: string, remedy: string) => mistakeAt(reason, remedy),
    mistakeAtEntry: mistakeAt,
    ...says,
  };
  const reader = createDirectReader();
  const contracts = await loadContracts(
    {
      directory,
      sources: [source],
      known: { upstreams: ['it', 'other'], limits: [] },
      namedOperations: [],
      mistakeAtOperation: (_id, reason, remedy) => mistakeAt(reason, remedy),
      reader,
    },
    mistakes,
  );
  await locateMistakes(contracts, reader);
  rmSync(directory, { recursive: true });
  const { operations, schemas } = contracts;
  return { operations, schemas, mistakes };
}

export const documentOf = (paths: object, rest: object = {}) => ({
  openapi: '3.1.1',
  info: { title: 'It', version: '1' },
  paths,
  ...rest,
});

/** A document of one GET operation with these parameters. */
export function documentWithParameters(path: string, parameters: object[], rest: object = {}) {
  return documentOf({ [path]: { get: { parameters, responses: { 200: { description: 'fine' } } } } }, rest);
}

/** A check of JSON bodies by a schema, telling violations as a client would read them. */
export async function bodyCheck(
  schema: object,
  rest: { readonly openapi?: string; readonly components?: object } = {},
): Promise<(value: unknown, size?: number) => Violation[]> {
  const requestBody = { content: { 'application/json': { schema } } };
  const document = documentOf({ '/': { post: { requestBody, responses: { 200: { description: 'fine' } } } } }, rest);
  const { operations, schemas, mistakes } = await compileDocument(document);
  const [entry] = operations;
  if (!entry) throw new Error(JSON.stringify(mistakes));
  const check = schemas.request(entry).bodies.get('application/json');
  return (value, size = 0) => toBodyViolations(check?.(value, size) ?? [], entry.document.root);
}
