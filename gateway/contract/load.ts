// Loads all contracts of a configuration with their operations and schemas. Collects all mistakes. If there are any, the result must not be
// served.

import { isRecord, objectAt } from '../shared/is-record.ts';
import type { Mistake } from '../shared/mistakes.ts';
import { checkConflicts, unknownOperations } from './operations/conflicts.ts';
import { crossingTextOf } from './operations/crossing.ts';
import type { KnownNames } from './operations/extensions.ts';
import { type ContractOperation, type DocumentDefaults, operationsOf } from './operations/operations.ts';
import { type ContractDocument, type ContractReader, toDocument } from './reading/document.ts';
import { type ContractPlaces, contractFiles, type Listing, listedFiles } from './reading/files.ts';
import { createSchemas, type Schemas } from './schemas/schemas.ts';
import { createYieldToLoop, type YieldToLoop } from './yield-to-loop.ts';

/** One entry of upstreams.yaml, reduced to the settings that concern contracts. */
export type ContractSource = DocumentDefaults & Listing;

/** A document and the operations made from it. */
interface Part {
  readonly document: ContractDocument;
  /** The settings of the upstreams.yaml entry on which the operations depend, as text. */
  readonly says: string;
  readonly operations: readonly ContractOperation[];
  readonly leftOut: readonly OmittedOperation[];
}

/** An operation that its entry leaves out, by the name that the entry uses. */
interface OmittedOperation {
  readonly entry: string;
  readonly name: string;
}

export interface Contracts {
  readonly parts: readonly Part[];
  readonly documents: readonly ContractDocument[];
  readonly operations: readonly ContractOperation[];
  readonly leftOut: readonly OmittedOperation[];
  readonly schemas: Schemas;
  /** Every scope that some operation requires. */
  readonly scopes: ReadonlySet<string>;
  /** Every listed file and the files that they refer to. */
  readonly files: ReadonlySet<string>;
  /** Whether every operation of every listed file is present. Files and operations with mistakes may be missing. */
  readonly isWhole: boolean;
}

export interface LoadOptions extends ContractPlaces {
  readonly sources: readonly ContractSource[];
  readonly known: KnownNames;
  /** Operation ids that limits.yaml refers to. */
  readonly namedOperations: readonly string[];
  mistakeAtOperation(id: string, reason: string, remedy: string): Mistake;
  readonly reader: ContractReader;
  /** The previous contracts, whose unchanged parts are used again. */
  readonly earlier?: ServedContracts | undefined;
}

/** The contracts that are currently served. */
export interface ServedContracts {
  readonly contracts: Contracts;
  /** Whether a file has not changed since the previous contracts were loaded. */
  isUnchanged(file: string): boolean;
}

/** Loads all contracts. Pushes mistakes, to which `locateMistakes` adds the lines. If there are any, the result must not be served. */
export async function loadContracts(options: LoadOptions, mistakes: Mistake[]): Promise<Contracts> {
  const before = mistakes.length;
  const { sources, earlier } = options;
  const pause = createYieldToLoop();
  const partOf = createPartOf(options, mistakes, pause);
  const parts: Part[] = [];
  const owners = new Map<string, string>();
  let isUnread = false;
  for (const source of sources) {
    const mistakesBefore = mistakes.length;
    let operationsHere = 0;
    await pause();
    const listed = listedFiles(options, source, owners, mistakes);
    isUnread ||= mistakes.length > mistakesBefore;
    for (const file of listed) {
      const mistakesBeforeFile = mistakes.length;
      const part = await partOf(file, source);
      if (!part) isUnread ||= mistakes.length > mistakesBeforeFile;
      if (!part) continue;
      parts.push(part);
      operationsHere += part.operations.length;
    }
    if (operationsHere === 0 && mistakes.length === mistakesBefore) {
      isUnread = true;
      const causes = refusingAll(
        listed.flatMap((file) => parts.find(({ document }) => document.files[0] === file) ?? []),
      );
      // An empty list is reported with the shape of the entry.
      if (listed.length > 0 && causes.length === 0) {
        const reason = 'none of the files listed here is an OpenAPI document with an operation.';
        mistakes.push(source.mistakeAtGlob(0, reason, 'List one that begins with "openapi:" and has paths.'));
      }
      mistakes.push(...causes);
    }
  }
  const operations = parts.flatMap((part) => part.operations);
  await pause();
  const isWhole = mistakes.length === before;
  checkConflicts(operations, mistakes, (entry, reason, remedy) =>
    (sources.find(({ upstream }) => upstream === entry) as ContractSource).mistakeAtEntry(reason, remedy),
  );
  await pause();
  const documents = parts.map(({ document }) => document);
  if (!isUnread) {
    const ids = isWhole ? [] : documents.flatMap(declaredIds);
    for (const { id, remedy } of unknownOperations(options.namedOperations, operations, ids)) {
      const causes = refusingAll(parts.filter(({ document }) => declaredIds(document).includes(id)));
      const unknown = () => options.mistakeAtOperation(id, `no contract has an operation "${id}".`, remedy);
      mistakes.push(...(causes.length > 0 ? causes : [unknown()]));
    }
  }
  const scopes = new Set(operations.flatMap(({ operation }) => operation.security.flatMap((one) => one.scopes)));
  const files = new Set([...owners.keys(), ...documents.flatMap((document) => document.files)]);
  const schemas = earlier?.contracts.schemas ?? createSchemas();
  const leftOut = parts.flatMap((part) => part.leftOut);
  return { parts, documents, operations, leftOut, schemas, scopes, files, isWhole };
}

/** Returns the warnings that say why operations are not served. They are mistakes where something relies on these operations. */
function refusingAll(parts: readonly Part[]): Mistake[] {
  return parts.flatMap(({ document }) => document.warnings.filter(({ refusesAll }) => refusesAll));
}

/** Returns the operation ids of a document, including operations with mistakes. */
function declaredIds({ root }: ContractDocument): string[] {
  const items = Object.values(objectAt(root, 'paths')).filter(isRecord);
  const ids = items.flatMap((item) => Object.values(item).map((one) => (isRecord(one) ? one.operationId : undefined)));
  return ids.filter((id) => typeof id === 'string');
}

/**
 * Returns a function that loads one file, or reuses the previous result if the file is unchanged. An unchanged file without a document
 * is not read again.
 */
function createPartOf({ known, reader, earlier }: LoadOptions, mistakes: Mistake[], pause: YieldToLoop) {
  const partsBefore = new Map(earlier?.contracts.parts.map((part) => [part.document.files[0], part]));
  const upstreams = new Set(known.upstreams);
  const limits = new Set(known.limits);

  /** Returns whether the upstream and limit names of an operation still exist in the configuration. */
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
    const says = textOf(source) + JSON.stringify(known.addressPaths);
    const part = partsBefore.get(file);
    if (part?.document === document && part.says === says && part.operations.every(namesAreKnown)) return part;
    const operations: ContractOperation[] = [];
    const leftOut: OmittedOperation[] = [];
    const onLeftOut = (name: string) => void leftOut.push({ entry: source.upstream, name });
    try {
      for (const entry of operationsOf(document, source, known, mistakes, onLeftOut)) {
        operations.push(entry);
        await pause();
      }
    } catch (error) {
      // The linter has reported the reason.
      if (!document.isBroken) throw error;
    }
    return { document, says, operations, leftOut };
  };
}

/** Serializes the settings that operations depend on, to compare entries. */
function textOf(says: DocumentDefaults): string {
  const { upstream, basePath, security, limit, cost, idempotency, body, response, operations } = says;
  const undeclared = [
    says.undeclaredQuery,
    says.undeclaredMediaTypes,
    says.operationNames,
    says.serverMappings,
    says.ownContract,
    says.health?.path,
  ];
  const ofOperations = [idempotency, body, response, operations, undeclared, crossingTextOf(says)];
  return JSON.stringify([upstream, basePath, security, says.public, limit, cost, ...ofOperations]);
}

/** Adds lines to the mistakes that were located by their place in a contract. */
export async function locateMistakes({ documents }: Contracts, { locate }: ContractReader): Promise<void> {
  for (const document of documents) await document.position().locate(locate);
}

/** Returns contract files that no entry of upstreams.yaml lists, probably by oversight. */
export function unlistedFiles(directory: string, { files }: Contracts): string[] {
  return contractFiles(directory, '**').filter((file) => !files.has(file));
}
