// Compares two schemas in one direction. Visits each pair once per operation, so circular schemas end.

import type { JsonObject, Located } from '../pointer.ts';
import type { Walk } from './findings.ts';
import { below, type DiffPlace, type Effect, levelOf, type ReportFinding, type Side, shownValue } from './findings.ts';
import { compareUnions } from './unions.ts';
import { ANYTHING, type Bound, createViews, isNothingBut, isTighter, resolved, type Union, type View } from './view.ts';

/** Two documents whose schemas are compared. */
export interface Comparer {
  /** Queues a pair of schemas for comparison. `isParameter`: the gateway fills in the default. */
  compare(side: Side, old: Located, fresh: Located, at: DiffPlace, tell: ReportFinding, isParameter?: boolean): void;
  /** Processes the queue and yields regularly, because a single operation may reach thousands of schemas. */
  work(): Generator<void>;
}

const LOOKS_AT_ONCE = 50;
const lowerBounds = new Set(['minimum', 'minLength', 'minItems', 'minProperties']);
/** Each format is contained in the other: an int32 is an int64. */
const formatWidens: Readonly<Record<string, string>> = { int32: 'int64', float: 'double' };

export function createComparer(oldRoot: JsonObject, newRoot: JsonObject): Comparer {
  const viewOfOld = createViews(oldRoot);
  const viewOfNew = createViews(newRoot);
  /** Pairs without changes at any depth. */
  const same = new Set<string>();
  const jobs: Job[] = [];

  function jobOf(side: Side, tell: ReportFinding): Job {
    const visited = new Set<string>();
    const queue: [Located, Located, DiffPlace][] = [];
    let found = 0;
    let trials = 0;
    let broken = false;

    const walk: Walk = {
      side,
      tell(rule, level, at, what) {
        if (trials > 0) broken ||= level === 'breaking';
        else {
          found += 1;
          tell(rule, level, at, what);
        }
      },
      schemas(old, fresh, at) {
        if (trials > 0) look(old, fresh, at);
        else queue.push([old, fresh, at]);
      },
      fits(old, fresh) {
        const before = { broken, visited: [...visited] };
        trials += 1;
        broken = false;
        look(old, fresh, { place: [], where: '' });
        const fits = !broken;
        trials -= 1;
        broken = before.broken;
        // Forget the pairs visited on trial: their findings were not reported.
        visited.clear();
        for (const key of before.visited) visited.add(key);
        return fits;
      },
    };

    function look(old: Located, fresh: Located, at: DiffPlace): void {
      const [o, n] = [resolved(oldRoot, old), resolved(newRoot, fresh)];
      const key = `${side} ${o.pointer} ${n.pointer}`;
      if ((trials > 0 && broken) || same.has(key) || visited.has(key)) return;
      visited.add(key);
      compareViews(walk, { old: viewOfOld(o), new: viewOfNew(n), oldAt: o, newAt: n }, at, viewOfOld, viewOfNew);
    }

    function* work(): Generator<void> {
      // The iterator also visits entries that are added during the loop.
      for (const [index, [old, fresh, at]] of queue.entries()) {
        look(old, fresh, at);
        if (index % LOOKS_AT_ONCE === 0) yield;
      }
      if (found === 0) for (const key of visited) same.add(key);
    }

    return { walk, work };
  }

  return {
    compare(side, old, fresh, at, tell, isParameter = false) {
      const job = jobOf(side, tell);
      jobs.push(job);
      job.walk.schemas(old, fresh, at);
      compareDefaults(
        job.walk,
        viewOfOld(resolved(oldRoot, old)),
        viewOfNew(resolved(newRoot, fresh)),
        at,
        isParameter,
      );
    },
    *work() {
      for (const job of jobs.splice(0)) yield* job.work();
    },
  };
}

/** One side of one operation. */
interface Job {
  readonly walk: Walk;
  work(): Generator<void>;
}

interface Pair {
  readonly old: View;
  readonly new: View;
  readonly oldAt: Located;
  readonly newAt: Located;
}

type ViewOf = (located: Located) => View;

function compareViews(walk: Walk, pair: Pair, at: DiffPlace, viewOfOld: ViewOf, viewOfNew: ViewOf): void {
  const { old, new: fresh } = pair;
  if (old.never || fresh.never) {
    if (old.never !== fresh.never)
      change(
        walk,
        'schema',
        fresh.never ? 'narrowed' : 'widened',
        at,
        fresh.never ? 'no value is possible here now' : 'values are possible here now',
      );
    return;
  }
  if (!compareAlternatives(walk, pair, at)) return;
  compareTypes(walk, old, fresh, at);
  compareValues(walk, old, fresh, at);
  for (const name of new Set([...old.bounds.keys(), ...fresh.bounds.keys()]))
    compareBound(walk, name, old.bounds.get(name), fresh.bounds.get(name), at);
  compareTexts(walk, old, fresh, at);
  compareMembers(walk, old, fresh, at, viewOfOld, viewOfNew);
  compareItems(walk, old, fresh, at);
  compareRest(walk, old, fresh, at);
}

function change({ side, tell }: Walk, subject: string, effect: Effect, at: DiffPlace, what: string): void {
  tell(`${side}-${subject}-${effect}`, levelOf(side, effect), at, what);
}

/** Returns false if the comparison of this pair is complete. */
function compareAlternatives(walk: Walk, { old, new: fresh, oldAt, newAt }: Pair, at: DiffPlace): boolean {
  const [before, after] = [old.unions, fresh.unions];
  if (before.length === 0 && after.length === 0) return true;
  // "A" became "A or B", or the reverse: compare as unions of one and two branches.
  if (before.length === 0 && after.length === 1 && isNothingBut(fresh)) {
    compareUnions(walk, { kind: 'anyOf', branches: [oldAt] }, after[0] as Union, at);
    return false;
  }
  if (after.length === 0 && before.length === 1 && isNothingBut(old)) {
    compareUnions(walk, before[0] as Union, { kind: 'anyOf', branches: [newAt] }, at);
    return false;
  }
  if (before.length === after.length) {
    for (const [index, union] of before.entries()) compareUnions(walk, union, after[index] as Union, at);
    return true;
  }
  const effect = before.length < after.length ? 'narrowed' : 'widened';
  change(
    walk,
    'alternatives',
    effect,
    at,
    effect === 'narrowed'
      ? 'must be one of several alternatives now'
      : 'no longer has to be one of several alternatives',
  );
  return true;
}

function compareTypes(walk: Walk, old: View, fresh: View, at: DiffPlace): void {
  if (old.values !== undefined && fresh.values !== undefined) return;
  const [before, after] = [old.types, fresh.types];
  const covers = (all: ReadonlySet<string> | undefined, type: string) =>
    all === undefined || all.has(type) || (type === 'integer' && all.has('number'));
  const lost = before === undefined ? after !== undefined : [...before].some((type) => !covers(after, type));
  const won = after === undefined ? before !== undefined : [...after].some((type) => !covers(before, type));
  if (!lost && !won) return;
  const effect = lost && won ? 'changed' : lost ? 'narrowed' : 'widened';
  change(walk, 'type', effect, at, `the type goes from ${typesText(before)} to ${typesText(after)}`);
}

function typesText(types: ReadonlySet<string> | undefined): string {
  return types === undefined ? 'any' : [...types].join(' or ') || 'none';
}

function compareValues(walk: Walk, old: View, fresh: View, at: DiffPlace): void {
  const [before, after] = [old.values, fresh.values];
  if (before === undefined && after === undefined) return;
  if (before === undefined || after === undefined) {
    const [effect, what] =
      before === undefined
        ? (['narrowed', 'only listed values are possible now'] as const)
        : (['widened', 'other values than the listed ones are possible now'] as const);
    change(walk, 'values', effect, at, what);
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

function compareBound(walk: Walk, name: string, old: Bound | undefined, fresh: Bound | undefined, at: DiffPlace): void {
  if (old?.value === fresh?.value && old?.exclusive === fresh?.exclusive) return;
  const isLower = lowerBounds.has(name);
  const tightened = old === undefined || (fresh !== undefined && isTighter(fresh, old, isLower));
  const text = (bound: Bound | undefined) =>
    bound === undefined ? 'none' : `${bound.value}${bound.exclusive ? ' (exclusive)' : ''}`;
  change(walk, 'bound', tightened ? 'narrowed' : 'widened', at, `${name} goes from ${text(old)} to ${text(fresh)}`);
}

function compareTexts(walk: Walk, old: View, fresh: View, at: DiffPlace): void {
  compareSet(walk, 'pattern', old.patterns, fresh.patterns, at);
  const [before, after] = [[...old.formats], [...fresh.formats]];
  if (before.length === 1 && after.length === 1 && before[0] !== after[0]) {
    const [one = '', other = ''] = [before[0], after[0]];
    const effect = formatWidens[one] === other ? 'widened' : formatWidens[other] === one ? 'narrowed' : 'changed';
    change(walk, 'format', effect, at, `the format goes from ${one} to ${other}`);
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
  change(walk, subject, effect, at, `the ${subject} goes from ${text(lost)} to ${text(won)}`);
}

function compareMembers(walk: Walk, old: View, fresh: View, at: DiffPlace, viewOfOld: ViewOf, viewOfNew: ViewOf): void {
  const { side, tell } = walk;
  const isThere = (view: View | undefined) =>
    view !== undefined && !view.never && !(side === 'request' ? view.readOnly : view.writeOnly);
  for (const name of new Set([...old.properties.keys(), ...fresh.properties.keys()])) {
    const [o, n] = [old.properties.get(name), fresh.properties.get(name)];
    const was = isThere(o && viewOfOld(o));
    const is = isThere(n && viewOfNew(n));
    const place = below(at, ['properties', name], `/${name}`);
    const isRequired = fresh.required.has(name);
    if (was && !is) tell(`${side}-property-removed`, 'breaking', place, 'the property was removed');
    else if (is && !was) {
      if (side === 'request' && isRequired)
        tell('request-property-required', 'breaking', place, 'the property is new and required');
      else tell(`${side}-property-added`, 'additive', place, 'the property is new');
    } else if (was && is) {
      compareRequired(walk, old.required.has(name), isRequired, place);
      walk.schemas(o as Located, n as Located, place);
      compareDefaults(walk, viewOfOld(o as Located), viewOfNew(n as Located), place, false);
    }
  }
  for (const name of new Set([...old.required, ...fresh.required])) {
    if (old.properties.has(name) || fresh.properties.has(name)) continue;
    compareRequired(walk, old.required.has(name), fresh.required.has(name), below(at, [], `/${name}`));
  }
  comparePatternProperties(walk, old, fresh, at);
  compareAdditional(walk, old, fresh, at);
}

function compareRequired({ side, tell }: Walk, was: boolean, is: boolean, at: DiffPlace): void {
  if (was === is) return;
  const level = levelOf(side, is ? 'narrowed' : 'widened');
  tell(
    `${side}-property-${is ? 'required' : 'optional'}`,
    level,
    at,
    is ? 'the property is required now' : 'the property is optional now',
  );
}

function comparePatternProperties(walk: Walk, old: View, fresh: View, at: DiffPlace): void {
  for (const name of new Set([...old.patternProperties.keys(), ...fresh.patternProperties.keys()])) {
    const [o, n] = [old.patternProperties.get(name), fresh.patternProperties.get(name)];
    const place = below(at, ['patternProperties', name], `/<${name}>`);
    if (o && n) walk.schemas(o, n, place);
    else
      change(
        walk,
        'pattern-properties',
        o ? 'widened' : 'narrowed',
        place,
        o ? 'such members are no longer described' : 'such members are described now',
      );
  }
}

/** New members in answers are never breaking: clients must tolerate members that the contract does not describe. */
function compareAdditional(walk: Walk, old: View, fresh: View, at: DiffPlace): void {
  const { side, tell } = walk;
  if (old.closed !== fresh.closed) {
    const level = fresh.closed ? levelOf(side, 'narrowed') : 'additive';
    const what = fresh.closed ? 'undescribed members are no longer possible' : 'undescribed members are possible now';
    tell(`${side}-additional-properties-${fresh.closed ? 'closed' : 'opened'}`, level, at, what);
    return;
  }
  if (old.closed || (old.additional === undefined && fresh.additional === undefined)) return;
  walk.schemas(old.additional ?? ANYTHING, fresh.additional ?? ANYTHING, below(at, ['additionalProperties'], '/<any>'));
}

function compareItems(walk: Walk, old: View, fresh: View, at: DiffPlace): void {
  const length = Math.max(old.prefixItems.length, fresh.prefixItems.length);
  for (let index = 0; index < length; index += 1) {
    const o = old.prefixItems[index] ?? old.items ?? ANYTHING;
    const n = fresh.prefixItems[index] ?? fresh.items ?? ANYTHING;
    walk.schemas(o, n, below(at, ['prefixItems', index], `/${index}`));
  }
  if (old.items === undefined && fresh.items === undefined) return;
  walk.schemas(old.items ?? ANYTHING, fresh.items ?? ANYTHING, below(at, ['items'], '/[]'));
}

function compareRest(walk: Walk, old: View, fresh: View, at: DiffPlace): void {
  for (const keyword of new Set([...old.rest.keys(), ...fresh.rest.keys()])) {
    const [before, after] = [old.rest.get(keyword), fresh.rest.get(keyword)];
    if (before === after) continue;
    const text = (value: string | undefined) => (value === undefined ? 'none' : value.length > 40 ? 'another' : value);
    const effect =
      before === undefined ? 'narrowed' : after === undefined ? 'widened' : effectOfMultiples(keyword, before, after);
    change(walk, 'keyword', effect, at, `${keyword} goes from ${text(before)} to ${text(after)}`);
  }
}

function effectOfMultiples(keyword: string, before: string, after: string): Effect {
  if (keyword !== 'multipleOf') return 'changed';
  if (Number(after) % Number(before) === 0) return 'narrowed';
  return Number(before) % Number(after) === 0 ? 'widened' : 'changed';
}

/** Compares the defaults. The gateway fills in the defaults of parameters, so a new default there changes requests as well. */
function compareDefaults({ side, tell }: Walk, old: View, fresh: View, at: DiffPlace, isParameter: boolean): void {
  if (old.default === fresh.default) return;
  const breaks = side === 'request' && (isParameter || old.default !== undefined);
  const what = `the default goes from ${old.default ?? 'none'} to ${fresh.default ?? 'none'}`;
  tell(`${side}-default-changed`, breaks ? 'breaking' : 'additive', at, what);
}
