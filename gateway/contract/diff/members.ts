// Compares the rules of two schemas about the members of objects and the items of lists. The walk compares the schemas of the members
// later.

import type { LocatedValue } from '../pointer.ts';
import type { DiffPlace, Walk } from './findings.ts';
import { below, levelOf } from './findings.ts';
import { reportChange } from './keywords.ts';
import { ANYTHING, type View } from './view.ts';

export type ViewOf = (located: LocatedValue) => View;

export function compareMembers(
  walk: Walk,
  old: View,
  fresh: View,
  at: DiffPlace,
  viewOfOld: ViewOf,
  viewOfNew: ViewOf,
): void {
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
      compareRequired(walk, old.required.has(name), isRequired, below(at, ['required', name], `/${name}`));
      walk.schemas(o as LocatedValue, n as LocatedValue, place);
      compareDefaults(walk, viewOfOld(o as LocatedValue), viewOfNew(n as LocatedValue), place, false);
    }
  }
  for (const name of new Set([...old.required, ...fresh.required])) {
    if (old.properties.has(name) || fresh.properties.has(name)) continue;
    compareRequired(walk, old.required.has(name), fresh.required.has(name), below(at, ['required', name], `/${name}`));
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
      reportChange(
        walk,
        'pattern-properties',
        o ? 'widened' : 'narrowed',
        place,
        o ? 'such members are no longer described' : 'such members are described now',
      );
  }
}

/**
 * Compares undeclared members. New members in answers never break, because clients must tolerate members that the contract does not
 * describe.
 */
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

export function compareItems(walk: Walk, old: View, fresh: View, at: DiffPlace): void {
  const length = Math.max(old.prefixItems.length, fresh.prefixItems.length);
  for (let index = 0; index < length; index += 1) {
    const o = old.prefixItems[index] ?? old.items ?? ANYTHING;
    const n = fresh.prefixItems[index] ?? fresh.items ?? ANYTHING;
    walk.schemas(o, n, below(at, ['prefixItems', index], `/${index}`));
  }
  if (old.items === undefined && fresh.items === undefined) return;
  walk.schemas(old.items ?? ANYTHING, fresh.items ?? ANYTHING, below(at, ['items'], '/[]'));
}

/** Compares the defaults. The gateway fills in the defaults of parameters, so a new default there changes requests as well. */
export function compareDefaults(
  { side, tell }: Walk,
  old: View,
  fresh: View,
  at: DiffPlace,
  isParameter: boolean,
): void {
  if (old.default === fresh.default) return;
  const breaks = side === 'request' && (isParameter || old.default !== undefined);
  const what = `the default goes from ${old.default ?? 'none'} to ${fresh.default ?? 'none'}`;
  tell(`${side}-default-changed`, breaks ? 'breaking' : 'additive', at, what);
}
