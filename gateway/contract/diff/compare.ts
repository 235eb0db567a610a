// Compares what was promised with what is to be served: which operations belong together, and what has become of each.

import { shapeOf } from '../routes.ts';
import { compareAnswers, compareBody } from './content.ts';
import type { Described } from './described.ts';
import type { At, DiffFinding, Level } from './findings.ts';
import { compareParameters } from './parameters.ts';
import { type Comparer, createComparer, type Tell } from './schema.ts';
import { compareSecurity } from './security.ts';

/** Two operations of one method and path. */
export interface Both {
  readonly old: Described;
  readonly new: Described;
  readonly comparer: Comparer;
  readonly tell: Tell;
  readonly at: At;
}

/**
 * Findings operation by operation, in pieces, so that whoever serves meanwhile can do so in between. Operations belong together by method and path,
 * whatever the parameters in it are called and in whichever file they are.
 */
export function* compareContracts(old: readonly Described[], fresh: readonly Described[]): Generator<DiffFinding[]> {
  const before = new Map(old.map((operation) => [keyOf(operation), operation]));
  const after = new Map(fresh.map((operation) => [keyOf(operation), operation]));
  const comparerOf = createComparers();
  for (const [key, o] of before) {
    const n = after.get(key);
    const findings: DiffFinding[] = [];
    if (n === undefined)
      findings.push(finding(o, 'old', 'operation-removed', 'breaking', 'the operation is not there any more'));
    else {
      const comparer = comparerOf(o, n);
      compareOperations(o, n, comparer, findings);
      for (const _ of comparer.work()) yield [];
    }
    yield findings;
  }
  for (const [key, n] of after) {
    if (!before.has(key)) yield [finding(n, 'new', 'operation-added', 'additive', 'the operation is new')];
  }
}

function keyOf({ method, path }: Described): string {
  return `${method} ${shapeOf(path)}`;
}

/** One comparer per pair of documents: what is the same in one operation need not be looked at again in the next. */
function createComparers() {
  const known = new Map<object, Map<object, Comparer>>();
  return function comparerOf({ root: old }: Described, { root: fresh }: Described): Comparer {
    const ofOld = known.get(old) ?? new Map<object, Comparer>();
    known.set(old, ofOld);
    const comparer = ofOld.get(fresh) ?? createComparer(old, fresh);
    ofOld.set(fresh, comparer);
    return comparer;
  };
}

function finding(
  operation: Described,
  side: 'old' | 'new',
  rule: string,
  level: Level,
  reason: string,
  place = operation.place,
): DiffFinding {
  const { id, method, path, file } = operation;
  return { rule, level, operation: `${method} ${path}`, operationId: id, side, file, place: place as string[], reason };
}

function compareOperations(old: Described, fresh: Described, comparer: Comparer, findings: DiffFinding[]): void {
  const tell: Tell = (rule, level, { place, where }, what) => {
    const reason = where === '' ? what : `${where}: ${what}`;
    findings.push({ ...finding(fresh, 'new', rule, level, reason), place });
  };
  const at = { place: fresh.place, where: '' };
  const pair = { old, new: fresh, comparer, tell, at };
  // Without an operationId it is called by its method and path.
  if (old.id !== fresh.id && !old.id.includes(' '))
    tell('operation-id-changed', 'additive', at, `the operationId goes from ${old.id} to ${fresh.id}`);
  if (!old.deprecated && fresh.deprecated)
    tell('operation-deprecated', 'additive', at, 'the operation is deprecated now');
  compareSecurity(pair);
  compareParameters(pair);
  compareBody(pair);
  compareAnswers(pair);
}
