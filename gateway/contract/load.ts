// All contracts of a configuration → operations and their schemas. Every mistake is collected; with one, nothing is usable.

import type { Mistake } from '../mistakes.ts';
import { normalizeSchemas } from './dialect.ts';
import { type ContractDocument, contractFiles, readContract } from './document.ts';
import type { KnownNames } from './extensions.ts';
import {
  type ContractOperation,
  checkClaims,
  type DocumentDefaults,
  operationsOf,
  unknownOperations,
} from './operations.ts';
import { createSchemas, type Schemas } from './schemas.ts';
import { knownScopes } from './security.ts';

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
  /** Every scope that some operation can ask for. */
  readonly scopes: ReadonlySet<string>;
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
  const documents: ContractDocument[] = [];
  const operations: ContractOperation[] = [];
  const scopes = new Set<string>();
  for (const source of options.sources) {
    for (const [index, glob] of source.contracts.entries()) {
      const files = contractFiles(options.directory, glob);
      if (files.length === 0) {
        const remedy = `Correct the glob; it is relative to ${options.directory}.`;
        mistakes.push(source.mistakeAtGlob(index, `no contract file matches ${glob}.`, remedy));
      }
      for (const file of files) {
        const document = await readContract(file, mistakes);
        if (!document) continue;
        normalizeSchemas(document.root);
        documents.push(document);
        for (const scope of knownScopes(document.root, source)) scopes.add(scope);
        operations.push(...operationsOf(document, source, options.known, mistakes));
      }
    }
  }
  checkClaims(operations, mistakes);
  if (mistakes.length === 0) {
    for (const { id, remedy } of unknownOperations(options.namedOperations, operations)) {
      mistakes.push(options.mistakeAtOperation(id, `no contract has an operation "${id}".`, remedy));
    }
  }
  return { documents, operations, schemas: createSchemas(documents), scopes };
}

/** Compiles every schema now, for `check` and for contracts small enough not to delay the boot. Pushes what does not compile. */
export function compileAll({ operations, schemas }: Contracts, mistakes: Mistake[]): void {
  for (const entry of operations) {
    try {
      schemas.request(entry);
    } catch (error) {
      const reason = `a schema of ${entry.operation.id} cannot be compiled (${error instanceof Error ? error.message : String(error)}).`;
      const place = entry.located.pointer
        .split('/')
        .slice(1)
        .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
      mistakes.push(entry.document.position().mistakeAtKey(place, reason, 'Correct the schema.'));
    }
  }
}
