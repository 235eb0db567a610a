// All contracts of a configuration → operations and their schemas. Every mistake is collected; with one, nothing is usable.

import { existsSync, globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Mistake, suggest } from '../mistakes.ts';
import { shownPath } from '../source.ts';
import { checkClaims, unknownOperations } from './claims.ts';
import { normalizeSchemas } from './dialect.ts';
import { type ContractDocument, createReadContract } from './document.ts';
import type { KnownNames } from './extensions.ts';
import { type ContractOperation, type DocumentDefaults, operationsOf } from './operations.ts';
import { pathOf } from './pointer.ts';
import { createSchemas, type Schemas } from './schemas.ts';

/** One entry of upstreams.yaml, as far as contracts are concerned. */
export interface ContractSource extends DocumentDefaults {
  /** Globs below the contracts directory. */
  readonly contracts: readonly string[];
  /** Names the line of a glob that matches nothing. */
  mistakeAtGlob(index: number, reason: string, remedy: string): Mistake;
}

export interface Contracts {
  readonly documents: readonly ContractDocument[];
  readonly operations: readonly ContractOperation[];
  readonly schemas: Schemas;
  /** Every scope that some operation asks for. */
  readonly scopes: ReadonlySet<string>;
  /** Every file that was read, and those that they refer to. */
  readonly files: ReadonlySet<string>;
}

export interface LoadOptions {
  readonly directory: string;
  readonly sources: readonly ContractSource[];
  readonly known: KnownNames;
  /** Operation ids that limits.yaml names. */
  readonly namedOperations: readonly string[];
  mistakeAtOperation(id: string, reason: string, remedy: string): Mistake;
}

/** Loads everything; mistakes are pushed and mean that the result must not be served. */
export async function loadContracts(options: LoadOptions, mistakes: Mistake[]): Promise<Contracts> {
  const before = mistakes.length;
  const readContract = await createReadContract();
  const documents: ContractDocument[] = [];
  const operations: ContractOperation[] = [];
  const owners = new Map<string, string>();
  for (const source of options.sources) {
    const without = { operations: operations.length, mistakes: mistakes.length };
    for (const file of filesOf(options.directory, source, owners, mistakes)) {
      const document = await readContract(file, mistakes);
      if (!document) continue;
      normalizeSchemas(document.root);
      documents.push(document);
      operations.push(...operationsOf(document, source, options.known, mistakes));
    }
    if (operations.length === without.operations && mistakes.length === without.mistakes) {
      const remedy = 'List a contract that has paths.';
      mistakes.push(source.mistakeAtGlob(0, 'nothing that is listed here describes an operation.', remedy));
    }
  }
  checkClaims(operations, mistakes);
  if (mistakes.length === before) {
    for (const { id, remedy } of unknownOperations(options.namedOperations, operations)) {
      mistakes.push(options.mistakeAtOperation(id, `no contract has an operation "${id}".`, remedy));
    }
  }
  const scopes = new Set(operations.flatMap(({ operation }) => operation.security.flatMap((one) => one.scopes)));
  const files = new Set([...owners.keys(), ...documents.flatMap(({ dependencies }) => dependencies)]);
  return { documents, operations, schemas: createSchemas(documents), scopes, files };
}

/** The contract files that an entry lists, each once; `owners` remembers who listed them. */
function filesOf(
  directory: string,
  source: ContractSource,
  owners: Map<string, string>,
  mistakes: Mistake[],
): string[] {
  const listed: string[] = [];
  for (const [index, glob] of source.contracts.entries()) {
    const complain = (reason: string, remedy: string) => mistakes.push(source.mistakeAtGlob(index, reason, remedy));
    const files = contractFiles(directory, glob);
    if (files.length === 0) nothingMatches(directory, glob, complain);
    for (const file of files) {
      const owner = owners.get(file) ?? source.upstream;
      if (owner !== source.upstream)
        complain(`${shownPath(file)} is listed by the upstream "${owner}" already.`, 'List it once.');
      else if (!owners.has(file)) listed.push(file);
      owners.set(file, owner);
    }
  }
  return listed;
}

function nothingMatches(directory: string, glob: string, complain: (reason: string, remedy: string) => void): void {
  if (!existsSync(directory)) {
    complain(`the contracts directory ${directory} does not exist.`, 'Create it, or correct GATEWAY_CONTRACTS.');
    return;
  }
  const there = contractFiles(directory, '**').map((file) => relative(directory, file));
  complain(`no contract file matches ${glob} in ${shownPath(directory)}.`, suggest(glob, there));
}

function contractFiles(directory: string, glob: string): string[] {
  return globSync(glob, { cwd: directory })
    .filter((file) => /\.(ya?ml|json)$/.test(file))
    .map((file) => join(directory, file))
    .sort();
}

/** Contract files that nobody asked for: most likely somebody forgot to list them. */
export function unlistedFiles(directory: string, { files }: Contracts): string[] {
  return contractFiles(directory, '**').filter((file) => !files.has(file));
}

/** Compiles every schema now, for `check` and for contracts small enough not to delay the boot. Pushes what does not compile. */
export function compileAll({ operations, schemas }: Contracts, mistakes: Mistake[]): void {
  for (const entry of operations) {
    try {
      schemas.request(entry);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const reason = `a schema of ${entry.operation.id} cannot be compiled (${message}).`;
      const place = pathOf(entry.located.pointer);
      mistakes.push(entry.document.position().mistakeAtKey(place, reason, 'Correct the schema.'));
    }
  }
}
