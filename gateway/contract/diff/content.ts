// Compares the statuses, headers, media types and schemas of requests and answers.

import { essenceOf, isOfBytes } from '../media-types.ts';
import { child, isRecord, type JsonObject, type LocatedValue, member } from '../pointer.ts';
import type { OperationPair } from './described.ts';
import { namesIn, partOf } from './described.ts';
import { atTarget, below, type DiffPlace, type Side } from './findings.ts';
import { ANYTHING, resolve } from './view.ts';

export function compareBody(both: OperationPair): void {
  const { old, new: fresh, tell, at } = both;
  const [o, n] = [partOf(old, 'requestBody'), partOf(fresh, 'requestBody')];
  const place = atTarget(below(at, ['requestBody'], 'request body'), n);
  if (!isRecord(o.value) && !isRecord(n.value)) return;
  if (!isRecord(n.value)) {
    tell('request-body-removed', 'breaking', place, 'the operation no longer takes a body');
    return;
  }
  const isRequired = n.value.required === true;
  if (!isRecord(o.value)) {
    if (isRequired) tell('request-body-required', 'breaking', place, 'it is new and required');
    else tell('request-body-added', 'additive', place, 'it is new');
    return;
  }
  if (isRequired && o.value.required !== true) tell('request-body-required', 'breaking', place, 'it is required now');
  if (!isRequired && o.value.required === true) tell('request-body-optional', 'additive', place, 'it is optional now');
  compareContent(both, 'request', member(old.root, o, 'content'), member(fresh.root, n, 'content'), place);
}

export function compareAnswers(both: OperationPair): void {
  const { old, new: fresh, tell, at } = both;
  const [before, after] = [partOf(old, 'responses'), partOf(fresh, 'responses')];
  const statuses = namesIn(after);
  for (const status of namesIn(before)) {
    const now = [status, `${status[0]}XX`, 'default'].find((one) => statuses.includes(one));
    const place = below(at, ['responses', now ?? status], `answer ${status}`);
    const isSuccess = /^[23]/.test(status);
    // A default answer promises nothing about success.
    if (now === undefined || (now === 'default' && isSuccess)) {
      const level = isSuccess || status === 'default' ? 'breaking' : 'additive';
      tell(`response-${isSuccess ? 'success-' : ''}status-removed`, level, place, 'it is no longer described');
      continue;
    }
    const answer = member(fresh.root, after, now);
    compareAnswer(both, member(old.root, before, status), answer, atTarget(place, answer));
  }
  for (const status of statuses) {
    if (namesIn(before).includes(status)) continue;
    tell('response-status-added', 'additive', below(at, ['responses', status], `answer ${status}`), 'it is new');
  }
}

function compareAnswer(both: OperationPair, old: LocatedValue, fresh: LocatedValue, at: DiffPlace): void {
  compareHeaders(both, member(both.old.root, old, 'headers'), member(both.new.root, fresh, 'headers'), at);
  const [o, n] = [member(both.old.root, old, 'content'), member(both.new.root, fresh, 'content')];
  compareContent(both, 'response', o, n, at);
}

function compareHeaders(
  { old, new: fresh, comparer, tell }: OperationPair,
  before: LocatedValue,
  after: LocatedValue,
  at: DiffPlace,
): void {
  const names = new Map(namesIn(after).map((name) => [name.toLowerCase(), name]));
  const was = new Set(namesIn(before).map((name) => name.toLowerCase()));
  for (const name of namesIn(before)) {
    const now = names.get(name.toLowerCase());
    const written = below(at, ['headers', now ?? name], `, header ${name}`);
    if (now === undefined) {
      tell('response-header-removed', 'breaking', written, 'it was removed');
      continue;
    }
    const [o, n] = [member(old.root, before, name), member(fresh.root, after, now)];
    const place = atTarget(written, n);
    const [wasRequired, isRequired] = [o, n].map(({ value }) => isRecord(value) && value.required === true);
    if (wasRequired && !isRequired) tell('response-header-optional', 'breaking', place, 'it may be left out now');
    if (!(isRecord(o.value) && isRecord(n.value) && 'schema' in o.value && 'schema' in n.value)) continue;
    comparer.compare('response', child(o, 'schema'), child(n, 'schema'), place, tell);
  }
  for (const [lower, name] of names) {
    if (!was.has(lower))
      tell('response-header-added', 'additive', below(at, ['headers', name], `, header ${name}`), 'it is new');
  }
}

/** Compares media types by name, without parameters. A range covers the types in it. */
export function compareContent(
  { old, new: fresh, comparer, tell }: OperationPair,
  side: Side,
  before: LocatedValue,
  after: LocatedValue,
  at: DiffPlace,
): void {
  const types = namesIn(after);
  for (const type of namesIn(before)) {
    const now = types.find((one) => essenceOf(one) === essenceOf(type)) ?? types.find((one) => covers(one, type));
    const place = below(at, ['content', now ?? type], ` ${type}`);
    if (now === undefined) {
      tell(`${side}-media-type-removed`, 'breaking', place, 'this media type was removed');
      continue;
    }
    const [o, n] = [member(old.root, before, type), member(fresh.root, after, now)];
    const [oldSchema, newSchema] = [declaredSchema(o), declaredSchema(n)];
    if (oldSchema === undefined && newSchema === undefined) continue;
    if (isUnchecked(type, old.root, oldSchema) && isUnchecked(now, fresh.root, newSchema)) continue;
    comparer.compare(side, oldSchema ?? ANYTHING, newSchema ?? ANYTHING, below(place, ['schema']), tell);
  }
  for (const type of types) {
    if (namesIn(before).some((one) => essenceOf(one) === essenceOf(type))) continue;
    tell(`${side}-media-type-added`, 'additive', below(at, ['content', type], ` ${type}`), 'this media type is new');
  }
}

/** Whether a body may be any bytes. OpenAPI 3.0 declares this by a type and a format, and OpenAPI 3.1 by no schema. */
function isUnchecked(type: string, root: JsonObject, schema: LocatedValue | undefined): boolean {
  if (!isOfBytes(type) && essenceOf(type) !== 'text/event-stream') return false;
  const value = schema === undefined ? {} : resolve(root, schema).value;
  if (value === true) return true;
  if (!isRecord(value)) return false;
  const rules = Object.keys(value).filter((key) => !/^(description|title|examples?|contentMediaType|x-.*)$/.test(key));
  return rules.every((key) => value[key] === { type: 'string', format: 'binary' }[key]);
}

/** Returns the schema of a parameter or media type; undefined if it has none. */
export function declaredSchema(owner: LocatedValue): LocatedValue | undefined {
  return isRecord(owner.value) && 'schema' in owner.value ? child(owner, 'schema') : undefined;
}

function covers(range: string, type: string): boolean {
  const [kind = '', subtype] = essenceOf(range).split('/');
  return subtype === '*' && (kind === '*' || essenceOf(type).startsWith(`${kind}/`));
}
