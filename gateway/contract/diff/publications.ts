// The record of publications lists what `gateway contract publish` changed for clients, as lines of JSON beside the published contracts.
// The documentation makes its list of changes from it.

import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Publication, PublishedChange } from '../../shared/contracts/published-contract.ts';
import { shownPath, textOf } from '../../shared/file-text.ts';
import type { Mistake } from '../../shared/mistakes.ts';
import { type BaselineContent, type BreakingException, contentOfPublished } from './baseline.ts';
import { compareContracts } from './compare.ts';
import { describedAll } from './described.ts';
import type { DiffFinding } from './findings.ts';

const RECORD = 'changes.jsonl';

/** Returns the file of the record, in the directory of the published contracts. */
export function publicationsFile(directory: string): string {
  return join(directory, RECORD);
}

/**
 * Maximum number of entries that are read. The newest entries are at the end of the file, so a longer file is read without its beginning.
 */
const READ_MAX = 2000;

/** Returns the entries, oldest first; empty if there is no file. Pushes a mistake for each line that is not an entry. */
export function readPublications(directory: string, mistakes: Mistake[]): Publication[] {
  const file = publicationsFile(directory);
  if (!existsSync(file)) return [];
  const text = textOf(file);
  if (typeof text !== 'string') {
    mistakes.push({ file: shownPath(file), ...text });
    return [];
  }
  const lines = text.split('\n').map((line, index) => ({ line, number: index + 1 }));
  return lines
    .filter(({ line }) => line.trim() !== '')
    .slice(-READ_MAX)
    .flatMap(({ line, number }) => {
      const entry = parsePublication(line);
      if (entry !== undefined) return [entry];
      const reason = 'this line is no entry of a publication.';
      mistakes.push({ file: shownPath(file), line: number, reason, remedy: 'Take it from version control again.' });
      return [];
    });
}

/**
 * Adds entries to the record. Leaves out an entry that equals the last entry of its contract, because an earlier publication was
 * interrupted after it wrote the entry and before it wrote the contract.
 */
export function recordPublications(directory: string, entries: readonly Publication[]): void {
  const file = publicationsFile(directory);
  const known = readPublications(directory, []);
  const contentOf = ({ operations, changes }: Publication) => JSON.stringify([operations, changes]);
  const fresh = entries.filter((entry) => {
    const last = known.findLast(({ contract }) => contract === entry.contract);
    return last === undefined || contentOf(last) !== contentOf(entry);
  });
  if (fresh.length === 0) return;
  const before = textOf(file);
  // An editor may have left the last line without its end.
  const begin = typeof before !== 'string' || before === '' || before.endsWith('\n') ? '' : '\n';
  appendFileSync(file, `${begin}${fresh.map((entry) => `${JSON.stringify(entry)}\n`).join('')}`);
}

/** Returns the published contracts whose files are gone, each with the mistake, because deleting the file gives up no promise. */
export function gonePromises(
  directory: string,
  publications: readonly Publication[],
): { readonly contract: string; readonly mistake: Mistake }[] {
  const published = [...new Set(publications.map(({ contract }) => contract))];
  return published.flatMap((contract) => {
    const file = join(directory, `${contract}.json`);
    if (existsSync(file)) return [];
    const reason = `the published contract is gone, and ${RECORD} says that it was published.`;
    const remedy = `Take it from version control again. If its clients are gone as well, take its lines out of ${RECORD}.`;
    return [{ contract, mistake: { file: shownPath(file), reason, remedy } }];
  });
}

function parsePublication(line: string): Publication | undefined {
  try {
    const entry = JSON.parse(line) as Partial<Publication> | null;
    if (entry === null || typeof entry !== 'object') return undefined;
    const { day, contract, operations, note, changes } = entry;
    const isWhole =
      typeof day === 'string' &&
      /^\d{4}-\d\d-\d\d$/.test(day) &&
      !Number.isNaN(Date.parse(day)) &&
      typeof contract === 'string' &&
      Number.isSafeInteger(operations) &&
      (note === undefined || typeof note === 'string') &&
      Array.isArray(changes) &&
      changes.every(isChange);
    return isWhole ? (entry as Publication) : undefined;
  } catch {
    return undefined;
  }
}

function isChange(value: unknown): value is PublishedChange {
  if (typeof value !== 'object' || value === null) return false;
  const { rule, level, text, reason, operations } = value as Partial<Record<keyof PublishedChange, unknown>>;
  const isReason = reason === undefined || typeof reason === 'string';
  const isLevel = level === 'breaking' || level === 'additive';
  return isLevel && isReason && typeof rule === 'string' && typeof text === 'string' && isOperations(operations);
}

function isOperations(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => typeof one?.id === 'string' && typeof one.at === 'string')
  );
}

/**
 * Returns what changes for clients between two published documents.
 *
 * @param before undefined for the first publication, which changes nothing
 * @param file the file that messages name
 * @param accepted the accepted breaking changes, with their reasons
 */
export function changesBetween(
  before: string | undefined,
  after: string,
  file: string,
  accepted: readonly BreakingException[],
): PublishedChange[] {
  const [old, fresh] = [before, after].map((text) => text && contentOfPublished(file, text, []));
  if (!isContent(old) || !isContent(fresh)) return [];
  const found = compareContracts(describedAll(old.operations), describedAll(fresh.operations));
  return groupedChanges([...found].flat(), accepted);
}

/** Returns the changes, each with all of its operations, breaks first. */
export function groupedChanges(
  findings: readonly DiffFinding[],
  accepted: readonly BreakingException[] = [],
): PublishedChange[] {
  const alike = Map.groupBy(findings, ({ rule, reason }) => `${rule} ${reason}`);
  return breaksFirst([...alike.values()].map((some) => toChange(some, accepted)));
}

export function breaksFirst(changes: readonly PublishedChange[]): PublishedChange[] {
  return changes.toSorted((one, other) => Number(other.level === 'breaking') - Number(one.level === 'breaking'));
}

/** Returns a text such as `additive: GET /v1/jobs and 2 more: …`. */
export function changeText({ level, text, operations }: PublishedChange): string {
  const [first, ...others] = operations.map(({ at }) => at);
  return `${level}: ${first}${others.length === 0 ? '' : ` and ${others.length} more`}: ${text}`;
}

function isContent(value: BaselineContent | string | undefined): value is BaselineContent {
  return typeof value === 'object';
}

function toChange(alike: readonly DiffFinding[], accepted: readonly BreakingException[]): PublishedChange {
  const [{ rule, level, reason: text }] = alike as [DiffFinding];
  const operations = alike.map(({ operationId: id, operation: at }) => ({ id, at }));
  const reasons = accepted
    .filter((one) => level === 'breaking' && one.rule === rule && operations.some(({ id }) => id === one.operation))
    .map(({ reason }) => reason);
  const reason = [...new Set(reasons)].join(' ');
  return { rule, level, text, ...(reason === '' ? {} : { reason }), operations };
}
