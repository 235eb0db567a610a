// Faults of operations, by name: members at the wrong place and names that are nearly right. Each would cost clients an operation, a body,
// an answer or a check.

import { type Fault, sound, spoiled } from './faults.ts';

const items = 'openapi/items.yaml';

const withMethod = (name: string, remedy: string): Fault => ({
  files: spoiled(items, '    post:', `    ${name}:`),
  says: [
    `openapi/items.yaml:9:5: paths./v1/items.${name}: "${name}" is not a method, so its operation is not served. ${remedy}`,
  ],
});

const withStatus = (name: string, remedy: string): Fault => ({
  files: spoiled(items, '"201"', name),
  says: [
    `openapi/items.yaml:16:20: paths./v1/items.post.responses.${name.trim()}: "${name}" is not a status, so its answer is not declared. ${remedy}`,
  ],
});

const withMediaType = (written: string, meant: string): Fault => ({
  files: spoiled(items, 'application/json:', `${written}:`),
  says: [
    `openapi/items.yaml:14:11: paths./v1/items.post.requestBody.content.${written}: "${written}" is not a known media type, so nothing is checked against its schema. Did you mean "${meant}"?`,
  ],
});

const withParameters = (...lines: readonly string[]) =>
  spoiled(
    items,
    '      operationId: listItems\n',
    `      operationId: listItems\n      parameters:\n${lines.map((line) => `        - ${line}\n`).join('')}`,
  );

export const faultsOfOperations: Readonly<Record<string, Fault>> = {
  'method-in-capitals': withMethod('POST', 'Did you mean "post"?'),
  'another-method-in-capitals': withMethod('PUT', 'Did you mean "put"?'),
  'method-with-swapped-letters': withMethod('gte', 'Did you mean "get"?'),
  'long-method-with-swapped-letters': withMethod('pots', 'Did you mean "post"?'),
  'method-without-a-letter': withMethod('pst', 'Did you mean "post"?'),
  'method-with-a-letter-too-many': withMethod('gett', 'Did you mean "get"?'),
  'method-that-is-none': withMethod('create', 'Write a method such as get or post, in small letters.'),
  'responses-beside-their-method': {
    files: spoiled(items, '      responses: { "201"', '    responses: { "201"'),
    says: [
      'openapi/items.yaml:16:5: paths./v1/items.responses: responses has no meaning beside the methods of a path. Indent it deeper, below its method.',
    ],
  },
  'content-without-a-media-type': {
    files: spoiled(items, '          application/json:\n            schema', '          schema'),
    says: [
      'openapi/items.yaml:14:11: paths./v1/items.post.requestBody.content.schema: "schema" is not a media type, so no body has it. Write a media type such as application/json, and the schema below it.',
    ],
  },
  'media-type-without-its-first-half': {
    files: spoiled(items, 'application/json:', 'json:'),
    says: [
      'openapi/items.yaml:14:11: paths./v1/items.post.requestBody.content.json: "json" is not a media type, so no body has it. Did you mean "application/json"?',
    ],
  },
  'media-type-misspelt': {
    files: spoiled(items, 'application/json:', 'aplication/json:'),
    says: [
      'openapi/items.yaml:14:11: paths./v1/items.post.requestBody.content.aplication/json: "aplication/json" is not a media type, so no body has it. Did you mean "application/json"?',
    ],
  },
  'json-without-a-letter': withMediaType('application/jsn', 'application/json'),
  'json-with-swapped-letters': withMediaType('application/josn', 'application/json'),
  'json-with-a-letter-too-many': withMediaType('application/jason', 'application/json'),
  'json-with-another-letter': withMediaType('application/jsom', 'application/json'),
  'json-as-a-misspelt-suffix': withMediaType('application/vnd.items+jsn', 'application/vnd.items+json'),
  'form-misspelt': withMediaType('multipart/form_data', 'multipart/form-data'),
  'encoded-form-misspelt': withMediaType('application/x-www-form-urlencode', 'application/x-www-form-urlencoded'),
  'range-of-statuses-in-small-letters': withStatus('2xx', 'Did you mean "2XX"?'),
  'range-of-statuses-with-a-digit-too-many': withStatus('20X', 'Did you mean "2XX"?'),
  'status-with-letters-for-digits': withStatus('2O1', 'Did you mean "201"?'),
  'status-in-words': withStatus('ok', 'Write a status such as "200", a range such as "2XX", or default.'),
  'default-answer-misspelt': withStatus('defualt', 'Did you mean "default"?'),
  'parameter-with-a-type-and-no-schema': {
    files: withParameters('{ name: limit, in: query, type: integer, format: int32 }'),
    says: [
      'openapi/items.yaml:9:11: paths./v1/items.get.parameters.0: type has no effect in the parameter itself, so every value passes. Write it below schema, as in schema: { type: integer }.',
    ],
  },
  'parameter-that-is-declared-twice': {
    files: withParameters(
      '{ name: limit, in: query, schema: { type: integer } }',
      '{ name: limit, in: query, schema: { type: string } }',
    ),
    says: [
      'openapi/items.yaml:10:11: paths./v1/items.get.parameters.1: the parameter "limit" in query is there twice. Remove one of the two.',
    ],
  },
  'header-that-is-declared-twice': {
    files: withParameters(
      '{ name: X-Tag, in: header, schema: { type: integer } }',
      '{ name: x-tag, in: header, schema: { type: string } }',
    ),
    says: [
      'openapi/items.yaml:10:11: paths./v1/items.get.parameters.1: the parameter "x-tag" in header is there twice. Remove one of the two.',
    ],
  },
  'media-type-that-refers-to-a-schema': {
    files: spoiled(
      items,
      '            schema: { $ref: "#/components/schemas/Item" }',
      '            $ref: "#/components/schemas/Item"',
    ),
    says: [
      'openapi/items.yaml:15:19: paths./v1/items.post.requestBody.content.application/json.$ref: the reference leads to schemas, and this place takes one to mediaTypes. Refer to that section; a schema is written as in schema: { $ref: "#/components/schemas/Name" }.',
    ],
  },
  'parameter-in-place-of-a-schema': {
    files: {
      [items]: sound[items]
        .replace('"#/components/schemas/Item"', '"#/components/parameters/Limit"')
        .replace(
          'components:\n',
          'components:\n  parameters:\n    Limit: { name: limit, in: query, schema: { type: integer } }\n',
        ),
    },
    says: [
      'openapi/items.yaml:15:29: paths./v1/items.post.requestBody.content.application/json.schema.$ref: the reference leads to parameters, and this place takes one to schemas. Refer to that section; a schema is written as in schema: { $ref: "#/components/schemas/Name" }.',
    ],
  },
  'schema-in-place-of-a-parameter': {
    files: withParameters('$ref: "#/components/schemas/Item"'),
    says: [
      'openapi/items.yaml:9:17: paths./v1/items.get.parameters.0.$ref: the reference leads to schemas, and this place takes one to parameters. Refer to that section; a schema is written as in schema: { $ref: "#/components/schemas/Name" }.',
    ],
  },
  'reference-without-its-dollar': {
    files: spoiled(items, '$ref: "#/components/schemas/Item"', 'ref: "#/components/schemas/Item"'),
    says: [
      'openapi/items.yaml:15:23: paths./v1/items.post.requestBody.content.application/json.schema.ref: "ref" is not a keyword of schemas, so it checks nothing. Did you mean "$ref"?',
    ],
  },
  'reference-in-capitals': {
    files: spoiled(items, '$ref: "#/components/schemas/Item"', '$Ref: "#/components/schemas/Item"'),
    says: [
      'openapi/items.yaml:15:23: paths./v1/items.post.requestBody.content.application/json.schema.$Ref: "$Ref" is not a keyword of schemas, so it checks nothing. Did you mean "$ref"?',
    ],
  },
  'type-without-a-letter': {
    files: spoiled(items, '{ type: string,', '{ typ: string,'),
    says: [
      'openapi/items.yaml:24:17: components.schemas.Item.properties.name.typ: "typ" is not a keyword of schemas, so it checks nothing. Did you mean "type"?',
    ],
  },
  'parameter-without-its-dash': {
    files: spoiled(
      items,
      '      operationId: listItems\n',
      [
        '      operationId: listItems',
        '      parameters:',
        '        - $ref: "#/components/parameters/Limit"',
        '          name: q',
        '          in: query',
        '          schema: { type: string }',
        '',
      ].join('\n'),
    ),
    says: [
      'openapi/items.yaml:10:11: paths./v1/items.get.parameters.0.name: name, in, schema beside a $ref: only the reference has an effect. Begin another parameter with a dash of its own, or remove them.',
      'openapi/items.yaml:9:11: paths./v1/items.get.parameters.0: Can\'t resolve $ref "#/components/parameters/Limit". Point the $ref at something that exists, in this file or in one below the contracts directory.',
    ],
  },
  'path-parameter-with-another-name': {
    files: spoiled(
      items,
      '  /v1/items:\n',
      '  /v1/items/{id}:\n    parameters:\n      - name: itemId\n        in: path\n        required: true\n        schema: { type: string }\n',
    ),
    says: [
      'openapi/items.yaml:7:15: paths./v1/items/{id}.parameters.0.name: Path parameter `itemId` is not used in the path `/v1/items/{id}`. Did you mean "id"?',
    ],
  },
  'parameters-of-a-path-without-a-dash': {
    files: spoiled(
      items,
      '  /v1/items:\n',
      '  /v1/items/{id}:\n    parameters:\n      name: id\n      in: path\n      required: true\n      schema: { type: string }\n',
    ),
    says: [
      'openapi/items.yaml:7:7: paths./v1/items/{id}.parameters: a list of parameters belongs here, not a block. Write it as in parameters: [{ name: limit, in: query, schema: { type: integer } }].',
    ],
  },
  'reference-beside-its-schema': {
    files: spoiled(
      items,
      '            schema: { $ref: "#/components/schemas/Item" }',
      '            schema:\n            $ref: "#/components/schemas/Item"',
    ),
    says: [
      'openapi/items.yaml:15:13: paths./v1/items.post.requestBody.content.application/json.schema: "schema" has no content. Indent what belongs to it deeper than itself, or remove it.',
    ],
  },
  'reference-beside-the-media-type-of-its-schema': {
    files: spoiled(
      items,
      '            schema: { $ref: "#/components/schemas/Item" }',
      '            schema:\n          $ref: "#/components/schemas/Item"',
    ),
    says: [
      'openapi/items.yaml:15:13: paths./v1/items.post.requestBody.content.application/json.schema: "schema" has no content. Indent what belongs to it deeper than itself, or remove it.',
    ],
  },
};
