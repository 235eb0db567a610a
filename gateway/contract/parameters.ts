// Reads path, query, header and cookie text into the typed parameters of one operation.

import type { ContractOperation } from './operations.ts';
import { type Parameter, type Place, toParameter, toValue, withoutReference } from './parameter.ts';
import { createQueryReader } from './query.ts';
import { templateParameters } from './routes.ts';
import type { Violation } from './violations.ts';

/** Typed parameters by name. The objects have no prototype, because clients choose the names. */
export interface ParameterValues {
  readonly path: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly header: Record<string, unknown>;
  readonly cookie: Record<string, unknown>;
}

export interface ParameterReader {
  /** Reads all declared parameters. Pushes violations found on the way (repeats, broken escapes). */
  read(
    pathValues: readonly string[],
    query: string,
    headers: ReadonlyMap<string, string>,
    violations: Violation[],
  ): ParameterValues;
  /**
   * Returns the query for the upstream: the client's own plus the contract's defaults for absent parameters. With question mark, or
   * empty.
   */
  search(query: string, values: ParameterValues): string;
}

/** Shared by all requests without parameters of a place, because creating an object without prototype is slow. */
const NONE: Record<string, unknown> = Object.freeze(withoutReference());

/** Prepares reading for one operation, so that no request has to look at the contract. */
export function createParameterReader(entry: ContractOperation): ParameterReader {
  const parameters = entry.parameters.map((located) => toParameter(entry.document.root, located));
  const ofPlace = (place: Place) => parameters.filter((parameter) => parameter.place === place);
  const queryReader = createQueryReader(ofPlace('query'), entry.operation.undeclaredQuery);
  const headers = ofPlace('header').map((parameter) => ({ parameter, name: parameter.name.toLowerCase() }));
  const cookies = ofPlace('cookie');
  const ofPath = new Map(ofPlace('path').map((parameter) => [parameter.name, parameter]));
  const path = templateParameters(entry.operation.path).map((name) => ({ name, parameter: ofPath.get(name) }));

  function read(
    pathValues: readonly string[],
    query: string,
    given: ReadonlyMap<string, string>,
    violations: Violation[],
  ): ParameterValues {
    const values = {
      path: path.length === 0 ? NONE : withoutReference(),
      query: query === '' ? NONE : withoutReference(),
      header: headers.length === 0 ? NONE : withoutReference(),
      cookie: cookies.length === 0 ? NONE : withoutReference(),
    };
    for (let index = 0; index < path.length; index += 1) {
      const { name, parameter } = path[index] as (typeof path)[number];
      const text = pathValues[index] as string;
      values.path[name] = parameter ? toValue(parameter, text) : text;
    }
    queryReader.read(query, values.query, violations);
    for (const { parameter, name } of headers) {
      const text = given.get(name);
      if (text !== undefined) values.header[name] = toValue(parameter, text);
    }
    if (cookies.length > 0) readCookies(given.get('cookie') ?? '', cookies, values.cookie);
    return values;
  }

  return { read, search: (query, values) => queryReader.search(query, values.query) };
}

function readCookies(text: string, cookies: readonly Parameter[], values: Record<string, unknown>): void {
  for (const pair of text.split(';')) {
    const equals = pair.indexOf('=');
    if (equals === -1) continue;
    const name = pair.slice(0, equals).trim();
    const parameter = cookies.find((candidate) => candidate.name === name);
    // Of several with one name the first counts, which is the one that crosses.
    if (parameter && !(name in values)) values[name] = toValue(parameter, pair.slice(equals + 1).trim());
  }
}
