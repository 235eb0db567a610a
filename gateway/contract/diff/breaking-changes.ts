// Checks that contracts do not break their published versions, before a start, before a reload, and in `check`.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Publication } from '../../shared/contracts/published-contract.ts';
import { closest, type Mistake } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';
import type { Locate } from '../lint/positions.ts';
import type { Contracts } from '../load.ts';
import type { ContractOperation } from '../operations/operations.ts';
import type { KeptContracts } from '../reading/kept-contracts.ts';
import {
  type BaselineComparison,
  type BaselineContract,
  type BaselineResult,
  checkBaseline,
  readBaseline,
} from './baseline.ts';
import { gonePromises, publicationsFile, readPublications } from './publications.ts';

/** The compared contracts and the result. */
export interface BreakingChanges extends BaselineResult {
  readonly promised: readonly BaselineContract[];
  readonly operations: readonly ContractOperation[];
  readonly exceptions: string;
  /** Oldest first. */
  readonly publications: readonly Publication[];
  /** The file of the publications; undefined if none are recorded. */
  readonly publicationsFile: string | undefined;
}

type Sunsets = Readonly<Record<string, { readonly sunset?: string | undefined }>>;

/** The settings about published contracts, and about accepted breaking changes. */
interface PublishedKeys {
  readonly gateway:
    | {
        /** The directory of the published contracts, below the directory of the contracts. */
        readonly publishedContracts?: string | undefined;
        readonly sessions?: object | undefined;
        readonly versions: Sunsets;
        readonly operations: Sunsets;
      }
    | undefined;
  readonly sources: { readonly gateway: Pick<Source, 'mistakeAt'> };
  /** The accepted breaking changes; undefined if a mistake in the configuration may hide one of them. */
  readonly breaking: BaselineComparison['exceptions'] | undefined;
}

interface KeepOptions {
  readonly contractsDirectory: string;
  /** Whether every operation of the configuration is known. */
  readonly isWhole: boolean;
  /** The earlier comparison, and whether a file is unchanged since then. */
  readonly earlier: { readonly breakingChanges: BreakingChanges; isUnchanged(file: string): boolean } | undefined;
  readonly nowMs: number;
  /** Whether exceptions expire: true for `check`, false for a start, which must not fail at midnight without a change. */
  readonly exceptionsEnd: boolean;
  readonly locate: Locate;
  readonly kept: KeptContracts | undefined;
}

const NO_BREAKING_CHANGES: BreakingChanges = {
  promised: [],
  operations: [],
  exceptions: '[]',
  unused: [],
  unpublished: [],
  publications: [],
  publicationsFile: undefined,
};

/** Compares with the published contracts if the configuration names a place for them. Pushes mistakes. */
export async function checkBreakingChanges(
  { gateway, sources, breaking }: PublishedKeys,
  contracts: Contracts,
  { contractsDirectory, isWhole, earlier, nowMs, exceptionsEnd, locate, kept }: KeepOptions,
  mistakes: Mistake[],
): Promise<BreakingChanges> {
  // A contract with mistakes may lack operations only because of these mistakes, so nothing is compared.
  if (gateway?.publishedContracts === undefined || breaking === undefined || !isWhole) return NO_BREAKING_CHANGES;
  const former = earlier?.breakingChanges;
  const formerOf = (file: string) =>
    earlier?.isUnchanged(file) === true ? former?.promised.find((promise) => promise.file === file) : undefined;
  const directory = join(contractsDirectory, gateway.publishedContracts);
  if (!existsSync(directory)) {
    const reason = 'the directory of published contracts does not exist.';
    const likely = closest(gateway.publishedContracts, readdirSync(contractsDirectory));
    const make = 'Run "gateway contract publish", which makes it, or take publishedContracts out of gateway.yaml.';
    const remedy = likely === undefined ? make : `Did you mean "${likely}"?`;
    mistakes.push(sources.gateway.mistakeAt(['publishedContracts'], reason, remedy));
    return NO_BREAKING_CHANGES;
  }
  const promised = readBaseline(directory, formerOf, mistakes);
  const recorded = publicationsFile(directory);
  const record = {
    publications: readPublications(directory, mistakes),
    publicationsFile: existsSync(recorded) ? recorded : undefined,
  };
  const endOf = (sunset: string | undefined) => sunset !== undefined && Date.parse(sunset) <= nowMs;
  const goneOf = gonePromises(directory, record.publications);
  mistakes.push(
    ...goneOf.filter(({ contract }) => !endOf(gateway.versions[contract]?.sunset)).map(({ mistake }) => mistake),
  );
  const { operations } = contracts;
  const exceptions = JSON.stringify([breaking, gateway.versions, gateway.operations]);
  if (former?.exceptions === exceptions && isSame(former.promised, promised) && isSame(former.operations, operations))
    return { ...former, ...record };
  const found: Mistake[] = [];
  const result = await checkBaseline(
    {
      promised,
      hasSessions: gateway.sessions !== undefined,
      served: operations,
      exceptions: breaking,
      today: exceptionsEnd ? new Date(nowMs).toISOString().slice(0, 10) : undefined,
      hasEnded: ({ id, version }) =>
        endOf(gateway.operations[id]?.sunset) || endOf(gateway.versions[version ?? '']?.sunset),
      kept,
    },
    found,
  );
  // Promises without findings may not have been parsed yet.
  if (found.length > 0) for (const promise of promised) await promise.content([])?.document.position().locate(locate);
  mistakes.push(...found);
  return { promised, operations, exceptions, ...result, ...record };
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
