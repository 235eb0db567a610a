// Raw path, query, header and cookie text → the typed parameters of one operation.

import type { ContractOperation } from './operations.ts';
import { bare, type Parameter, type Place, toParameter, toScalar, toValue } from './parameter.ts';
import { isObject } from './pointer.ts';
import type { Violation } from './violations.ts';

/** The typed parameters, prototype-free so that no name a client chooses can mean anything. */
export interface ParameterValues {
  readonly path: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly header: Record<string, unknown>;
  readonly cookie: Record<string, unknown>;
}

export interface ParameterReader {
  /** Reads everything declared. Violations found on the way (repeats, broken escapes) are pushed. */
  read(
    pathValues: readonly string[],
    query: string,
    headers: ReadonlyMap<string, string>,
    violations: Violation[],
  ): ParameterValues;
  /** The query to send on: the client's own, with the contract's defaults for what is absent. With question mark, or empty. */
  search(query: string, values: ParameterValues): string;
}

/** Prepares reading for one operation; nothing of the contract is looked at per request. */
export function createParameterReader(entry: ContractOperation): ParameterReader {
  const parameters = entry.parameters.map((located) => toParameter(entry.document.root, located));
  const ofPlace = (place: Place) => parameters.filter((parameter) => parameter.place === place);
  const query = new Map(ofPlace('query').map((parameter) => [parameter.name, parameter]));
  const deepObjects = [...query.values()].filter((parameter) => parameter.deepObject);
  const headers = ofPlace('header').filter(
    ({ name }) => !['accept', 'content-type', 'authorization'].includes(name.toLowerCase()),
  );
  const cookies = ofPlace('cookie');
  const pathNames = [...entry.operation.path.matchAll(/\{([^}]*)\}/g)].map((match) => match[1] as string);
  const byPathName = new Map(ofPlace('path').map((parameter) => [parameter.name, parameter]));
  const fallbacks = [...query.values()]
    .filter(({ fallback }) => isScalar(fallback))
    .map(({ name, fallback }) => ({ name, pair: encodePair(name, fallback) }));
  const allFallbacks = fallbacks.length === 0 ? '' : `?${fallbacks.map(({ pair }) => pair).join('&')}`;

  function read(
    pathValues: readonly string[],
    text: string,
    given: ReadonlyMap<string, string>,
    violations: Violation[],
  ): ParameterValues {
    const values = { path: bare(), query: bare(), header: bare(), cookie: bare() };
    for (const [index, name] of pathNames.entries()) {
      const parameter = byPathName.get(name);
      const value = pathValues[index] as string;
      values.path[name] = parameter ? toValue(parameter, value) : value;
    }
    if (text !== '') readQuery(text, query, deepObjects, values.query, violations);
    for (const parameter of headers) {
      const value = given.get(parameter.name.toLowerCase());
      if (value !== undefined) values.header[parameter.name.toLowerCase()] = toValue(parameter, value);
    }
    if (cookies.length > 0) readCookies(given.get('cookie') ?? '', cookies, values.cookie);
    return values;
  }

  function search(text: string, values: ParameterValues): string {
    if (text === '') return allFallbacks;
    let sent = `?${text}`;
    for (const { name, pair } of fallbacks) if (!(name in values.query)) sent += `&${pair}`;
    return sent;
  }

  return { read, search };
}

function readQuery(
  text: string,
  declared: ReadonlyMap<string, Parameter>,
  deepObjects: readonly Parameter[],
  values: Record<string, unknown>,
  violations: Violation[],
): void {
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) {
      const shown = (name ?? pair).slice(0, 100);
      violations.push({ in: 'query', param: shown, code: 'invalid', message: 'Has an invalid percent-escape.' });
      continue;
    }
    const parameter = declared.get(name);
    const deep = parameter ? undefined : deepObjects.find((candidate) => name.startsWith(`${candidate.name}[`));
    if (deep) {
      setDeep(values, deep, name, value);
    } else if (!parameter) {
      values[name] = value;
    } else if (parameter.types.has('array') && parameter.separator === undefined) {
      listAt(values, name).push(toScalar(value, parameter.itemTypes));
    } else if (name in values) {
      violations.push({ in: 'query', param: name, code: 'duplicate', message: 'Is given more than once.' });
    } else {
      values[name] = toValue(parameter, value);
    }
  }
}

/** `filter[status]=open`, `expand[]=data`, `created[gte]=5`: members, and items where the brackets are empty or a number. */
function setDeep(values: Record<string, unknown>, parameter: Parameter, name: string, value: string): void {
  const keys = [...name.slice(parameter.name.length).matchAll(/\[([^\]]*)\]/g)].map((match) => match[1] as string);
  if (parameter.types.has('array') && keys.length === 1 && /^\d*$/.test(keys[0] as string)) {
    listAt(values, parameter.name).push(toScalar(value, parameter.itemTypes));
    return;
  }
  let node = objectIn(values, parameter.name);
  for (const key of keys.slice(0, -1)) node = objectIn(node, key);
  const last = keys.at(-1) ?? '';
  node[last] = toScalar(value, parameter.propertyTypes.get(last) ?? new Set());
}

function readCookies(text: string, cookies: readonly Parameter[], values: Record<string, unknown>): void {
  for (const pair of text.split(';')) {
    const equals = pair.indexOf('=');
    const parameter = cookies.find(({ name }) => name === pair.slice(0, equals).trim());
    if (parameter) values[parameter.name] = toValue(parameter, pair.slice(equals + 1).trim());
  }
}

/** Form decoding: plus is a space. `undefined` for a broken escape. */
function decode(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function encodePair(name: string, value: unknown): string {
  return `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`;
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function listAt(values: Record<string, unknown>, name: string): unknown[] {
  const list = Array.isArray(values[name]) ? values[name] : [];
  values[name] = list;
  return list;
}

function objectIn(values: Record<string, unknown>, name: string): Record<string, unknown> {
  const object = isObject(values[name]) ? values[name] : bare();
  values[name] = object;
  return object;
}
