// Faults of form, by name: a text, a block or a list where OpenAPI has another form, and members of Swagger 2.0. Each says the form that
// belongs there.

import { type Fault, spoiled } from './faults.ts';

/** The piece that is replaced, by what, and what is said, without the file. */
const ROWS: Readonly<Record<string, readonly [piece: string, by: string, ...says: readonly string[]]>> = {
  'schema-name': [
    'schema: { $ref: "#/components/schemas/Item" }',
    'schema: Item',
    '15:21: paths./v1/items.post.requestBody.content.application/json.schema: a schema belongs here, not the text "Item". Write schema: { $ref: "#/components/schemas/Item" }.',
  ],
  'security-strings': [
    'security: [{ apiKey: ["items:read"] }]',
    'security: [apiKey]',
    '3:12: security.0: "apiKey" lacks its list of scopes. Write - apiKey: [] for no scope.',
  ],
  'security-object': [
    'security: [{ apiKey: ["items:read"] }]',
    'security: { apiKey: ["items:read"] }',
    '3:11: security: a list belongs here, not a block. Write it as in security: [{ apiKey: [] }], with a dash or brackets.',
  ],
  'security-value-null': [
    'security: [{ apiKey: ["items:read"] }]',
    'security:\n  - apiKey:',
    '4:5: security.0.apiKey: the scopes of apiKey are a list. Write apiKey: [] if it has none.',
  ],
  'required-yes': [
    '{ type: string, pattern: "^[a-z]+$" }',
    '{ type: string, required: yes }',
    '24:41: components.schemas.Item.properties.name.required: required: yes has no meaning in a schema. Write required: [name] beside the properties of the object.',
  ],
  'oneOf-map': [
    '{ type: string, pattern: "^[a-z]+$" }',
    '{ oneOf: { a: { type: string } } }',
    '24:24: components.schemas.Item.properties.name.oneOf: a list of schemas belongs here, not a block. Write it as in oneOf: [{ $ref: "#/components/schemas/Name" }].',
  ],
  'allOf-ref': [
    '{ type: string, pattern: "^[a-z]+$" }',
    '{ allOf: { $ref: "#/components/schemas/Item" } }',
    '24:32: components.schemas.Item.properties.name.allOf.$ref: allOf is a list, not a reference. Did you mean "allOf: [{ $ref: "#/components/schemas/Item" }]"?',
  ],
  'definitions-ref': [
    '#/components/schemas/Item',
    '#/definitions/Item',
    '15:21: paths./v1/items.post.requestBody.content.application/json.schema: Can\'t resolve $ref "#/definitions/Item". Did you mean "#/components/schemas/Item"?',
  ],
  'ref-no-hash': [
    '"#/components/schemas/Item"',
    'components/schemas/Item',
    "15:21: paths./v1/items.post.requestBody.content.application/json.schema: Can't resolve $ref: there is no file 'openapi/components/schemas/Item'. Did you mean \"#/components/schemas/Item\"?",
  ],
  'ref-name': [
    '"#/components/schemas/Item"',
    'Item',
    "15:21: paths./v1/items.post.requestBody.content.application/json.schema: Can't resolve $ref: there is no file 'openapi/Item'. Did you mean \"#/components/schemas/Item\"?",
  ],
  'ref-schema-sing': [
    '#/components/schemas/Item',
    '#/components/schema/Item',
    '15:21: paths./v1/items.post.requestBody.content.application/json.schema: Can\'t resolve $ref "#/components/schema/Item". Did you mean "#/components/schemas/Item"?',
  ],
  'ref-params': [
    '#/components/schemas/Item',
    '#/components/parameters/Item',
    '15:21: paths./v1/items.post.requestBody.content.application/json.schema: Can\'t resolve $ref "#/components/parameters/Item". Did you mean "#/components/schemas/Item"?',
  ],
  'ref-unquoted': [
    '"#/components/schemas/Item"',
    '#/components/schemas/Item',
    '15:29: the text behind # is a comment. Write it in quotes: "#/components/schemas/Item".',
  ],
  'place-that-is-none': [
    '      operationId: listItems\n',
    '      operationId: listItems\n      parameters:\n        - { name: limit, in: url, schema: { type: integer } }\n',
    '9:30: paths./v1/items.get.parameters.0.in: requests have no place "url". Write in: query.',
  ],
  'parameter-without-its-place': [
    '      operationId: listItems\n',
    '      operationId: listItems\n      parameters:\n        - { name: limit, schema: { type: integer } }\n',
    '9:11: paths./v1/items.get.parameters.0: in is missing. Add in: query, or header, path or cookie.',
  ],
  'name-missing': [
    '      operationId: listItems\n',
    '      operationId: listItems\n      parameters:\n        - { in: query, schema: { type: integer } }\n',
    '9:11: paths./v1/items.get.parameters.0: name is missing. Add name: …, as it is in requests.',
  ],
  'parameter-as-a-text': [
    '      operationId: listItems\n',
    '      operationId: listItems\n      parameters:\n        - limit\n',
    '9:11: paths./v1/items.get.parameters.0: a parameter belongs here, not a text. Write it as in - { name: limit, in: query, schema: { type: integer } }.',
  ],
  'par-required-yes': [
    '      operationId: listItems\n',
    '      operationId: listItems\n      parameters:\n        - { name: limit, in: query, required: yes, schema: { type: integer } }\n',
    '9:47: paths./v1/items.get.parameters.0.required: required is true or false. Write required: true.',
  ],
  'par-schema-str': [
    '      operationId: listItems\n',
    '      operationId: listItems\n      parameters:\n        - { name: limit, in: query, schema: integer }\n',
    '9:45: paths./v1/items.get.parameters.0.schema: a schema belongs here, not the text "integer". Write schema: { type: integer }.',
  ],
  'type-String': [
    '{ type: string, pattern: "^[a-z]+$" }',
    '{ type: String }',
    '24:23: components.schemas.Item.properties.name.type: OpenAPI has no type "String". Write type: string.',
  ],
  'enum-map': [
    '{ type: string, pattern: "^[a-z]+$" }',
    '{ type: string, enum: { a: 1 } }',
    '24:37: components.schemas.Item.properties.name.enum: a list belongs here, not a block. Write it as in [a, b], or with a dash in front of each item.',
  ],
  'responses-list': [
    'responses: { "201": { description: The item } }',
    'responses:\n        - "201": { description: The item }',
    '17:9: paths./v1/items.post.responses: a block of statuses belongs here, not a list. Write it as in responses: { "200": { description: … } }, without dashes.',
  ],
  'responses-string': [
    'responses: { "201": { description: The item } }',
    'responses: { "201": The item }',
    '16:27: paths./v1/items.post.responses.201: a response belongs here, not a text. Write it as in "200": { description: … }.',
  ],
  'body-schema-direct': [
    '        content:\n          application/json:\n            schema: { $ref: "#/components/schemas/Item" }',
    '        schema: { $ref: "#/components/schemas/Item" }',
    '12:7: paths./v1/items.post.requestBody: schema is not expected here from OpenAPI 3.0 on. Write it below content and a media type: content: { application/json: { schema: … } }.',
  ],
  'properties-list': [
    '      properties:\n        name: { type: string, pattern: "^[a-z]+$" }',
    '      properties:\n        - name: { type: string, pattern: "^[a-z]+$" }',
    '24:9: components.schemas.Item.properties: a block of properties belongs here, not a list. Write it as in properties: { name: { type: string } }, without dashes.',
  ],
  'properties-string': [
    '      properties:\n        name: { type: string, pattern: "^[a-z]+$" }',
    '      properties:\n        name: string',
    '24:15: components.schemas.Item.properties.name: a schema belongs here, not the text "string". Write name: { type: string }.',
  ],
  'items-list': [
    '      properties:\n        name: { type: string, pattern: "^[a-z]+$" }',
    '      properties:\n        name: { type: array, items: [{ type: string }] }',
    '24:37: components.schemas.Item.properties.name.items: items is one schema, not a list. Write items: { … }, without brackets or dash. For a schema of each position, write prefixItems (from OpenAPI 3.1 on).',
  ],
  'addprops-str': [
    '      type: object\n',
    '      type: object\n      additionalProperties: "false"\n',
    '23:29: components.schemas.Item.additionalProperties: a schema belongs here, not the text "false". Write it without quotes: additionalProperties: false.',
  ],
  'swagger-2-with-3': [
    'openapi: 3.1.1',
    'swagger: "2.0"',
    '1: the file begins as Swagger 2.0, and has components, which only OpenAPI from 3.0 on has. Begin it with "openapi: 3.0.4" in place of swagger.',
  ],
  'opid-number': [
    'operationId: listItems',
    'operationId: 5',
    '7:20: paths./v1/items.get.operationId: operationId is a text, not a number. Write it in quotes.',
    'config/limits.yaml:6:3: operations.listItems: no contract has an operation "listItems". Use one of: GET /v1/items, createItem.',
  ],
  'paths-list': [
    'paths:\n  /v1/items:',
    'paths:\n  - /v1/items:',
    '5:3: paths: a block of paths belongs here, not a list. Write it as in paths: { /items: { get: … } }, without dashes.',
  ],
  'scheme-type': [
    '{ type: http, scheme: bearer }',
    '{ type: bearer }',
    '19:21: components.securitySchemes.apiKey.type: OpenAPI has no type "bearer" of security schemes. Write type: http, scheme: bearer.',
  ],
  'scheme-type2': [
    '{ type: http, scheme: bearer }',
    '{ type: apikey, in: header, name: X }',
    '19:21: components.securitySchemes.apiKey.type: `type` can be one of the following only: "apiKey", "http", "oauth2", "openIdConnect", "mutualTLS". Did you mean "apiKey"?',
  ],
  'scheme-no-scheme': [
    '{ type: http, scheme: bearer }',
    '{ type: http }',
    '19:5: components.securitySchemes.apiKey: scheme is missing. Add scheme: bearer, or another scheme of HTTP.',
  ],
  'securityScheme-sing': [
    '  securitySchemes:',
    '  securityScheme:',
    '18:3: components.securityScheme: Property `securityScheme` is not expected here. Did you mean "securitySchemes"?',
  ],
  'headers-list': [
    '{ description: The item }',
    '{ description: The item, headers: [{ name: X-A }] }',
    '16:61: paths./v1/items.post.responses.201.headers: a block of headers belongs here, not a list. Write it as in headers: { X-Total: { schema: { type: integer } } }.',
  ],
  'maxlen-float': [
    '{ type: string, pattern: "^[a-z]+$" }',
    '{ type: string, maxLength: 1.5 }',
    '24:42: components.schemas.Item.properties.name.maxLength: a whole number belongs here, not a decimal. Write a whole number.',
  ],
  'disc-string': [
    '{ type: string, pattern: "^[a-z]+$" }',
    '{ oneOf: [{ type: object }], discriminator: kind }',
    '24:59: components.schemas.Item.properties.name.discriminator: a block belongs here, not a text. Write it as in discriminator: { propertyName: kind }.',
  ],
  'type-null-unquoted': [
    '{ type: string, pattern: "^[a-z]+$" }',
    '{ type: [string, null] }',
    '24:32: components.schemas.Item.properties.name.type.1: in YAML, null without quotes is no text. Write it in quotes, as in type: [string, "null"].',
  ],
  'type-null-alone': [
    '{ type: string, pattern: "^[a-z]+$" }',
    '{ type: null }',
    '24:23: components.schemas.Item.properties.name.type: in YAML, null without quotes is no text. Write it in quotes, as in type: [string, "null"].',
  ],
  'path-at-the-margin': [
    'components:',
    '/v1/things:\n  get: { operationId: listThings, responses: { "200": { description: Things } } }\ncomponents:',
    '17:1: /v1/things: Property `/v1/things` is not expected here. Indent it deeper, below paths.',
  ],
  'scheme-jwt-of-two-operations': [
    '{ type: http, scheme: bearer }',
    '{ type: http, scheme: jwt }',
    '19:35: components.securitySchemes.apiKey.scheme: HTTP has no scheme "jwt". Write scheme: bearer.',
  ],
  'schema-renamed': [
    '    Item:\n',
    '    Items: { allOf: [{ $ref: "#/components/schemas/Item" }, { $ref: "#/components/schemas/Item" }] }\n    Thing:\n',
    '15:21: paths./v1/items.post.requestBody.content.application/json.schema: Can\'t resolve $ref "#/components/schemas/Item". Did you mean "#/components/schemas/Items"? The same mistake is in 2 more places: line 21.',
  ],
};

export const faultsOfForm: Readonly<Record<string, Fault>> = Object.fromEntries(
  Object.entries(ROWS).map(([name, [piece, by, ...says]]) => [
    name,
    {
      files: spoiled('openapi/items.yaml', piece, by),
      says: says.map((sentence) => (/^\d/.test(sentence) ? `openapi/items.yaml:${sentence}` : sentence)),
    },
  ]),
);
