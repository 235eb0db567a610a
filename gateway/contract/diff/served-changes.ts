// Finds the changes of a reload for clients. Compares the operations of the previous configuration with the operations that replace them.

import type { PublishedChange } from '../../shared/contracts/published-contract.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { createYieldToLoop } from '../yield-to-loop.ts';
import { compareContracts } from './compare.ts';
import { describedServed } from './described.ts';
import type { DiffFinding } from './findings.ts';
import { groupedChanges } from './publications.ts';

/** Compares in slices. Operations of files that have not changed are the same objects, and are left out. */
export async function servedChanges(
  before: readonly ContractOperation[],
  after: readonly ContractOperation[],
): Promise<PublishedChange[]> {
  const [old, fresh] = [new Set(before), new Set(after)];
  const gone = before.filter((operation) => !fresh.has(operation));
  const come = after.filter((operation) => !old.has(operation));
  const pause = createYieldToLoop();
  const findings: DiffFinding[] = [];
  for (const some of compareContracts(describedServed(gone), describedServed(come))) {
    findings.push(...some);
    await pause();
  }
  return groupedChanges(findings);
}
