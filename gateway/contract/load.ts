// All contracts of a configuration → operations and their schemas. Every mistake is collected; with one, nothing is usable.

import type { Mistake } from '../config-errors.ts';
import { checkConflicts, unknownOperations } from './conflicts.ts';
import { type ContractDocument, type ContractReader, toDocument } from './document.ts';
import type { KnownNames } from './extensions.ts';
import { contractFiles, type Listing, listedFiles } from './files.ts';
import { type ContractOperation, type DocumentDefaults, operationsOf } from './operations.ts';
import { pathOf } from './pointer.ts';
import { createSchemas, type Schemas } from './schemas.ts';
import { createYieldToLoop, type YieldToLoop } from './yield-to-loop.ts';

/** One entry of upstreams.yaml, as far as contracts are concerned. */
export type ContractSource = DocumentDefaults & Listing;

/** A document, and what was made of it. */
interface Part {
  readonly document: ContractDocument;
  /** What its entry says that its operations depend on. */
  readonly says: string;
  readonly operations: readonly ContractOperation[];
}

export interface Contracts {
  readonly parts: readonly Part[];
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
  readonly reader: ContractReader;
  /** What was loaded before, where it may be used again. */
  readonly earlier?: Earlier | undefined;
}

/** Contracts that are served already. */
export interface Earlier {
  readonly contracts: Contracts;
  /** Whether a file still is what it was when they were loaded. */
  isUnchanged(file: string): boolean;
}

/** Loads everything; mistakes are pushed and mean that the result must not be served. Their lines come with `locateMistakes`. */
export async function loadContracts(options: LoadOptions, mistakes: Mistake[]): Promise<Contracts> {
  const before = mistakes.length;
  const { sources, earlier } = options;
  const pause = createYieldToLoop();
  const partOf = createPartOf(options, mistakes, pause);
  const parts: Part[] = [];
  const owners = new Map<string, string>();
  for (const source of sources) {
    const mistakesBefore = mistakes.length;
    let operationsHere = 0;
    await pause();
    for (const file of listedFiles(options.directory, source, owners, mistakes)) {
      const part = await partOf(file, source);
      if (!part) continue;
      parts.push(part);
      operationsHere += part.operations.length;
    }
    if (operationsHere === 0 && mistakes.length === mistakesBefore) {
      const remedy = 'List a contract that has paths.';
      mistakes.push(source.mistakeAtGlob(0, 'nothing that is listed here describes an operation.', remedy));
    }
  }
  const operations = parts.flatMap((part) => part.operations);
  await pause();
  checkConflicts(operations, mistakes);
  await pause();
  if (mistakes.length === before) {
    for (const { id, remedy } of unknownOperations(options.namedOperations, operations)) {
      mistakes.push(options.mistakeAtOperation(id, `no contract has an operation "${id}".`, remedy));
    }
  }
  const scopes = new Set(operations.flatMap(({ operation }) => operation.security.flatMap((one) => one.scopes)));
  const documents = parts.map(({ document }) => document);
  const files = new Set([...owners.keys(), ...documents.flatMap((document) => document.files)]);
  const schemas = earlier?.contracts.schemas ?? createSchemas();
  return { parts, documents, operations, schemas, scopes, files };
}

/** Makes what has changed; a file that was listed before and held no document holds none as long as it stays as it is. */
function createPartOf({ known, reader, earlier }: LoadOptions, mistakes: Mistake[], pause: YieldToLoop) {
  const partsBefore = new Map(earlier?.contracts.parts.map((part) => [part.document.files[0], part]));
  const upstreams = new Set(known.upstreams);
  const limits = new Set(known.limits);

  /** Operations may name what the configuration had then, and has not now. */
  function namesAreKnown({ operation: { upstream, extraLimit } }: ContractOperation): boolean {
    return upstreams.has(upstream) && (extraLimit === undefined || limits.has(extraLimit));
  }

  async function documentOf(file: string): Promise<ContractDocument | undefined> {
    if (earlier?.contracts.files.has(file)) {
      const document = partsBefore.get(file)?.document;
      if ((document?.files ?? [file]).every(earlier.isUnchanged)) return document;
    }
    const content = await reader.readContract(file, mistakes);
    return content && toDocument(file, content);
  }

  return async function partOf(file: string, source: ContractSource): Promise<Part | undefined> {
    const document = await documentOf(file);
    if (!document) return undefined;
    const says = textOf(source);
    const part = partsBefore.get(file);
    if (part?.document === document && part.says === says && part.operations.every(namesAreKnown)) return part;
    const operations: ContractOperation[] = [];
    for (const entry of operationsOf(document, source, known, mistakes)) {
      operations.push(entry);
      await pause();
    }
    return { document, says, operations };
  };
}

/** Equal for entries of which the same document makes the same operations. */
function textOf(says: DocumentDefaults): string {
  const { upstream, basePath, security, limit, cost, idempotency, body, response } = says;
  return JSON.stringify([upstream, basePath, security, says.public, limit, cost, idempotency, body, response]);
}

/** Gives mistakes that were named by their place in a contract their lines. */
export async function locateMistakes({ documents }: Contracts, { locate }: ContractReader): Promise<void> {
  for (const document of documents) await document.position().locate(locate);
}

/** Contract files that nobody asked for: most likely somebody forgot to list them. */
export function unlistedFiles(directory: string, { files }: Contracts): string[] {
  return contractFiles(directory, '**').filter((file) => !files.has(file));
}

/** Compiles the schemas of requests now, for `check` and where there are few enough of them. Pushes what does not compile. */
export async function compileAll(
  operations: readonly ContractOperation[],
  schemas: Schemas,
  mistakes: Mistake[],
): Promise<void> {
  const pause = createYieldToLoop();
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
