// Reads requests by the parameters that a test declares, through the compiled check, as the validate stage does.

import assert from 'node:assert/strict';
import { createParameterReader } from '../../../gateway/contract/parameters/parameters.ts';
import { toViolations, type Violation } from '../../../gateway/contract/violations/violations.ts';
import { compileDocument, documentWithParameters } from './compiled.ts';

export interface Reading {
  /** The questions to the schemas, by place. */
  readonly values: Record<string, Record<string, unknown>>;
  /** `place param code`, in order. */
  readonly violations: readonly string[];
  readonly all: readonly Violation[];
  /** The query that is sent on. */
  readonly search: string;
}

export interface Given {
  /** Decoded values of the path parameters. */
  readonly path?: readonly string[];
  /** As the client wrote the path; by default the values, one in each segment. */
  readonly rawPath?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function readerFor(
  parameters: object[],
  path = '/',
  rest: object = {},
): Promise<(given: Given) => Reading> {
  const { operations, schemas, mistakes } = await compileDocument(documentWithParameters(path, parameters, rest));
  assert.deepEqual(mistakes, []);
  const [entry] = operations;
  assert.ok(entry);
  const reader = createParameterReader(entry);
  const check = schemas.request(entry).parameters;
  return ({ path: pathValues = [], query = '', headers = {}, rawPath = `/${pathValues.join('/')}` }) => {
    const all: Violation[] = [];
    const texts = { path: rawPath, pathValues, query, headers: new Map(Object.entries(headers)) };
    const values = reader.read(texts, all);
    all.push(...toViolations(check(values, 0), entry.document.root));
    return {
      values: plain(values) as Reading['values'],
      violations: all.map((violation) => `${violation.in} ${violation.param} ${violation.code}`),
      all,
      search: reader.search(query, values),
    };
  };
}

export async function queryReader(
  parameter: object,
): Promise<(query: string) => Reading & { readonly value: unknown }> {
  const read = await readerFor([{ name: 'q', in: 'query', ...parameter }]);
  return (query) => {
    const reading = read({ query });
    return { ...reading, value: reading.values.query?.q };
  };
}

/** Values are made without prototypes; comparisons are easier with. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}
