// The publications of the served contracts, in the form of the page of changes and its feeds.

import type { Publication } from '../../shared/contracts/published-contract.ts';
import type { AddressedContract } from '../reference/addresses.ts';
import { type ChangeRow, changeRows } from './rows.ts';
import type { ChangedValue } from './words.ts';

export const CHANGES_PATH = '/docs/changes';

/** Operations that a line names. */
const OPERATIONS_MAX = 3;

/** A publication of a contract that is served. */
export interface ChangesEntry {
  readonly id: string;
  readonly day: Date;
  readonly contract: AddressedContract;
  readonly publication: Publication;
}

/** Returns the entries, newest first. */
export function changesEntries(
  publications: readonly Publication[],
  references: readonly AddressedContract[],
): ChangesEntry[] {
  const counts = new Map<string, number>();
  return publications
    .flatMap((publication) => {
      const { day, contract: name } = publication;
      const contract = references.find(({ reference }) => reference.name === name);
      const key = `${day}-${name}`;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      const id = count === 1 ? key : `${key}-${count}`;
      return contract === undefined ? [] : [{ id, day: new Date(`${day}T00:00:00Z`), contract, publication }];
    })
    .reverse();
}

/**
 * Returns the text for the first publication. The record counts all operations. If some are only for operators, the number is left out,
 * because clients do not see these.
 */
export function firstText({ publication: { operations }, contract }: ChangesEntry): string {
  if (contract.clientOperations < contract.operations.length) return 'First publication.';
  return `First publication, with ${operations} ${operations === 1 ? 'operation' : 'operations'}.`;
}

/** Returns an entry as lines of plain text. */
export function linesOf(entry: ChangesEntry, isShown: (row: ChangeRow) => boolean = () => true): string[] {
  const { changes, note } = entry.publication;
  const lines = changes.length === 0 ? [firstText(entry)] : changeRows(changes).filter(isShown).map(lineOf);
  return note === undefined ? lines : [note, ...lines];
}

function lineOf({ mark, name, rest, values, advice, reasons, operations }: ChangeRow): string {
  const named = operations.slice(0, OPERATIONS_MAX).map(({ at }) => at);
  const more = operations.length - named.length;
  const parts = [
    `${mark}: ${name === undefined ? '' : `${name} `}${rest} (${named.join(', ')}${more > 0 ? ` and ${more} more` : ''})`,
    ...values.map(valueText),
    ...(advice.length === 0 ? [] : [`What to do: ${advice.join(' ')}`]),
    ...(reasons.length === 0 ? [] : [`Why: ${reasons.join(' ')}`]),
  ];
  return parts.join('. ').replaceAll('.. ', '. ');
}

function valueText({ label, before, after, exact = [] }: ChangedValue): string {
  const written = exact.length === 0 ? '' : ` (${exact.map((one) => `\`${one}\``).join(' → ')})`;
  return `${label}: ${before} → ${after}${written}`;
}
