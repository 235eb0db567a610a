// Compares the schemas of two documents in one direction. Each pair of schemas is visited once for an operation, because schemas may be
// circular. keywords.ts compares keywords about one value, members.ts objects and lists, and unions.ts alternatives.

import type { JsonObject, LocatedValue } from '../pointer.ts';
import { atTarget, type DiffPlace, type ReportFinding, type Side, type Walk } from './findings.ts';
import { compareBound, compareRest, compareTexts, compareTypes, compareValues, reportChange } from './keywords.ts';
import { compareDefaults, compareItems, compareMembers, type ViewOf } from './members.ts';
import { compareUnions } from './unions.ts';
import { createViews, isNothingBut, resolve, type Union, type View } from './view.ts';

/** Two documents whose schemas are compared. */
export interface Comparer {
  /** Queues a pair of schemas for comparison. `isParameter` means that the gateway fills in the default. */
  compare(
    side: Side,
    old: LocatedValue,
    fresh: LocatedValue,
    at: DiffPlace,
    tell: ReportFinding,
    isParameter?: boolean,
  ): void;
  /** Processes the queue and yields regularly, because a single operation may reach thousands of schemas. */
  work(): Generator<void>;
}

const LOOKS_AT_ONCE = 50;

export function createComparer(oldRoot: JsonObject, newRoot: JsonObject): Comparer {
  const documents: Documents = {
    oldRoot,
    newRoot,
    viewOfOld: createViews(oldRoot),
    viewOfNew: createViews(newRoot),
    same: new Set(),
  };
  const jobs: Job[] = [];

  return {
    compare(side, old, fresh, at, tell, isParameter = false) {
      const job = new Job(documents, side, tell);
      jobs.push(job);
      job.schemas(old, fresh, at);
      const { viewOfOld, viewOfNew } = documents;
      const target = resolve(newRoot, fresh);
      compareDefaults(job, viewOfOld(resolve(oldRoot, old)), viewOfNew(target), atTarget(at, target), isParameter);
    },
    *work() {
      for (const job of jobs.splice(0)) yield* job.work();
    },
  };
}

interface Documents {
  readonly oldRoot: JsonObject;
  readonly newRoot: JsonObject;
  readonly viewOfOld: ViewOf;
  readonly viewOfNew: ViewOf;
  /** Pairs without changes at any depth. */
  readonly same: Set<string>;
}

/** The comparison of one side of one operation. */
class Job implements Walk {
  readonly side: Side;
  readonly #documents: Documents;
  readonly #report: ReportFinding;
  readonly #visited = new Set<string>();
  readonly #queue: [LocatedValue, LocatedValue, DiffPlace][] = [];
  #found = 0;
  /** The depth of the calls of `fits`. */
  #trials = 0;
  /** Whether the trial has found a breaking change. */
  #isBroken = false;

  constructor(documents: Documents, side: Side, report: ReportFinding) {
    this.#documents = documents;
    this.side = side;
    this.#report = report;
  }

  readonly tell: ReportFinding = (rule, level, at, what) => {
    if (this.#trials > 0) this.#isBroken ||= level === 'breaking';
    else {
      this.#found += 1;
      this.#report(rule, level, at, what);
    }
  };

  schemas(old: LocatedValue, fresh: LocatedValue, at: DiffPlace): void {
    if (this.#trials > 0) this.#look(old, fresh, at);
    else this.#queue.push([old, fresh, at]);
  }

  fits(old: LocatedValue, fresh: LocatedValue): boolean {
    const before = { isBroken: this.#isBroken, visited: [...this.#visited] };
    this.#trials += 1;
    this.#isBroken = false;
    this.#look(old, fresh, { place: [], use: [], where: '' });
    const fits = !this.#isBroken;
    this.#trials -= 1;
    this.#isBroken = before.isBroken;
    // The pairs that were visited on trial are forgotten, because their findings were not reported.
    this.#visited.clear();
    for (const key of before.visited) this.#visited.add(key);
    return fits;
  }

  *work(): Generator<void> {
    // The iterator also visits entries that are added during the loop.
    for (const [index, [old, fresh, at]] of this.#queue.entries()) {
      this.#look(old, fresh, at);
      if (index % LOOKS_AT_ONCE === 0) yield;
    }
    if (this.#found === 0) for (const key of this.#visited) this.#documents.same.add(key);
  }

  #look(old: LocatedValue, fresh: LocatedValue, at: DiffPlace): void {
    const { oldRoot, newRoot, viewOfOld, viewOfNew, same } = this.#documents;
    const [o, n] = [resolve(oldRoot, old), resolve(newRoot, fresh)];
    const key = `${this.side} ${o.pointer} ${n.pointer}`;
    if ((this.#trials > 0 && this.#isBroken) || same.has(key) || this.#visited.has(key)) return;
    this.#visited.add(key);
    const pair = { old: viewOfOld(o), new: viewOfNew(n), oldAt: o, newAt: n };
    compareViews(this, pair, atTarget(at, n), viewOfOld, viewOfNew);
  }
}

interface Pair {
  readonly old: View;
  readonly new: View;
  readonly oldAt: LocatedValue;
  readonly newAt: LocatedValue;
}

function compareViews(walk: Walk, pair: Pair, at: DiffPlace, viewOfOld: ViewOf, viewOfNew: ViewOf): void {
  const { old, new: fresh } = pair;
  if (old.never || fresh.never) {
    if (old.never !== fresh.never)
      reportChange(
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

/** Returns false if the comparison of this pair is complete. */
function compareAlternatives(walk: Walk, { old, new: fresh, oldAt, newAt }: Pair, at: DiffPlace): boolean {
  const [before, after] = [old.unions, fresh.unions];
  if (before.length === 0 && after.length === 0) return true;
  // "A" became "A or B", or the reverse, so both are compared as unions, of one and two branches.
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
  reportChange(
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
