// All contracts of a configuration → operations and their schemas. Every mistake is collected; with one, nothing is usable.

import { existsSync, globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Mistake, suggest } from '../mistakes.ts';
import { shownPath } from '../source.ts';
import { checkClaims, unknownOperations } from './claims.ts';
import { type ContractDocument, createReadContract, type ReadContract, toDocument } from './document.ts';
import type { KnownNames } from './extensions.ts';
import { type ContractOperation, type DocumentDefaults, operationsOf } from './operations.ts';
import { pathOf } from './pointer.ts';
import { createSchemas, type Schemas } from './schemas.ts';
import { createPause, type Pause } from './slices.ts';

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
  /** What the configuration says that operations depend on; equal: with the same documents they would be the same. */
  readonly basis: string;
}

export interface LoadOptions {
  readonly directory: string;
  readonly sources: readonly ContractSource[];
  readonly known: KnownNames;
  /** Operation ids that limits.yaml names. */
  readonly namedOperations: readonly string[];
  mistakeAtOperation(id: string, reason: string, remedy: string): Mistake;
  /** What was loaded before, where it may be used again. */
  readonly earlier?: Earlier | undefined;
}

/** Contracts that are served already, and how to read what has changed since without keeping requests waiting. */
export interface Earlier {
  readonly contracts: Contracts;
  /** Whether a file still is what it was when they were loaded. */
  isUnchanged(file: string): boolean;
  readonly readContract: ReadContract;
}

/** Loads everything; mistakes are pushed and mean that the result must not be served. */
export async function loadContracts(options: LoadOptions, mistakes: Mistake[]): Promise<Contracts> {
  const before = mistakes.length;
  const { sources, known, earlier } = options;
  const basis = JSON.stringify({ sources, known });
  const readDocument = await createReadDocument(earlier);
  const pause = createPause();
  const operationsIn = createOperationsIn(options, basis, mistakes, pause);
  const documents: ContractDocument[] = [];
  const operations: ContractOperation[] = [];
  const owners = new Map<string, string>();
  for (const source of sources) {
    const without = { operations: operations.length, mistakes: mistakes.length };
    for (const file of filesOf(options.directory, source, owners, mistakes)) {
      const document = await readDocument(file, mistakes);
      if (!document) continue;
      documents.push(document);
      operations.push(...(await operationsIn(document, source)));
    }
    if (operations.length === without.operations && mistakes.length === without.mistakes) {
      const remedy = 'List a contract that has paths.';
      mistakes.push(source.mistakeAtGlob(0, 'nothing that is listed here describes an operation.', remedy));
    }
  }
  await pause();
  checkClaims(operations, mistakes);
  await pause();
  if (mistakes.length === before) {
    for (const { id, remedy } of unknownOperations(options.namedOperations, operations)) {
      mistakes.push(options.mistakeAtOperation(id, `no contract has an operation "${id}".`, remedy));
    }
  }
  const scopes = new Set(operations.flatMap(({ operation }) => operation.security.flatMap((one) => one.scopes)));
  const files = new Set([...owners.keys(), ...documents.flatMap((document) => document.files)]);
  const schemas = isSame({ documents, basis }, earlier) ? earlier.contracts.schemas : createSchemas(documents);
  return { documents, operations, schemas, scopes, files, basis };
}

/** Reads what has changed; a file that was listed before and held no document holds none as long as it stays as it is. */
async function createReadDocument(earlier: Earlier | undefined) {
  const readContract = earlier?.readContract ?? (await createReadContract());
  return async function readDocument(file: string, mistakes: Mistake[]): Promise<ContractDocument | undefined> {
    if (earlier?.contracts.files.has(file)) {
      const document = earlier.contracts.documents.find(({ files }) => files[0] === file);
      if ((document?.files ?? [file]).every(earlier.isUnchanged)) return document;
    }
    const content = await readContract(file, mistakes);
    return content && toDocument(file, content);
  };
}

/** The same operations for the same document: what is known by operation, such as compiled schemas, stays good. */
function createOperationsIn({ known, earlier }: LoadOptions, basis: string, mistakes: Mistake[], pause: Pause) {
  return async function operationsIn(document: ContractDocument, source: ContractSource): Promise<ContractOperation[]> {
    if (earlier?.contracts.basis === basis && earlier.contracts.documents.includes(document)) {
      return earlier.contracts.operations.filter((entry) => entry.document === document);
    }
    const operations: ContractOperation[] = [];
    for (const entry of operationsOf(document, source, known, mistakes)) {
      operations.push(entry);
      await pause();
    }
    return operations;
  };
}

function isSame(
  { documents, basis }: Pick<Contracts, 'documents' | 'basis'>,
  earlier: Earlier | undefined,
): earlier is Earlier {
  if (earlier?.contracts.basis !== basis) return false;
  const before = earlier.contracts.documents;
  return documents.length === before.length && documents.every((document, index) => document === before[index]);
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
export async function compileAll({ operations, schemas }: Contracts, mistakes: Mistake[]): Promise<void> {
  const pause = createPause();
  for (const entry of operations) {
    await pause();
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
