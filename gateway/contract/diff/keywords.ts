// Compares the keywords of two schemas that decide about a single value: types, listed values, bounds, patterns, formats and all others.

import { type Bound, isTighter } from './bounds.ts';
import { below, type DiffPlace, type Effect, levelOf, shownValue, type Walk } from './findings.ts';
import type { View } from './view.ts';

const LOWER_BOUNDS = new Set(['minimum', 'minLength', 'minItems', 'minProperties']);
/** Each format is contained in the other format, as each int32 is an int64. */
const WIDER_FORMATS: Readonly<Record<string, string>> = { int32: 'int64', float: 'double' };

/** Reports a change by its effect on the set of possible values. */
export function reportChange({ side, tell }: Walk, subject: string, effect: Effect, at: DiffPlace, what: string): void {
  tell(`${side}-${subject}-${effect}`, levelOf(side, effect), at, what);
}

export function compareTypes(walk: Walk, old: View, fresh: View, at: DiffPlace): void {
  if (old.values !== undefined && fresh.values !== undefined) return;
  const [before, after] = [old.types, fresh.types];
  const covers = (all: ReadonlySet<string> | undefined, type: string) =>
    all === undefined || all.has(type) || (type === 'integer' && all.has('number'));
  const lost = before === undefined ? after !== undefined : [...before].some((type) => !covers(after, type));
  const won = after === undefined ? before !== undefined : [...after].some((type) => !covers(before, type));
  if (!lost && !won) return;
  const effect = lost && won ? 'changed' : lost ? 'narrowed' : 'widened';
  reportChange(
    walk,
    'type',
    effect,
    below(at, ['type']),
    `the type goes from ${typesText(before)} to ${typesText(after)}`,
  );
}

function typesText(types: ReadonlySet<string> | undefined): string {
  return types === undefined ? 'any' : [...types].join(' or ') || 'none';
}

export function compareValues(walk: Walk, old: View, fresh: View, owner: DiffPlace): void {
  const at = below(owner, ['enum']);
  const [before, after] = [old.values, fresh.values];
  if (before === undefined && after === undefined) return;
  if (before === undefined || after === undefined) {
    const [effect, what] =
      before === undefined
        ? (['narrowed', 'only listed values are possible now'] as const)
        : (['widened', 'other values than the listed ones are possible now'] as const);
    reportChange(walk, 'values', effect, at, what);
    return;
  }
  const { side, tell } = walk;
  for (const [text, value] of before)
    if (!after.has(text))
      tell(
        `${side}-value-removed`,
        levelOf(side, 'narrowed'),
        at,
        `the value ${shownValue(value)} is no longer possible`,
      );
  for (const [text, value] of after)
    if (!before.has(text))
      tell(`${side}-value-added`, levelOf(side, 'widened'), at, `the value ${shownValue(value)} is new`);
}

export function compareBound(
  walk: Walk,
  name: string,
  old: Bound | undefined,
  fresh: Bound | undefined,
  at: DiffPlace,
): void {
  if (old?.value === fresh?.value && old?.exclusive === fresh?.exclusive) return;
  const isLower = LOWER_BOUNDS.has(name);
  const tightened = old === undefined || (fresh !== undefined && isTighter(fresh, old, isLower));
  const text = (bound: Bound | undefined) =>
    bound === undefined ? 'none' : `${bound.value}${bound.exclusive ? ' (exclusive)' : ''}`;
  reportChange(
    walk,
    'bound',
    tightened ? 'narrowed' : 'widened',
    below(at, [name]),
    `${name} goes from ${text(old)} to ${text(fresh)}`,
  );
}

export function compareTexts(walk: Walk, old: View, fresh: View, at: DiffPlace): void {
  compareSet(walk, 'pattern', old.patterns, fresh.patterns, at);
  const [before, after] = [[...old.formats], [...fresh.formats]];
  if (before.length === 1 && after.length === 1 && before[0] !== after[0]) {
    const [one = '', other = ''] = [before[0], after[0]];
    const effect = WIDER_FORMATS[one] === other ? 'widened' : WIDER_FORMATS[other] === one ? 'narrowed' : 'changed';
    reportChange(walk, 'format', effect, below(at, ['format']), `the format goes from ${one} to ${other}`);
  } else compareSet(walk, 'format', old.formats, fresh.formats, at);
}

function compareSet(
  walk: Walk,
  subject: string,
  old: ReadonlySet<string>,
  fresh: ReadonlySet<string>,
  at: DiffPlace,
): void {
  const lost = [...old].filter((one) => !fresh.has(one));
  const won = [...fresh].filter((one) => !old.has(one));
  if (lost.length === 0 && won.length === 0) return;
  const effect = lost.length > 0 && won.length > 0 ? 'changed' : won.length > 0 ? 'narrowed' : 'widened';
  const text = (all: readonly string[]) => (all.length === 0 ? 'none' : all.join(' and '));
  reportChange(walk, subject, effect, below(at, [subject]), `the ${subject} goes from ${text(lost)} to ${text(won)}`);
}

/** Compares the keywords that no other function of the comparison reads. */
export function compareRest(walk: Walk, old: View, fresh: View, at: DiffPlace): void {
  for (const keyword of new Set([...old.rest.keys(), ...fresh.rest.keys()])) {
    const [before, after] = [old.rest.get(keyword), fresh.rest.get(keyword)];
    if (before === after) continue;
    const text = (value: string | undefined) => (value === undefined ? 'none' : value.length > 40 ? 'another' : value);
    const effect =
      before === undefined ? 'narrowed' : after === undefined ? 'widened' : effectOfMultiples(keyword, before, after);
    reportChange(
      walk,
      'keyword',
      effect,
      below(at, [keyword]),
      `${keyword} goes from ${text(before)} to ${text(after)}`,
    );
  }
}

function effectOfMultiples(keyword: string, before: string, after: string): Effect {
  if (keyword !== 'multipleOf') return 'changed';
  if (Number(after) % Number(before) === 0) return 'narrowed';
  return Number(before) % Number(after) === 0 ? 'widened' : 'changed';
}
