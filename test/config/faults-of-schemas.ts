// Faults of schemas, parameters and versions that authors make most often, by name, each with what to write instead.

import { type Fault, sound, spoiled } from './faults.ts';

const items = 'openapi/items.yaml';
const name = 'openapi/items.yaml:24:';
const place = 'components.schemas.Item.properties.name';

const withName = (schema: string, column: number, keyword: string, says: string, version = '3.1.1'): Fault => ({
  files: {
    [items]: sound[items].replace('3.1.1', version).replace('{ type: string, pattern: "^[a-z]+$" }', () => schema),
  },
  says: [`${name}${column}: ${place}.${keyword}: ${says}`],
});

const withPattern = (pattern: string, says: string) =>
  withName(`{ type: string, pattern: "${pattern}" }`, 40, 'pattern', says);

const withVersion = (version: string, says: string): Fault => ({
  files: spoiled(items, 'openapi: 3.1.1', `openapi: ${version}`),
  says: [`openapi/items.yaml:1: "openapi: ${version.replaceAll('"', '')}" is not a version of OpenAPI. ${says}`],
});

const withPath = (path: string, meant: string): Fault => ({
  files: spoiled(items, '  /v1/items:', `  "/v1/items/${path}":`),
  says: [
    `openapi/items.yaml:5:3: paths./v1/items/${path}: "${path}" is not a parameter, so only requests with these very characters match. Did you mean "/v1/items/${meant}"?`,
  ],
});

export const faultsOfSchemas: Readonly<Record<string, Fault>> = {
  'required-in-a-property': withName(
    '{ type: string, required: true }',
    41,
    'required',
    'required: true has no meaning in a schema. Write required: [name] beside the properties of the object.',
  ),
  'exclusive-bound-of-3.0-in-3.1': withName(
    '{ type: number, minimum: 1, exclusiveMinimum: true }',
    61,
    'exclusiveMinimum',
    'from OpenAPI 3.1 on, exclusiveMinimum is the bound itself. Write exclusiveMinimum: 1 in place of minimum: 1.',
  ),
  'exclusive-bound-of-3.1-in-3.0': withName(
    '{ type: number, exclusiveMinimum: 0 }',
    49,
    'exclusiveMinimum',
    'in OpenAPI 3.0, exclusiveMinimum is true or false. Write minimum: 0 and exclusiveMinimum: true, or begin the document with "openapi: 3.1.1".',
    '3.0.4',
  ),
  'bound-in-quotes': withName(
    '{ type: number, minimum: "0" }',
    40,
    'minimum',
    'minimum is not a text. Write it without quotes: minimum: 0.',
  ),
  'type-of-a-programming-language': withName(
    '{ type: int }',
    23,
    'type',
    'OpenAPI has no type "int". Write type: integer.',
  ),
  'type-that-is-a-format': withName(
    '{ type: float }',
    23,
    'type',
    'OpenAPI has no type "float". Write type: number, format: float.',
  ),
  'type-of-swagger': withName(
    '{ type: file }',
    23,
    'type',
    'OpenAPI has no type "file". Write type: string, format: binary.',
  ),
  'list-without-brackets': withName('{ enum: a }', 23, 'enum', 'enum is a list. Write enum: [a].'),
  'enum-without-values': withName(
    '{ type: string, enum: [] }',
    37,
    'enum',
    'enum has no value, so no value is valid. List each value once, or remove enum.',
  ),
  'length-below-zero': withName(
    '{ type: string, maxLength: -1 }',
    42,
    'maxLength',
    'The value of the maxLength field must be greater than or equal to 0. Write 0 or more.',
    '3.0.4',
  ),
  'pattern-with-a-flag': withPattern(
    '(?i)a',
    'patterns of OpenAPI have no (?i). Write both letters where case does not matter, as in [Aa].',
  ),
  'pattern-of-python': withPattern(
    '(?P<x>a)',
    'patterns of OpenAPI have no (?P<name>…). Write (?<name>…), without the P.',
  ),
  'pattern-between-slashes': withPattern(
    '/^[a-z]+$/i',
    'the slashes around a pattern belong to the pattern, so no text matches. Write it without slashes and flags, and a class as in [A-Za-z].',
  ),
  'pattern-with-a-class-of-posix': withPattern(
    '^[[:alpha:]]+$',
    'patterns have no [:alpha:], so it stands for these characters. Write it without slashes and flags, and a class as in [A-Za-z].',
  ),
  'body-as-a-parameter': {
    files: spoiled(
      items,
      '      operationId: listItems\n',
      '      operationId: listItems\n      parameters: [{ name: item, in: body, schema: { type: object } }]\n',
    ),
    says: [
      'openapi/items.yaml:8:38: paths./v1/items.get.parameters.0.in: from OpenAPI 3.0 on, no parameter is in body. Write requestBody: { content: { application/json: { schema: … } } } beside parameters.',
    ],
  },
  'parameters-as-a-map': {
    files: spoiled(
      items,
      '      operationId: listItems\n',
      '      operationId: listItems\n      parameters: { limit: { in: query, schema: { type: integer } } }\n',
    ),
    says: [
      'openapi/items.yaml:8:19: paths./v1/items.get.parameters: a list of parameters belongs here, not a block. Write it as in parameters: [{ name: limit, in: query, schema: { type: integer } }].',
    ],
  },
  'reference-to-itself': {
    files: spoiled(items, '    Item:\n', '    Own: { $ref: "#/components/schemas/Own" }\n    Item:\n'),
    says: [
      'openapi/items.yaml:21:5: components.schemas.Own: the $ref leads to itself, and never to a schema. Point it at another one, or write the schema here.',
    ],
  },
  'version-of-two-numbers': withVersion('"3.1"', 'Did you mean "openapi: 3.1.1"?'),
  'version-as-a-number': withVersion('3.0', 'Did you mean "openapi: 3.0.4"?'),
  'parameter-of-a-path-without-its-end': withPath('{id', '{id}'),
  'pattern-in-typographic-quotes': withPattern(
    '“^[a-z]+$”',
    'typographic quotes around a pattern belong to the pattern, so no value matches without them. Did you mean "^[a-z]+$"?',
  ),
};
