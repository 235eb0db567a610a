// Makes the value of a declared answer. This is an example of the contract, or otherwise a value that openapi-backend makes from the
// schema, or that the gateway's own sampler makes where the library is wrong. Every value of a JSON type is valid by the check that the
// gateway uses for answers.

import type { ErrorObject } from 'ajv/dist/2020.js';
import { OpenAPIBackend, OpenAPIRouter } from 'openapi-backend';
import { essenceOf, isJson } from '../media-types.ts';
import { follow, isRecord, type JsonObject, type LocatedValue, pathOf } from '../pointer.ts';
import { samplesOf } from '../samples/sample.ts';
import type { SchemaCheck, Schemas } from '../schemas/schemas.ts';
import { answerSchema, type DeclaredAnswer, examplesFor, type WrittenExample, writtenExamples } from './declared.ts';

export interface MadeValue {
  readonly value: unknown;
}

export interface ValueOptions {
  readonly answer: DeclaredAnswer;
  /** The media type, in the spelling of the contract. */
  readonly type: string;
  readonly mediaType: LocatedValue;
  /** The name of the wanted example; undefined for any value. */
  readonly example: string | undefined;
  readonly schemas: Schemas;
}

/** Returns a valid value; undefined if no value was found. Throws if the schema does not compile. */
export function valueFor(options: ValueOptions): MadeValue | undefined {
  const check = checkFor(options) ?? (() => []);
  for (const { value, isMade } of candidates(options)) {
    const valid = isMade ? repair(value, check) : { value };
    if (valid !== undefined && check(valid.value, 0).length === 0) return valid;
  }
  return undefined;
}

/** Returns the gateway's check of answers; undefined for types that it does not check. */
export function checkFor({
  answer,
  type,
  schemas,
}: Pick<ValueOptions, 'answer' | 'type' | 'schemas'>): SchemaCheck | undefined {
  const essence = essenceOf(type);
  return isJson(essence) ? schemas.answer(answer.entry, answer.status, essence) : undefined;
}

interface Candidate {
  readonly value: unknown;
  /** Whether the value was made from a schema, so that members may be removed from it to make it valid. */
  readonly isMade: boolean;
}

function* candidates(options: ValueOptions): Generator<Candidate> {
  const { answer, mediaType, example } = options;
  const { root } = answer.entry.document;
  const examples =
    example === undefined
      ? examplesFor(answer, mediaType)
      : writtenExamples(root, mediaType).filter(({ name }) => name === example);
  // The library ignores a falsy example, so such an example is given here.
  if (examples[0] !== undefined && !examples[0].value) yield { value: examples[0].value, isMade: false };
  // The values of the library must be checked, because it combines several schemas (allOf, oneOf) in a wrong way.
  const mocked = checkFor(options) && mockedBy(options, examples);
  const saysNothing = JSON.stringify(mocked?.value) === '{}';
  if (mocked !== undefined && !saysNothing) yield { ...mocked, isMade: false };
  for (const { value } of examples) yield { value, isMade: false };
  const schema = answerSchema(mediaType);
  if (schema === undefined) {
    yield { value: 'example', isMade: false };
    return;
  }
  for (const withExamples of [true, false])
    for (const value of samplesOf(root, schema, { of: 'answer', withExamples })) yield { value, isMade: true };
}

/** Returns the answer of openapi-backend for an operation with this answer only. The result is copied, because the library shares it. */
function mockedBy({ mediaType, answer }: ValueOptions, examples: readonly WrittenExample[]): MadeValue | undefined {
  const schema = answerSchema(mediaType);
  const copied = schema && copyForMock(answer.entry.document.root, schema.value);
  if (copied === undefined && examples.length === 0) return undefined;
  const [first] = examples;
  const content = { 'application/json': { schema: copied ?? {}, ...(first && { example: first.value }) } };
  const operation = { operationId: 'it', responses: { 200: { description: '', content } } };
  const definition = {
    openapi: '3.0.3',
    info: { title: '', version: '' },
    paths: { '/': { get: operation } },
  } as const;
  const backend = new OpenAPIBackend({ definition: definition as never, quick: true });
  // `init()` of the library is not called, because it would dereference and validate the document, which has already been done.
  backend.router = new OpenAPIRouter({ definition: definition as never });
  try {
    const { mock } = backend.mockResponseForOperation('it', { code: 200, mediaType: 'application/json' });
    return { value: JSON.parse(JSON.stringify(mock)) };
  } catch {
    return undefined;
  }
}

const COPIED_SCHEMAS_MAX = 2000;

/**
 * Returns a copy without references and write-only members, because openapi-backend supports neither. A schema that contains itself becomes
 * an empty schema there. Returns undefined if the copy would be too large.
 */
function copyForMock(root: JsonObject, schema: unknown): unknown {
  let left = COPIED_SCHEMAS_MAX;

  function copy(value: unknown, around: readonly unknown[]): unknown {
    if (!isRecord(value)) return value;
    const target = follow(root, { value, pointer: '' }).value;
    left -= 1;
    if (left < 0 || around.includes(target)) return {};
    const inside = [...around, target];
    const { $ref, ...merged }: JsonObject = { ...(isRecord(target) ? target : {}), ...value };
    const each = (list: unknown) => (Array.isArray(list) ? list.map((one) => copy(one, inside)) : list);
    const members = Object.entries(isRecord(merged.properties) ? merged.properties : {})
      .map(([name, below]) => [name, copy(below, inside)] as const)
      .filter(([, below]) => !isRecord(below) || below.writeOnly !== true);
    return {
      ...merged,
      ...(merged.properties === undefined ? {} : { properties: Object.fromEntries(members) }),
      ...(merged.items === undefined ? {} : { items: copy(merged.items, inside) }),
      ...Object.fromEntries(
        ['allOf', 'oneOf', 'anyOf'].filter((name) => name in merged).map((name) => [name, each(merged[name])]),
      ),
    };
  }

  const copied = copy(schema, []);
  return left < 0 ? undefined : copied;
}

const REPAIRS_MAX = 50;

/** Removes invalid members and items, as long as others remain. Returns undefined if the value is still invalid. */
function repair(value: unknown, check: SchemaCheck): MadeValue | undefined {
  const copy = { value: structuredClone(value) };
  for (let left = REPAIRS_MAX; left > 0; left--) {
    const [error] = check(copy.value, 0);
    if (error === undefined) return copy;
    if (!takeOut(copy.value, placeOf(error))) return undefined;
  }
  return undefined;
}

function placeOf({ instancePath, params }: ErrorObject): string[] {
  const extra = params.additionalProperty ?? params.unevaluatedProperty;
  return [...pathOf(instancePath), ...(typeof extra === 'string' ? [extra] : [])];
}

function takeOut(value: unknown, path: readonly string[]): boolean {
  const name = path.at(-1);
  if (name === undefined) return false;
  const parent = path.slice(0, -1).reduce<unknown>((at, key) => (at as JsonObject | undefined)?.[key], value);
  if (Array.isArray(parent)) return parent.splice(Number(name), 1).length > 0;
  return isRecord(parent) && delete parent[name];
}
