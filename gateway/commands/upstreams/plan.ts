// Plans valid requests for an operation, first its examples, then the least and the most of each parameter and member. Leaves out requests
// that the gateway itself would refuse.

import type { ContractOperation } from '../../contract/operations/operations.ts';
import { templateParameters } from '../../contract/operations/routes.ts';
import { toParameter } from '../../contract/parameters/parameter.ts';
import { createParameterReader } from '../../contract/parameters/parameters.ts';
import { writtenPathValue } from '../../contract/parameters/path-values.ts';
import { parameterSchema } from '../../contract/parameters/value-types.ts';
import { isRecord, type JsonObject, type LocatedValue } from '../../contract/pointer.ts';
import { samplesOf } from '../../contract/samples/sample.ts';
import type { Schemas } from '../../contract/schemas/schemas.ts';
import type { Violation } from '../../contract/violations/violations.ts';
import type { Matched } from '../../exchange/exchange.ts';
import { filledTemplate } from '../../upstream/path.ts';
import type { BackendRequest } from './backend.ts';
import { bodiesFor, examplesAt, type TrialBody } from './bodies.ts';

/** Template in front of a path parameter, such as `/v1/jobs` → ids of existing records. */
type KnownIds = ReadonlyMap<string, readonly string[]>;

interface Candidate {
  readonly name: string;
  readonly place: string;
  readonly required: boolean;
  readonly explode: boolean;
  /** Returns the text of a value in a path. */
  inPath(value: unknown): string;
  /** The simplest first. */
  readonly values: readonly unknown[];
}

/** Attempts at a first valid request. */
const TRIES = 6;
const VALUES_MAX = 4;

/** Returns valid requests, the simplest first. Returns none if no request can be built. */
export function requestsFor(entry: ContractOperation, schemas: Schemas, ids: KnownIds): BackendRequest[] {
  const candidates = entry.parameters.map((located) => toCandidate(entry.document.root, located));
  const bodies = bodiesFor(entry, schemas, (value) => withReferences(value, ids));
  if (bodies === undefined) return [];
  const { prepared, base } = firstOf(entry, schemas, candidates, ids);
  if (base === undefined) return [];
  const varied = candidates
    .filter(({ place }) => place === 'query' || place === 'header')
    .flatMap((one) => one.values.slice(0, VALUES_MAX).map((value) => new Map(base).set(one, value)));
  const withParameters = [base, ...varied].flatMap((values) => prepared(values) ?? []);
  const [first] = withParameters;
  if (first === undefined || bodies.length === 0) return withParameters;
  const [plain, ...others] = bodies;
  return [
    ...withParameters.map((asked) => withBody(asked, plain as TrialBody)),
    ...others.map((body) => withBody(first, body)),
  ];
}

function withBody(asked: BackendRequest, { contentType, body, bytes }: TrialBody): BackendRequest {
  return { ...asked, headers: new Map(asked.headers).set('content-type', contentType), body, bytes };
}

/** Creates a function that checks a request as the gateway does. It returns undefined if the gateway would refuse the request. */
export function createAcceptance(entry: ContractOperation, schemas: Schemas) {
  const reader = createParameterReader(entry);
  const check = schemas.request(entry).parameters;

  function acceptedParts({ pathValues, query, headers }: Pick<Matched, 'pathValues' | 'query' | 'headers'>) {
    const violations: Violation[] = [];
    const path = filledTemplate(entry.operation, pathValues);
    const read = reader.read({ path, pathValues, query, headers }, violations);
    return violations.length > 0 || check(read, query.length).length > 0 ? undefined : read;
  }

  return { accepted: acceptedParts, search: reader.search };
}

function firstOf(entry: ContractOperation, schemas: Schemas, candidates: readonly Candidate[], ids: KnownIds) {
  const { accepted, search } = createAcceptance(entry, schemas);

  /** Returns the request with these values; undefined if the gateway would refuse it. */
  function prepareRequest(values: ReadonlyMap<Candidate, unknown>): BackendRequest | undefined {
    const pathValues = pathValuesOf(entry, values, ids);
    const query = queryOf(values);
    const headers = headersOf(values);
    if (query === undefined || pathValues.some((value) => !/^[\x21-\x7e]+$/.test(value))) return undefined;
    const read = accepted({ pathValues, query, headers });
    if (read === undefined) return undefined;
    return { entry, pathValues, search: search(query, read), headers };
  }

  const required = candidates.filter(({ required, place }) => required || place === 'path');
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const base = new Map(required.map((one) => [one, one.values[attempt % Math.max(1, one.values.length)]]));
    if (prepareRequest(base) !== undefined) return { prepared: prepareRequest, base };
  }
  return { prepared: prepareRequest, base: undefined };
}

function toCandidate(root: JsonObject, located: LocatedValue): Candidate {
  const { name, in: place, required, explode } = located.value as JsonObject;
  const schema = parameterSchema(root, located);
  const parameter = toParameter(root, located);
  const values = [...examplesAt(root, located), ...(schema === undefined ? ['example'] : samplesOf(root, schema))];
  return {
    name: String(name),
    place: String(place),
    required: required === true,
    explode: explode !== false,
    inPath: (value) => writtenPathValue(parameter, value),
    values: values.filter((value) => value !== undefined && value !== null),
  };
}

function pathValuesOf(
  { operation }: ContractOperation,
  values: ReadonlyMap<Candidate, unknown>,
  ids: KnownIds,
): string[] {
  return templateParameters(operation.path).map((name) => {
    const known = ids.get(collectionOf(operation.path, name))?.[0];
    const [candidate, made] = [...values].find(([one]) => one.place === 'path' && one.name === name) ?? [];
    return known ?? candidate?.inPath(made ?? 'example') ?? 'example';
  });
}

/** Returns the part of a template before a path parameter. */
export function collectionOf(template: string, name: string): string {
  return template.slice(0, template.indexOf(`/{${name}}`));
}

/** Returns undefined if a value cannot be written in a query. */
function queryOf(values: ReadonlyMap<Candidate, unknown>): string | undefined {
  const pairs: string[] = [];
  for (const [{ name, place, explode }, value] of values) {
    if (place !== 'query') continue;
    const list: unknown[] = Array.isArray(value) ? value : [value];
    if (list.some((item) => typeof item === 'object')) return undefined;
    const texts = list.map((item) => encodeURIComponent(String(item)));
    if (explode) pairs.push(...texts.map((text) => `${encodeURIComponent(name)}=${text}`));
    else pairs.push(`${encodeURIComponent(name)}=${texts.join(',')}`);
  }
  return pairs.join('&');
}

function headersOf(values: ReadonlyMap<Candidate, unknown>): Map<string, string> {
  const headers = new Map([
    ['accept', 'application/json'],
    ['host', 'gateway.invalid'],
  ]);
  for (const [{ name, place }, value] of values) if (place === 'header') headers.set(name.toLowerCase(), String(value));
  return headers;
}

/** Replaces the value of a member such as `customer_id` by a known id of the collection `customers`. */
function withReferences(body: unknown, ids: KnownIds): unknown {
  if (!isRecord(body)) return body;
  const members = Object.entries(body).map(([name, value]) => {
    const [, kind] = /^(\w+)_id$/.exec(name) ?? [];
    const [, known = []] = [...ids].find(([path]) => kind !== undefined && path.endsWith(`/${kind}s`)) ?? [];
    return [name, typeof value === 'string' ? (known[0] ?? value) : value];
  });
  return Object.fromEntries(members);
}
