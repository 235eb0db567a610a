// Makes the tool for an operation: the JSON Schemas of its arguments and of its answer, and the writer of its request.

import type { ToolSchemas, ToolSource } from '../../shared/contracts/tool-source.ts';
import { streamKindOf } from '../../shared/http/words.ts';
import { shortTextOf } from '../../shared/text.ts';
import { isJson, isOfBytes, mediaTypeOf } from '../media-types.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { formsOf, typesOf } from '../parameters/value-types.ts';
import { child, isRecord, type JsonObject, type LocatedValue, member, memberNames } from '../pointer.ts';
import { type Argument, argumentsOf, type OperationArguments } from './arguments.ts';
import { LocalSchemas } from './local-schema.ts';
import { createRequestWriter } from './written-request.ts';

/** The longest description within a schema. */
const DESCRIPTION_CHARACTERS_MAX = 300;
/** The largest schema of answers. A larger schema is left out, because it would take more of a model's context than the answer itself. */
const OUTPUT_BYTES_MAX = 16_384;
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const LIMIT = /^(?:limit|per_page|page_size|pageSize|max_results|maxResults|first|count)$/;
const CURSOR = /^(?:cursor|page_token|pageToken|after|starting_after|page|offset)$/;

export function toToolOperation(entry: ContractOperation): ToolSource {
  const { located } = entry;
  const value = located.value as JsonObject;
  const given = argumentsOf(entry);
  const said = value['x-gateway-tool'];
  const queries = given.parameters.filter(({ parameter }) => parameter.place === 'query').map(({ name }) => name);
  return {
    obstacle: given.obstacle ?? obstacleOfAnswers(entry),
    title: textIn(value.summary),
    description: textIn(value.description),
    tags: tagsOf(entry),
    says: isRecord(said) ? said : {},
    paging: { limit: queries.find((name) => LIMIT.test(name)), cursor: queries.find((name) => CURSOR.test(name)) },
    schemas: () => schemasOf(entry, given),
    write: createRequestWriter(entry, given),
  };
}

/** Returns the tags of an operation in the contract. */
export function tagsOf({ located: { value } }: Pick<ContractOperation, 'located'>): string[] {
  const tags = isRecord(value) ? value.tags : undefined;
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [];
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Returns why a model cannot read the answers; undefined if it can. A model reads JSON and text, but no streams and no other bytes. */
function obstacleOfAnswers(entry: ContractOperation): string | undefined {
  if (entry.operation.streams) return 'its answer is a stream';
  const types = answersOf(entry).flatMap(({ types: declared }) => declared);
  if (types.length === 0 || types.some((type) => type.includes('*') || isReadable(type))) return undefined;
  return `its answer is ${[...new Set(types)].join(' or ')}, which is no text`;
}

function isReadable(type: string): boolean {
  return streamKindOf(type) === undefined && !isOfBytes(type);
}

interface DeclaredAnswer {
  readonly content: LocatedValue;
  readonly types: readonly string[];
}

function answersOf({ document: { root }, located }: ContractOperation): DeclaredAnswer[] {
  const responses = member(root, located, 'responses');
  const statuses = memberNames(responses).filter((status) => status.startsWith('2'));
  return statuses.map((status) => {
    const content = member(root, member(root, responses, status), 'content');
    return { content, types: memberNames(content).map(mediaTypeOf) };
  });
}

function schemasOf(entry: ContractOperation, given: OperationArguments): ToolSchemas {
  const { root } = entry.document;
  const inputs = new LocalSchemas(root, {
    direction: 'request',
    descriptionCharactersMax: DESCRIPTION_CHARACTERS_MAX,
  });
  const input = inputOf(given, inputs);
  const outputs = new LocalSchemas(root, {
    direction: 'answer',
    descriptionCharactersMax: DESCRIPTION_CHARACTERS_MAX,
    loose: entry.operation.answerCheck !== 'refuse',
  });
  const output = outputOf(entry, outputs);
  const isLong = output !== undefined && JSON.stringify(output).length > OUTPUT_BYTES_MAX;
  const losses = [...inputs.losses, ...[...outputs.losses].map((loss) => `of the answer: ${loss}`)];
  if (isLong) losses.push(`the schema of the answer, which is longer than ${OUTPUT_BYTES_MAX} bytes`);
  return { input, output: isLong ? undefined : output, losses };
}

function inputOf({ parameters, body, idempotencyKey }: OperationArguments, schemas: LocalSchemas): JsonObject {
  const properties = new Map<string, unknown>();
  const required: string[] = [];
  const add = ({
    name,
    isRequired,
    description,
    schema,
  }: Pick<Argument, 'name' | 'isRequired' | 'description' | 'schema'>) => {
    properties.set(name, describe(schemas.copyOf(schema?.value ?? {}), description));
    if (isRequired) required.push(name);
  };
  for (const argument of parameters) add(argument);
  if (body !== undefined) add(body);
  if (idempotencyKey !== undefined)
    properties.set(idempotencyKey, {
      type: 'string',
      description:
        'A text that is new for each intended call, such as a UUID. A repetition with the same text runs once.',
    });
  const $defs = schemas.definitions();
  return {
    $schema: DIALECT,
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs }),
  };
}

/** Adds the description of the parameter to its schema. */
function describe(schema: unknown, description: string | undefined): unknown {
  const text = shortTextOf(description ?? '', DESCRIPTION_CHARACTERS_MAX);
  if (text === '') return schema;
  return isRecord(schema) ? { ...schema, description: text } : { allOf: [schema], description: text };
}

/**
 * Every successful answer has to have a schema, because clients refuse an answer without content where a schema is announced. An object is
 * the content itself; any other value is its member `result`.
 */
function outputOf(entry: ContractOperation, schemas: LocalSchemas): JsonObject | undefined {
  const { root } = entry.document;
  const answers = answersOf(entry);
  const declared = answers.map(({ content }) => schemaIn(root, content));
  if (declared.length === 0 || declared.includes(undefined)) return undefined;
  const located = declared as LocatedValue[];
  const types = located.map((schema) => typesOf(formsOf(root, schema)));
  const areObjects = types.every((one) => one.size === 1 && one.has('object'));
  if (!areObjects && types.some((one) => one.size === 0 || one.has('object'))) return undefined;
  const copies = located.map(({ value }) => schemas.copyOf(value));
  const content = copies.length === 1 ? copies[0] : { anyOf: copies };
  const $defs = schemas.definitions();
  const outer = areObjects
    ? { type: 'object', ...(isRecord(content) ? content : {}) }
    : { type: 'object', properties: { result: content }, required: ['result'] };
  return { $schema: DIALECT, ...outer, ...($defs === undefined ? {} : { $defs }) };
}

/** Returns the schema of an answer; undefined if the answer may come without JSON, or if its schema is not declared. */
function schemaIn(root: JsonObject, content: LocatedValue): LocatedValue | undefined {
  const types = memberNames(content);
  if (types.length === 0 || !types.every((type) => isJson(mediaTypeOf(type)))) return undefined;
  const schema = child(member(root, content, types[0] as string), 'schema');
  return schema.value === undefined ? undefined : schema;
}
