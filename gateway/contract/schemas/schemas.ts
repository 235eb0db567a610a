// Compiles the schemas of operations into checks, on first use.

import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { declaredFor, essenceOf, isJson, MULTIPART, mediaTypeOf, URLENCODED } from '../media-types.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { allowsEmptyValue } from '../parameters/parameter.ts';
import { parameterSchema } from '../parameters/value-types.ts';
import {
  child,
  follow,
  fragmentOf,
  type JsonObject,
  type LocatedValue,
  member,
  memberNames,
  objectAt,
} from '../pointer.ts';
import type { ContractDocument } from '../reading/document.ts';
import { type AjvByExtent, createAjvByExtent, DOCUMENT_KEY } from './ajv.ts';
import { allowFor, tooComplex } from './check-scope.ts';
import { declareInherited } from './inherited-names.ts';
import { forgetResults } from './references.ts';

/**
 * Returns the errors of a value; empty if the value is valid. The paths of the errors begin at the value. `size` is the number of members
 * and items in the value.
 */
export type SchemaCheck = (value: unknown, size: number) => readonly ErrorObject[];

export interface RequestSchemas {
  /** Checks `{path, query, header, cookie}`. */
  readonly parameters: SchemaCheck;
  /** One check per declared media type or range that is JSON or a form, or includes them, by its lower-case name. */
  readonly bodies: ReadonlyMap<string, SchemaCheck>;
  /** Compiles the check of an object whose members have these schemas. */
  objectCheck(members: ReadonlyMap<string, LocatedValue | undefined>, required: readonly string[]): SchemaCheck;
}

export interface Schemas {
  /** Throws when a schema cannot be compiled; the message names the schema. */
  request(entry: ContractOperation): RequestSchemas;
  /** Returns the check of a response's JSON body; undefined if the contract declares no schema for it. */
  answer(entry: ContractOperation, status: number, mediaType?: string): SchemaCheck | undefined;
  /**
   * Returns the check of each item of a stream of this media type; undefined if the contract declares no `itemSchema` for it. `data` checks
   * the JSON in the member `data` of an event, if its schema has a `contentSchema`.
   */
  item(entry: ContractOperation, status: number, mediaType: string): ItemSchemas | undefined;
  /** Compiles the check of any schema of a document. Throws when it cannot be compiled. */
  schemaAt(document: ContractDocument, pointer: string, side: 'request' | 'answer'): SchemaCheck;
}

interface ItemSchemas {
  readonly item: SchemaCheck;
  readonly data: SchemaCheck | undefined;
}

/**
 * Above this size only the first error of a value is collected. The client chooses the number of errors, and Ajv copies the collected
 * errors whenever it returns from a reference. 60,000 wrong items took 9.5 s, and 2,000 take 7 ms.
 */
const COLLECTED_SIZE_MAX = 2000;

const NO_ERRORS: readonly ErrorObject[] = [];

/** The compiled schemas of one document, by the pointers of operations and of schemas. */
interface CompiledSchemas {
  readonly forRequests: AjvByExtent;
  readonly forAnswers: AjvByExtent;
  readonly requests: Map<string, RequestSchemas>;
  readonly answers: Map<string, SchemaCheck>;
  readonly items: Map<string, ItemSchemas>;
}

/**
 * Creates the compiler of schemas. It registers whole documents with Ajv, and refers to schemas by pointer, so that circular references
 * need no dereferencing. Each document has its own Ajv, with which its compiled schemas are released
 * (docs/decisions/0004-contract-tools.md).
 */
export function createSchemas(): Schemas {
  const documents = new WeakMap<ContractDocument, CompiledSchemas>();

  function compiledOf(document: ContractDocument): CompiledSchemas {
    const known = documents.get(document);
    if (known) return known;
    const [forRequests, forAnswers] = [createAjvByExtent(document, true), createAjvByExtent(document, false)];
    const made = { forRequests, forAnswers, requests: new Map(), answers: new Map(), items: new Map() };
    documents.set(document, made);
    return made;
  }

  function request(entry: ContractOperation): RequestSchemas {
    const { requests, forRequests } = compiledOf(entry.document);
    const known = requests.get(entry.located.pointer);
    if (known) return known;
    const made = requestSchemasOf(entry, forRequests);
    requests.set(entry.located.pointer, made);
    return made;
  }

  function answer(entry: ContractOperation, status: number, mediaType?: string): SchemaCheck | undefined {
    const declared = jsonSchemasOf(entry.document.root, responseFor(entry, status));
    const fitting = declaredFor(
      mediaType,
      declared.map(([type]) => type),
    );
    const [, schema] = declared.find(([type]) => type === fitting) ?? declared[0] ?? [];
    if (!schema) return undefined;
    const { answers, forAnswers } = compiledOf(entry.document);
    const check = answers.get(schema.pointer) ?? toCheck(forAnswers, pointTo(schema));
    answers.set(schema.pointer, check);
    return check;
  }

  function item(entry: ContractOperation, status: number, mediaType: string): ItemSchemas | undefined {
    const { root } = entry.document;
    const content = member(root, responseFor(entry, status), 'content');
    const declared = memberNames(content).find((type) => essenceOf(type) === mediaType);
    if (declared === undefined) return undefined;
    const schema = child(member(root, content, declared), 'itemSchema');
    if (schema.value === undefined) return undefined;
    const { items, forAnswers } = compiledOf(entry.document);
    const known = items.get(schema.pointer);
    if (known) return known;
    const data = contentSchemaOf(root, schema);
    const made = { item: toCheck(forAnswers, pointTo(schema)), data: data && toCheck(forAnswers, pointTo(data)) };
    items.set(schema.pointer, made);
    return made;
  }

  function schemaAt(document: ContractDocument, pointer: string, side: 'request' | 'answer'): SchemaCheck {
    const { forRequests, forAnswers } = compiledOf(document);
    return toCheck(side === 'request' ? forRequests : forAnswers, pointTo({ value: undefined, pointer }));
  }

  return { request, answer, item, schemaAt };
}

/** Returns the schema of the JSON text in the member `data` (JSON Schema Validation 2020-12, section 8.5). */
function contentSchemaOf(root: JsonObject, itemSchema: LocatedValue): LocatedValue | undefined {
  const data = follow(root, child(child(follow(root, itemSchema), 'properties'), 'data'));
  const schema = child(data, 'contentSchema');
  return schema.value === undefined ? undefined : schema;
}

function pointTo({ pointer }: LocatedValue): JsonObject {
  return { $ref: `${DOCUMENT_KEY}${fragmentOf(pointer)}` };
}

function requestSchemasOf(entry: ContractOperation, ajvs: AjvByExtent): RequestSchemas {
  const { root } = entry.document;
  const bodies = jsonSchemasOf(root, member(root, entry.located, 'requestBody'), CHECKED_TYPES).map(
    ([type, schema]) => [type, toCheck(ajvs, bodySchemaOf(root, type, schema))] as const,
  );
  return {
    parameters: toCheck(ajvs, parametersSchemaOf(entry)),
    bodies: new Map(bodies),
    objectCheck(members, required) {
      const properties = [...members].map(([name, schema]) => [name, schema ? pointTo(schema) : {}] as const);
      return toCheck(ajvs, objectSchema({ properties: Object.fromEntries(properties), required }));
    },
  };
}

function objectSchema(keywords: JsonObject): JsonObject {
  const schema = { type: 'object', ...keywords };
  declareInherited(schema);
  return schema;
}

/** Returns the schema of `{path, query, header, cookie}`. Undeclared headers and cookies are allowed, because clients add their own. */
function parametersSchemaOf({ document: { root }, parameters }: ContractOperation): JsonObject {
  const declared = parameters.map((located) => {
    const { name, in: place, required } = located.value as JsonObject;
    const schema = parameterSchema(root, located);
    return {
      name: place === 'header' ? String(name).toLowerCase() : String(name),
      place,
      required: required === true,
      schema: schema ? parameterCheck(located, schema) : {},
    };
  });
  const schemaOf = (place: string) => {
    const here = declared.filter((parameter) => parameter.place === place);
    return objectSchema({
      properties: Object.fromEntries(here.map(({ name, schema }) => [name, schema])),
      required: [...new Set(here.flatMap(({ name, required }) => (required ? name : [])))],
      additionalProperties: place === 'header' || place === 'cookie',
    });
  };
  const places = ['path', 'query', 'header', 'cookie'];
  return { type: 'object', properties: Object.fromEntries(places.map((place) => [place, schemaOf(place)])) };
}

function parameterCheck(parameter: LocatedValue, schema: LocatedValue): JsonObject {
  return allowsEmptyValue(parameter) ? { if: { const: '' }, else: pointTo(schema) } : pointTo(schema);
}

/**
 * Returns the schema of a body. A JSON Patch is always a list (RFC 6902 section 3). If a contract declares a schema that only objects fit,
 * that schema is meant for the other kinds of patches, so a generic schema replaces it.
 */
function bodySchemaOf(root: JsonObject, type: string, schema: LocatedValue | undefined): JsonObject {
  if (
    essenceOf(type) === 'application/json-patch+json' &&
    schema &&
    objectAt(follow(root, schema), 'value').type === 'object'
  )
    return { type: 'array', items: { type: 'object', required: ['op', 'path'] } };
  return schema ? pointTo(schema) : {};
}

/**
 * Returns the response object of a status. The exact status has priority, then the range, then the default (OpenAPI 3.1.1, section 4.8.16).
 */
export function responseFor(entry: ContractOperation, status: number): LocatedValue {
  const { root } = entry.document;
  const responses = member(root, entry.located, 'responses');
  const names = memberNames(responses);
  const name = [String(status), `${Math.floor(status / 100)}XX`, 'default'].find((candidate) =>
    names.includes(candidate),
  );
  return name === undefined ? { value: undefined, pointer: '' } : member(root, responses, name);
}

/** Media types of requests that are checked besides JSON: forms, and the ranges that include JSON or forms. */
const CHECKED_TYPES = [URLENCODED, MULTIPART, '*/*', 'application/*', 'multipart/*'] as const;

/** Returns the declared media types that are JSON or in `others`, each with its schema if it has one. */
function jsonSchemasOf(
  root: JsonObject,
  owner: LocatedValue,
  others: readonly string[] = [],
): (readonly [string, LocatedValue | undefined])[] {
  const content = member(root, owner, 'content');
  return memberNames(content)
    .filter((type) => isJson(essenceOf(type)) || others.includes(essenceOf(type)))
    .map((type) => {
      const schema = child(member(root, content, type), 'schema');
      return [mediaTypeOf(type), schema.value === undefined ? undefined : schema] as const;
    });
}

function toCheck(ajvs: AjvByExtent, schema: JsonObject): SchemaCheck {
  const all = ajvs('all').compile(schema);
  let first: ValidateFunction | undefined;
  return function check(value, size) {
    allowFor(size);
    forgetResults();
    let validate = all;
    if (size > COLLECTED_SIZE_MAX) {
      first ??= ajvs('first').compile(schema);
      validate = first;
    }
    try {
      return validate(value) ? NO_ERRORS : (validate.errors ?? NO_ERRORS);
    } catch (error) {
      // A RangeError means that the check did not end, because a schema refers to itself for the same value.
      throw error instanceof RangeError ? tooComplex() : error;
    }
  };
}
