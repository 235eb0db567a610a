// Reads path, query, header and cookie text into the typed parameters of one operation.

import type { Matched } from '../../exchange/exchange.ts';
import type { ContractOperation } from '../operations/operations.ts';
import type { Violation } from '../violations/violations.ts';
import { type Parameter, type Place, toParameter, toValue, withoutReference } from './parameter.ts';
import { createPathReader } from './path-values.ts';
import { QueryReader } from './query.ts';

/** Typed parameters by name. The objects have no prototype, because clients choose the names. */
export interface ParameterValues {
  readonly path: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly header: Record<string, unknown>;
  readonly cookie: Record<string, unknown>;
}

/** The parts of a request that have parameters, as text. */
type RequestTexts = Pick<Matched, 'path' | 'pathValues' | 'query' | 'headers'>;

export interface ParameterReader {
  /** Reads all declared parameters. Pushes violations found on the way (repeats, broken escapes). */
  read(request: RequestTexts, violations: Violation[]): ParameterValues;
  /**
   * Returns the query for the upstream, with its question mark: the client's own query, and the contract's defaults for absent parameters.
   * The result may be empty.
   */
  search(query: string, values: ParameterValues): string;
  /** Returns the names of the undeclared parameters that `search` leaves out, in a form that may be noted. */
  droppedNames(query: string): readonly string[] | undefined;
}

/** Shared by all requests that give no parameters of a place. */
const NONE: Record<string, unknown> = Object.freeze(withoutReference());

/** Prepares reading for one operation, so that no request has to look at the contract. */
export function createParameterReader(entry: ContractOperation): ParameterReader {
  const parameters = entry.parameters.map((located) => toParameter(entry.document.root, located));
  const ofPlace = (place: Place) => parameters.filter((parameter) => parameter.place === place);
  const queryReader = new QueryReader(ofPlace('query'), entry.operation.undeclaredQuery);
  const headers = ofPlace('header').map((parameter) => ({ parameter, name: parameter.name.toLowerCase() }));
  const cookies = ofPlace('cookie');
  const readPath = createPathReader(entry.operation, ofPlace('path'));

  function read(request: RequestTexts, violations: Violation[]): ParameterValues {
    const { query, headers: given } = request;
    const values = {
      path: readPath === undefined ? NONE : withoutReference(),
      query: query === '' ? NONE : withoutReference(),
      header: NONE,
      cookie: cookies.length === 0 ? NONE : withoutReference(),
    };
    readPath?.(request, values.path, violations);
    queryReader.read(query, values.query, violations);
    for (const { parameter, name } of headers) {
      const text = given.get(name);
      if (text === undefined) continue;
      if (values.header === NONE) values.header = withoutReference();
      values.header[name] = toValue(parameter, text);
    }
    if (cookies.length > 0) readCookies(given.get('cookie') ?? '', cookies, values.cookie);
    return values;
  }

  return {
    read,
    search: (query, values) => queryReader.search(query, values.query),
    droppedNames: (query) => queryReader.droppedNames(query),
  };
}

function readCookies(text: string, cookies: readonly Parameter[], values: Record<string, unknown>): void {
  for (const pair of text.split(';')) {
    const equals = pair.indexOf('=');
    if (equals === -1) continue;
    const name = pair.slice(0, equals).trim();
    const parameter = cookies.find((candidate) => candidate.name === name);
    // If several cookies have the same name, the first one is used, because it is the one that is forwarded.
    if (parameter && !(name in values)) values[name] = toValue(parameter, pair.slice(equals + 1).trim());
  }
}
