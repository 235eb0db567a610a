// Compares parameters: path parameters by their position in the path, the others by name and place.

import { templateParameters } from '../operations/routes.ts';
import { isRecord, type LocatedValue, member } from '../pointer.ts';
import { compareContent, declaredSchema } from './content.ts';
import type { Described, OperationPair } from './described.ts';
import { atTarget, below, type DiffPlace } from './findings.ts';

export function compareParameters(both: OperationPair): void {
  const { old, new: fresh, tell, at } = both;
  const [before, after] = [parametersOf(old), parametersOf(fresh)];
  const home = below(at, ['parameters']);
  for (const [key, o] of before) {
    const n = after.get(key);
    const place = below(home, [], `${inOf(n ?? o)} parameter "${nameOf(n ?? o)}"`);
    if (n === undefined) tell('request-parameter-removed', 'breaking', place, 'it was removed');
    else compareParameter(both, o, n, atTarget(place, n));
  }
  for (const [key, n] of after) {
    if (before.has(key)) continue;
    const place = atTarget(below(home, [], `${inOf(n)} parameter "${nameOf(n)}"`), n);
    if (isRequired(n)) tell('request-parameter-required', 'breaking', place, 'it is new and required');
    else tell('request-parameter-added', 'additive', place, 'it is new');
  }
}

function parametersOf({ parameters, path }: Described): Map<string, LocatedValue> {
  const positions = templateParameters(path);
  const keyOf = (parameter: LocatedValue) => {
    const [where, name] = [inOf(parameter), nameOf(parameter)];
    if (where === 'path') return `path ${positions.indexOf(name)}`;
    return `${where} ${where === 'header' ? name.toLowerCase() : name}`;
  };
  return new Map(parameters.map((parameter) => [keyOf(parameter), parameter]));
}

function compareParameter(both: OperationPair, old: LocatedValue, fresh: LocatedValue, at: DiffPlace): void {
  const { tell, comparer } = both;
  const [was, is] = [isRequired(old), isRequired(fresh)];
  if (!was && is) tell('request-parameter-required', 'breaking', at, 'it is required now');
  if (was && !is) tell('request-parameter-optional', 'additive', at, 'it is optional now');
  if (writtenAs(old) !== writtenAs(fresh)) {
    const what = `its serialization changes: ${writtenAs(old)} before, ${writtenAs(fresh)} now`;
    tell('request-parameter-style-changed', 'breaking', at, what);
  }
  const [o, n] = [declaredSchema(old), declaredSchema(fresh)];
  if (o && n) comparer.compare('request', o, n, below(at, ['schema']), tell, true);
  else compareContent(both, 'request', contentOf(both.old, old), contentOf(both.new, fresh), at);
}

function contentOf({ root }: Described, parameter: LocatedValue): LocatedValue {
  return member(root, parameter, 'content');
}

/** Describes the serialization of a parameter. `explode` matters only for arrays and objects. */
function writtenAs(parameter: LocatedValue): string {
  const { style, explode, schema, content } = parameter.value as Record<string, unknown>;
  if (content !== undefined) return 'content';
  const isForm = ['query', 'cookie'].includes(inOf(parameter));
  const written = String(style ?? (isForm ? 'form' : 'simple'));
  const types = isRecord(schema) ? [schema.type].flat().map(String) : [];
  const hasParts = types.length === 0 || types.some((type) => ['array', 'object', 'undefined'].includes(type));
  if (!hasParts) return written;
  return `${written} ${(explode ?? written === 'form') ? 'exploded' : 'in one piece'}`;
}

function isRequired({ value }: LocatedValue): boolean {
  return isRecord(value) && (value.required === true || value.in === 'path');
}

function inOf({ value }: LocatedValue): string {
  return isRecord(value) ? String(value.in) : '';
}

function nameOf({ value }: LocatedValue): string {
  return isRecord(value) ? String(value.name) : '';
}
