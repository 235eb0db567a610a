// Pure: makes the rows of one publication for readers. The comparison finds each rule of a parameter separately, and a row contains all
// changes of the parameter.

import type { PublishedChange } from '../../shared/contracts/published-contract.ts';
import { adviceFor } from './advice.ts';
import { type ChangedValue, type ChangeWords, changeWords, NO_LIMIT } from './words.ts';

const MARKS = ['breaking', 'deprecated', 'new', 'changed'] as const;

export interface ChangeRow {
  readonly mark: (typeof MARKS)[number];
  /** See `ChangeWords`. */
  readonly name: string | undefined;
  /** The change, without the name. */
  readonly rest: string;
  readonly values: readonly ChangedValue[];
  /** The advice for clients; empty unless the change breaks clients. */
  readonly advice: readonly string[];
  /** Why breaks were accepted. */
  readonly reasons: readonly string[];
  readonly operations: PublishedChange['operations'];
}

interface ChangeText extends ChangeWords {
  readonly change: PublishedChange;
}

/** Returns the rows, breaking changes first, then additions. */
export function changeRows(changes: readonly PublishedChange[]): ChangeRow[] {
  const told = changes.map((change): ChangeText => ({ ...changeWords(change.text), change }));
  const rows = [...Map.groupBy(told, placeOf).values()].map(rowOf);
  return responsesJoined(operationsJoined(rows))
    .map(({ kind, whats, rules, ...row }) => ({ ...row, rest: restOf(kind, whats), advice: adviceFor(rules) }))
    .sort((one, other) => MARKS.indexOf(one.mark) - MARKS.indexOf(other.mark));
}

/** Returns words such as `query parameter added` and `header parameter changed`; other words follow a colon. */
function restOf(kind: string, whats: string): string {
  if (kind === '') return whats;
  if (whats === '') return `${kind}${kind.startsWith('in ') ? ': ' : ' '}changed`;
  const isVerb = !kind.startsWith('in ') && /^(added|removed|has|may)\b/.test(whats);
  return `${kind}${isVerb ? ' ' : ': '}${whats}`;
}

function operationsKey({ operations }: { readonly operations: PublishedChange['operations'] }): string {
  return JSON.stringify(operations.map(({ id }) => id));
}

function placeOf({ name, kind, change }: ChangeText): string {
  return JSON.stringify([name, kind, operationsKey(change)]);
}

interface Row extends Omit<ChangeRow, 'rest' | 'advice'> {
  readonly kind: string;
  /** The rules of what breaks. */
  readonly rules: ReadonlySet<string>;
  readonly whats: string;
}

function rowOf(told: readonly ChangeText[]): Row {
  const [{ name, kind, change }] = told as readonly [ChangeText];
  const marks = told.map((one) => markOf(one.change));
  const values = told.flatMap(({ value }) => value ?? []);
  const whats = [...new Set(told.map(({ what }) => what).filter(Boolean))].join('; ');
  const rules = told.flatMap(({ change: { rule, level } }) => (level === 'breaking' ? rule : []));
  const reasons = [...new Set(told.flatMap(({ change: { reason } }) => reason ?? []))];
  return {
    mark: MARKS.find((mark) => marks.includes(mark)) ?? 'changed',
    name,
    kind,
    whats,
    values: joinedValues(values),
    rules: new Set(rules),
    reasons,
    operations: change.operations,
  };
}

/** Joins both ends of a range to one value: `at least 1 character, at most 512 characters`. */
function joinedValues(values: readonly ChangedValue[]): ChangedValue[] {
  const listText = (some: readonly string[]) => {
    const limits = [...new Set(some)].filter((one) => one !== NO_LIMIT);
    return limits.join(', ') || (some[0] ?? '');
  };
  return [...Map.groupBy(values, ({ label }) => label)].map(([label, same]) => ({
    label,
    before: listText(same.map(({ before }) => before)),
    after: listText(same.map(({ after }) => after)),
    ...(same.some(({ exact }) => exact) && { exact: same.flatMap(({ exact = [] }) => exact) }),
  }));
}

function markOf({ rule, level }: PublishedChange): ChangeRow['mark'] {
  if (level === 'breaking') return 'breaking';
  if (rule === 'operation-deprecated') return 'deprecated';
  return rule.endsWith('-added') ? 'new' : 'changed';
}

/** Joins the same change of several operations to one row, even if the rules differ. */
function operationsJoined(rows: readonly Row[]): Row[] {
  const alike = Map.groupBy(rows, ({ name, kind, whats, mark, values }) =>
    JSON.stringify([name, kind, whats, mark, values]),
  );
  return [...alike.values()].map((same) => {
    const operations = new Map(same.flatMap((row) => row.operations.map((one) => [one.at, one])));
    return { ...joinRows(same), operations: [...operations.values()] };
  });
}

function joinRows(same: readonly Row[]): Row {
  const [first] = same as [Row];
  const rules = new Set(same.flatMap((row) => [...row.rules]));
  return { ...first, rules, reasons: [...new Set(same.flatMap((row) => row.reasons))] };
}

const IN = 'in response ';

/** Joins the same change of several responses of the same operations to one row. */
function responsesJoined(rows: readonly Row[]): Row[] {
  const alike = Map.groupBy(rows, (row) =>
    row.kind.startsWith(IN) ? JSON.stringify([row.name, row.whats, row.mark, row.values, operationsKey(row)]) : row,
  );
  return [...alike.values()].map((same) => {
    const [first] = same as [Row];
    if (same.length === 1) return first;
    return { ...joinRows(same), kind: `in responses ${same.map(({ kind }) => kind.slice(IN.length)).join(', ')}` };
  });
}
