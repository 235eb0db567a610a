// Compiles the schemas of contracts before a start or a reload if they are new and few enough. Other schemas are compiled when a request
// needs them.

import type { Mistake } from '../../shared/mistakes.ts';
import type { Contracts, ServedContracts } from '../load.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { pathOf } from '../pointer.ts';
import type { KeptContracts } from '../reading/kept-contracts.ts';
import { createYieldToLoop } from '../yield-to-loop.ts';
import type { Schemas } from './schemas.ts';

/** Above this many operations, schemas are compiled on first use to keep the start quick, because 100 operations take about 0.3 s. */
const COMPILED_AT_BOOT_MAX = 300;

interface CompileOptions {
  /** Compiles large sets of schemas, too. */
  readonly all: boolean;
  readonly earlier: ServedContracts | undefined;
  /** The contracts that former starts have compiled. */
  readonly kept: KeptContracts | undefined;
}

/** Compiles the schemas of documents that neither the earlier configuration nor a former start has compiled. Pushes mistakes. */
export async function compileNew(
  { parts, schemas }: Contracts,
  { all, earlier, kept }: CompileOptions,
  mistakes: Mistake[],
): Promise<void> {
  const served = new Set(earlier?.contracts.documents);
  const added = parts
    .filter(
      ({ document }) =>
        !served.has(document) && !document.isBroken && kept?.isKnown('compiles', document.root) !== true,
    )
    .flatMap(({ operations }) => operations);
  if (!all && added.length > COMPILED_AT_BOOT_MAX) return;
  await compileAll(added, schemas, mistakes);
  // If there is a mistake, operations may be missing, so nothing is noted as compiled.
  if (mistakes.length > 0) return;
  for (const root of new Set(added.map(({ document }) => document.root))) kept?.keepFact('compiles', root);
}

/**
 * Compiles schemas that a start has not compiled, because a former start has found no mistake in them. Works in slices. Has no effect for
 * large sets of schemas.
 */
export async function compileRest({ operations, schemas }: Pick<Contracts, 'operations' | 'schemas'>): Promise<void> {
  if (operations.length <= COMPILED_AT_BOOT_MAX) await compileAll(operations, schemas, []);
}

/** Compiles the schemas of all requests, in slices. Pushes a mistake for each schema that does not compile. */
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
