// Compiles the schemas of operations, on first use, into validators: openapi-backend builds them, Ajv 2020 runs them.

import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { OpenAPIValidator } from 'openapi-backend';
import type { ContractDocument, JsonObject } from './document.ts';
import type { ContractOperation } from './operations.ts';
import { toPattern } from './patterns.ts';
import { isObject, type Located, member, objectAt } from './pointer.ts';

/** The compiled checks of one request: `parameters` gets `{path, query, header, cookie}`, `body` gets `{requestBody}`. */
export interface RequestSchemas {
  readonly parameters: ValidateFunction;
  readonly body: ValidateFunction | undefined;
}

export interface Schemas {
  /** Throws when a schema cannot be compiled; the message names the schema. */
  request(entry: ContractOperation): RequestSchemas;
  /** The check of one response's JSON body, or undefined when the contract says nothing about it. */
  answer(entry: ContractOperation, status: number): ValidateFunction | undefined;
}

/**
 * Documents are registered with Ajv as they are and schemas are referred to by pointer into them: circular references need no
 * dereferencing, and openapi-backend only ever sees documents of one operation, which keeps it away from everything it does per
 * document (libraries.md, defects 1, 2, 4).
 */
export function createSchemas(documents: readonly ContractDocument[]): Schemas {
  const forRequests = createAjv(documents, true);
  const forAnswers = createAjv(documents, false);
  const keys = new Map(documents.map((document, index) => [document, keyOf(index)]));
  const requests = new WeakMap<ContractOperation, RequestSchemas>();
  const answers = new WeakMap<ContractOperation, Map<number, ValidateFunction | undefined>>();

  function request(entry: ContractOperation): RequestSchemas {
    const known = requests.get(entry);
    if (known) return known;
    const made = compileRequest(entry, keys.get(entry.document) as string, forRequests);
    requests.set(entry, made);
    return made;
  }

  function answer(entry: ContractOperation, status: number): ValidateFunction | undefined {
    const known = answers.get(entry) ?? new Map<number, ValidateFunction | undefined>();
    answers.set(entry, known);
    if (!known.has(status)) {
      const schema = jsonSchemaOf(entry.document.root, responseFor(entry, status));
      const key = keys.get(entry.document) as string;
      known.set(status, schema && forAnswers.compile({ $ref: `${key}#${encodeURI(schema.pointer)}` }));
    }
    return known.get(status);
  }

  return { request, answer };
}

/** The response object of a status: exact, then range, then default (OpenAPI 3.1.1, section 4.8.16). */
export function responseFor(entry: ContractOperation, status: number): Located {
  const { root } = entry.document;
  const responses = member(root, entry.located, 'responses');
  const names = objectAt({ responses: responses.value }, 'responses');
  const name = [String(status), `${Math.floor(status / 100)}XX`, 'default'].find((candidate) => candidate in names);
  return name === undefined ? { value: undefined, pointer: '' } : member(root, responses, name);
}

export function contentOf(root: JsonObject, owner: Located): Located {
  return member(root, owner, 'content');
}

function jsonSchemaOf(root: JsonObject, owner: Located): Located | undefined {
  const content = contentOf(root, owner);
  const type = Object.keys(isObject(content.value) ? content.value : {}).find((name) =>
    /^application\/([a-z.+-]+\+)?json\b/i.test(name),
  );
  if (type === undefined) return undefined;
  const schema = member(
    root,
    { value: (content.value as JsonObject)[type], pointer: `${content.pointer}/${type.replaceAll('/', '~1')}` },
    'schema',
  );
  return schema.value === undefined ? undefined : schema;
}

function compileRequest(entry: ContractOperation, key: string, ajv: Ajv2020): RequestSchemas {
  const { root } = entry.document;
  const pointTo = (at: Located) => ({ $ref: `${key}#${encodeURI(at.pointer)}` });
  const parameters = entry.parameters.map((located) => {
    const { name, in: place, required } = located.value as JsonObject;
    const schema = parameterSchema(root, located);
    return { name, in: place, required: required === true, schema: schema ? pointTo(schema) : {} };
  });
  const body = jsonSchemaOf(root, member(root, entry.located, 'requestBody'));
  const slim = {
    openapi: '3.1.0',
    info: { title: '', version: '' },
    paths: {
      '/': {
        post: {
          operationId: 'it',
          parameters,
          ...(body ? { requestBody: { content: { 'application/json': { schema: pointTo(body) } } } } : {}),
          responses: {},
        },
      },
    },
  };
  const validator = new OpenAPIValidator({
    definition: slim as never,
    lazyCompileValidators: true,
    customizeAjv: () => ajv as never,
  });
  const compiled = validator.getRequestValidatorsForOperation('it') as unknown as ValidateFunction[];
  return { parameters: compiled.at(-1) as ValidateFunction, body: body ? compiled[0] : undefined };
}

/** A parameter has a schema, or a content with one media type that has it. */
export function parameterSchema(root: JsonObject, parameter: Located): Located | undefined {
  const schema = member(root, parameter, 'schema');
  if (schema.value !== undefined) return schema;
  const content = contentOf(root, parameter);
  const type = Object.keys(isObject(content.value) ? content.value : {})[0];
  return type === undefined ? undefined : member(root, member(root, content, type), 'schema');
}

function keyOf(index: number): string {
  return `contract:${index}`;
}

function createAjv(documents: readonly ContractDocument[], isRequest: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    // Union errors are reported by what the union was.
    verbose: true,
    code: { regExp: Object.assign(toPattern, { code: 'toPattern' }) as never },
  });
  formats.default(ajv as never);
  for (const annotation of ['password', 'binary']) ajv.addFormat(annotation, true);
  if (isRequest) {
    ajv.removeKeyword('readOnly');
    ajv.addKeyword({
      keyword: 'readOnly',
      schemaType: 'boolean',
      error: { message: 'is read-only' },
      validate: (readOnly: boolean) => !readOnly,
    });
  }
  for (const [index, document] of documents.entries())
    ajv.addSchema(document.root as AnySchemaObject, keyOf(index), undefined, false);
  return ajv;
}
