// Compares the branches of two unions independent of their order, after pairing the branches that correspond.

import { isRecord } from '../../shared/is-record.ts';
import type { LocatedValue } from '../pointer.ts';
import type { Walk } from './findings.ts';
import { below, type DiffPlace, levelOf } from './findings.ts';
import type { Union } from './view.ts';

export function compareUnions(walk: Walk, old: Union, fresh: Union, at: DiffPlace): void {
  const { side, tell } = walk;
  const before = [...old.branches];
  const after = [...fresh.branches];
  const pairUp = (belong: (o: LocatedValue, n: LocatedValue) => boolean) => {
    for (const o of [...before]) {
      const n = after.find((candidate) => belong(o, candidate));
      if (n === undefined) continue;
      before.splice(before.indexOf(o), 1);
      after.splice(after.indexOf(n), 1);
      walk.schemas(o, n, below(at, [fresh.kind, fresh.branches.indexOf(n)], `/${nameOf(n) ?? fresh.kind}`));
    }
  };
  pairUp((o, n) => nameOf(o) !== undefined && nameOf(o) === nameOf(n));
  pairUp((o, n) => nameOf(o) === undefined && JSON.stringify(o.value) === JSON.stringify(n.value));
  pairUp((old, fresh) => walk.fits(old, fresh));
  if (before.length === 1 && after.length === 1) pairUp(() => true);
  for (const o of before) {
    // A removed branch of a request does no harm if another branch accepts everything that it accepted.
    const covered = side === 'request' && fresh.branches.some((n) => walk.fits(o, n));
    const level = covered ? 'additive' : levelOf(side, 'narrowed');
    tell(`${side}-alternative-removed`, level, at, `the alternative ${labelOf(o)} was removed`);
  }
  for (const n of after) {
    const covered = side === 'response' && old.branches.some((o) => walk.fits(o, n));
    const level = covered ? 'additive' : levelOf(side, 'widened');
    tell(`${side}-alternative-added`, level, at, `the alternative ${labelOf(n)} is new`);
  }
  const kinds = old.branches.length > 1 && fresh.branches.length > 1 && old.kind !== fresh.kind;
  if (kinds && fresh.kind === 'oneOf') {
    const what = 'exactly one alternative must fit now, where several could';
    tell(`${side}-alternatives-narrowed`, levelOf(side, 'narrowed'), at, what);
  }
}

function nameOf({ value }: LocatedValue): string | undefined {
  return isRecord(value) && typeof value.$ref === 'string' ? value.$ref.split('/').at(-1) : undefined;
}

function labelOf(located: LocatedValue): string {
  const name = nameOf(located);
  if (name !== undefined) return name;
  const { value } = located;
  const label = isRecord(value) ? (value.title ?? value.type ?? value.const) : value;
  return label === undefined ? 'without a name' : String(label);
}
