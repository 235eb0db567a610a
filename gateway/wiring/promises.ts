// Whether contracts keep what has been published, as part of checking a configuration: before a start, a reload, and by `check`.

import { join } from 'node:path';
import type { ConfigDraft } from '../config/load.ts';
import type { Mistake } from '../config-errors.ts';
import { type BaselineContract, type BaselineResult, checkBaseline, readBaseline } from '../contract/diff/baseline.ts';
import type { Contracts } from '../contract/load.ts';
import type { ContractOperation } from '../contract/operations.ts';
import type { Locate } from '../contract/positions.ts';

/** What was compared, and what came of it. */
export interface Promises extends BaselineResult {
  readonly promised: readonly BaselineContract[];
  readonly operations: readonly ContractOperation[];
  readonly exceptions: string;
}

export interface KeepOptions {
  readonly contractsDirectory: string;
  /** What was compared before, and whether a file still is what it was then. */
  readonly earlier: { readonly promises: Promises; isUnchanged(file: string): boolean } | undefined;
  readonly nowMs: number;
  /** Whether exceptions end: they do for `check`, and not for a start, which must not fail at midnight with nothing changed. */
  readonly exceptionsEnd: boolean;
  readonly locate: Locate;
}

const nothing: Promises = { promised: [], operations: [], exceptions: '[]', unused: [], unpublished: [] };

/** Compares with what was published, if the configuration says where that is. Pushes mistakes. */
export async function keepPromises(
  { gateway, breaking }: ConfigDraft,
  contracts: Contracts,
  { contractsDirectory, earlier, nowMs, exceptionsEnd, locate }: KeepOptions,
  mistakes: Mistake[],
): Promise<Promises> {
  // What has mistakes may lack operations for that reason alone.
  if (gateway?.publishedContracts === undefined || mistakes.length > 0) return nothing;
  const former = earlier?.promises;
  const formerOf = (file: string) =>
    earlier?.isUnchanged(file) === true ? former?.promised.find((promise) => promise.file === file) : undefined;
  const promised = readBaseline(join(contractsDirectory, gateway.publishedContracts), formerOf, mistakes);
  const { operations } = contracts;
  const exceptions = JSON.stringify([breaking, gateway.versions, gateway.operations]);
  if (former?.exceptions === exceptions && isSame(former.promised, promised) && isSame(former.operations, operations))
    return former;
  const endOf = (sunset: string | undefined) => sunset !== undefined && Date.parse(sunset) <= nowMs;
  const kept = await checkBaseline(
    {
      promised,
      served: operations,
      exceptions: breaking,
      today: exceptionsEnd ? new Date(nowMs).toISOString().slice(0, 10) : undefined,
      hasEnded: ({ id, version }) =>
        endOf(gateway.operations[id]?.sunset) || endOf(gateway.versions[version ?? '']?.sunset),
    },
    mistakes,
  );
  for (const { document } of promised) await document.position().locate(locate);
  return { promised, operations, exceptions, ...kept };
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
