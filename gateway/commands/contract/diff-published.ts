// The command `gateway contract diff` without documents: shows the changes for clients since the contracts were published, the callers of
// broken operations, and the choices.

import { join } from 'node:path';
import type { Configuration } from '../../configuration.ts';
import type { BreakingException } from '../../contract/diff/baseline.ts';
import { breaksFirst, changesBetween, changeText } from '../../contract/diff/publications.ts';
import type { PublishedChange } from '../../shared/contracts/published-contract.ts';
import { textOf } from '../../shared/file-text.ts';
import type { CommandContext } from '../context.ts';
import { countText, printJson, printLine } from '../print.ts';
import { type Callers, callersText, recentCallers } from './callers.ts';
import { choicesText } from './decisions.ts';
import { NO_PLACE, publishedContractAt, publishedIn, textOfPublished } from './publish.ts';

/** A contract, and its changes since it was published. */
interface ContractChanges {
  readonly name: string;
  /** The day of the last publication; undefined if there was none. */
  readonly published: string | undefined;
  readonly operations: number;
  /** Breaks first. */
  readonly changes: readonly PublishedChange[];
}

/** Replaces the served contract of an entry that no longer exists. */
const NOTHING_SERVED = '{"openapi":"3.1.1","info":{"title":"","version":""},"paths":{}}';

/** Prints the changes. Ends the command with exit code 1 if a change breaks clients and no decision accepts it. */
export async function diffPublished(context: CommandContext, asJson: boolean): Promise<void> {
  const { directory } = publishedIn(context) ?? context.fail(NO_PLACE);
  const configuration = await context.configuration('compare');
  const today = new Date(context.now()).toISOString().slice(0, 10);
  const compared = await comparedWith(configuration, directory, today);
  const changes = compared.flatMap((one) => one.changes);
  const breaking = changes.filter(({ level }) => level === 'breaking');
  const undecided = breaking.filter(({ reason }) => reason === undefined);
  const callers = breaking.length === 0 ? undefined : await recentCallers(context);
  if (asJson) printJson(context, jsonOf(compared, callers));
  else {
    for (const one of compared) for (const line of linesOf(one, callers)) printLine(context, line);
    printLine(context, outcomeOf(compared, undecided));
    if (undecided.length > 0) for (const line of waysOf(undecided, context.now()).split('\n')) printLine(context, line);
  }
  if (undecided.length > 0) context.fail();
}

/** Returns the published contracts that have changed since; empty if the configuration names no place for them. */
export async function changedSincePublished(
  configuration: Configuration,
  contractsDirectory: string,
  nowMs: number,
): Promise<{ readonly contract: string; readonly breaking: number; readonly additive: number }[]> {
  const { publishedContracts } = configuration.config.gateway;
  if (publishedContracts === undefined) return [];
  const today = new Date(nowMs).toISOString().slice(0, 10);
  const compared = await comparedWith(configuration, join(contractsDirectory, publishedContracts), today);
  const counts = compared.map(({ name, changes }) => {
    const breaking = changes.filter(({ level }) => level === 'breaking').length;
    return { contract: name, breaking, additive: changes.length - breaking };
  });
  return counts.filter(({ breaking, additive }) => breaking + additive > 0);
}

async function comparedWith(
  configuration: Configuration,
  directory: string,
  today: string,
): Promise<ContractChanges[]> {
  const { config, breakingChanges } = configuration;
  const accepted = config.breaking.filter(({ until }) => until >= today);
  const served = new Map(publishedContractAt(configuration, '/').map((one) => [one.name, one]));
  const hasEnded = (sunset: string | undefined) => sunset !== undefined && sunset.slice(0, 10) <= today;
  const isServed = (name: string) => served.has(name) || name !== 'session';
  const promised = breakingChanges.promised.map(({ name }) => name).filter(isServed);
  const names = [...new Set([...served.keys(), ...promised])].filter(
    (name) => !hasEnded(config.gateway.versions[name]?.sunset),
  );
  return Promise.all(
    names.map(async (name) => {
      const contract = served.get(name);
      const file = join(directory, `${name}.json`);
      const text = contract === undefined ? NOTHING_SERVED : await textOfPublished(contract);
      const changes = changesSince(file, text, accepted).flatMap((change): PublishedChange[] => {
        const operations = change.operations.filter(({ id }) => !hasEnded(config.gateway.operations[id]?.sunset));
        return operations.length === 0 ? [] : [{ ...change, operations }];
      });
      const published = breakingChanges.publications.findLast((one) => one.contract === name)?.day;
      return { name, published, operations: contract?.operations.length ?? 0, changes };
    }),
  );
}

function changesSince(file: string, text: string, accepted: readonly BreakingException[]): PublishedChange[] {
  const before = textOf(file);
  if (typeof before !== 'string') return [];
  // Changes of one kind are not combined if only some of them are accepted, because each operation needs its own decision.
  const all = changesBetween(before, text, file, []).flatMap((change) => {
    const decided = change.operations.map(({ id }) =>
      accepted.find(({ operation, rule }) => change.level === 'breaking' && rule === change.rule && operation === id),
    );
    const byReason = Map.groupBy(change.operations, (_, index) => decided[index]?.reason);
    return [...byReason].map(([reason, operations]) => ({
      ...change,
      operations,
      ...(reason === undefined ? {} : { reason }),
    }));
  });
  return breaksFirst(all);
}

function linesOf({ name, published, operations, changes }: ContractChanges, callers: Callers | undefined): string[] {
  if (published === undefined) return [`${name}: not promised yet, ${countText(operations, 'operation')}`];
  if (changes.length === 0) return [];
  return [
    `${name}, since it was promised on ${published}:`,
    ...changes.flatMap((change) => {
      const line = `  ${changeText(change)}.`;
      const ids = change.operations.map(({ id }) => id);
      const called = change.level === 'breaking' ? callersText(callers, ids) : undefined;
      return [
        line,
        ...(called === undefined ? [] : [`            ${called}`]),
        ...(change.reason === undefined ? [] : [`            decided: ${change.reason}`]),
      ];
    }),
  ];
}

const PUBLISH = '"bin/gateway contract publish" promises what is new.';

function outcomeOf(compared: readonly ContractChanges[], undecided: readonly PublishedChange[]): string {
  const changes = compared.flatMap((one) => one.changes);
  const breaking = changes.filter(({ level }) => level === 'breaking').length;
  const counts = `${countText(breaking, 'breaking change')}, ${countText(changes.length - breaking, 'additive change')}`;
  if (undecided.length > 0) return `Clients would break: ${counts}.`;
  if (breaking > 0) return `All breaks are decided: ${counts}. ${PUBLISH}`;
  if (changes.length > 0) return `No client breaks: ${counts}. ${PUBLISH}`;
  return compared.some(({ published }) => published === undefined) ? PUBLISH : 'Everything is as it was promised.';
}

function waysOf(undecided: readonly PublishedChange[], nowMs: number): string {
  const decisions = undecided.flatMap(({ rule, operations }) => operations.map(({ id }) => ({ operation: id, rule })));
  return `The gateway does not take this. ${choicesText(decisions, nowMs)}`;
}

function jsonOf(compared: readonly ContractChanges[], callers: Callers | undefined) {
  const countOf = (level: PublishedChange['level']) =>
    compared.flatMap(({ changes }) => changes).filter((change) => change.level === level).length;
  const contracts = compared.map(({ name, published = null, operations, changes }) => ({
    name,
    published,
    operations,
    changes: changes.map(({ level, rule, text, reason = null, operations: changed }) => ({
      level,
      rule,
      text,
      decided: reason,
      operations: changed.map(({ id, at }) => ({ id, at, ...callers?.get(id) })),
    })),
  }));
  return { breaking: countOf('breaking'), additive: countOf('additive'), contracts };
}
