// Faults of contracts, by name, each with its message to the operator.

import { type Fault, sound, spoiled } from './faults.ts';

const items = 'openapi/items.yaml';
const upstreams = 'config/upstreams.yaml';
const second = (text: string) => ({
  'openapi/more.yaml': text,
  [upstreams]: `${sound[upstreams]}  more:\n    contracts: [more.yaml]\n    live: http://more:1\n`,
});

const own = `openapi: 3.1.1
info: { title: Own, version: "1" }
paths:
  /gateway/v1/organization:
    get:
      operationId: getOrganization
      security: [{ apiKey: ["gateway:read"] }]
      responses: { "200": { description: The organization } }
components:
  securitySchemes:
    apiKey: { type: http, scheme: bearer }
`;
const withOwn = `${sound[upstreams]}  own:\n    contracts: [own.yaml]\n    live: "gateway:"\n`;

export const faultsInContracts: Readonly<Record<string, Fault>> = {
  'contract-media-type-that-no-header-can-carry': {
    files: spoiled(items, 'application/json:', 'application/json；charset=utf-8:'),
    says: [
      'openapi/items.yaml:14:11: paths./v1/items.post.requestBody.content.application/json；charset=utf-8: the media type "application/json；charset=utf-8" cannot stand in a header. Write it with ASCII characters only.',
    ],
  },
  'contract-header-parameter-that-is-no-field-name': {
    files: spoiled(
      items,
      '      operationId: listItems\n',
      '      operationId: listItems\n      parameters: [{ name: X-Größe, in: header, schema: { type: string } }]\n',
    ),
    says: [
      'openapi/items.yaml:8:28: paths./v1/items.get.parameters.0.name: "X-Größe" is not a name of a header field. Write it with letters, digits and hyphens only.',
    ],
  },
  'contract-response-header-that-is-no-field-name': {
    files: spoiled(
      items,
      '{ description: The items }',
      '{ description: The items, headers: { "X Count": { schema: { type: integer } } } }',
    ),
    says: [
      'openapi/items.yaml:8:64: paths./v1/items.get.responses.200.headers.X Count: "X Count" is not a name of a header field. Write it with letters, digits and hyphens only.',
    ],
  },
  'contract-yaml-syntax': {
    files: spoiled(items, '{ title: Items, version: "1" }', '{ title: Items, version: "1"'),
    says: ['openapi/items.yaml:2:7: the bracket { is not closed. Close it where its content ends.'],
  },
  'contract-tab': {
    files: spoiled(items, '      operationId: listItems', '\toperationId: listItems'),
    says: ['openapi/items.yaml:7:1: the line is indented by a tab. Indent it with spaces.'],
  },
  'contract-duplicate-key': {
    files: spoiled(items, '    post:', '    get:'),
    says: ['openapi/items.yaml:9:5: the key "get" is there twice, first on line 6. Remove one of the two.'],
  },
  'contract-empty': {
    files: { [items]: '' },
    says: ['openapi/items.yaml:1: the file holds no document. Begin it with "openapi: 3.1.1", info and paths.'],
  },
  'contract-not-openapi': {
    files: { [items]: 'hello: world\n' },
    says: [
      'config/upstreams.yaml:3:17: upstreams.items.contracts.0: none of the files listed here is an OpenAPI document with an operation. List one that begins with "openapi:" and has paths.',
    ],
  },
  'contract-that-is-a-page-for-login': {
    files: { [items]: '<!DOCTYPE html>\n<html><body>Log in</body></html>\n' },
    says: [
      'openapi/items.yaml:1: the file holds a page of HTML or XML, perhaps one that asks for a login. Download the file itself.',
    ],
  },
  'contract-that-is-a-page-and-no-yaml': {
    files: { [items]: '<html>\n<title>Log in: items</title>\n<style>a: b</style>\n</html>\n' },
    says: [
      'openapi/items.yaml:1:1: the file holds a page of HTML or XML, perhaps one that asks for a login. Download the file itself.',
    ],
  },
  'contract-swagger-1': {
    files: { [items]: 'swagger: "1.2"\ninfo: { title: Items, version: "1" }\npaths: {}\n' },
    says: ['openapi/items.yaml:1: this is a document of Swagger 1.2. Convert it to OpenAPI 3.0 or 3.1.'],
  },
  'contract-in-swagger-2-with-mistakes': {
    files: {
      [items]:
        'swagger: "2.0"\ninfo: { title: Items, version: "1" }\nsecurityDefinitions: { key: { type: apiKey, in: header, name: X-Key } }\n' +
        'paths:\n  /v1/items:\n    post:\n      security: [{ key: [] }]\n      parameters:\n        - in: body\n          name: item\n' +
        '          schema: { $ref: "#/definitions/Item" }\n      responses: { "201": { description: Created } }\n' +
        'definitions:\n  Item:\n    type: objet\n',
    },
    says: [
      'openapi/items.yaml:15:11: definitions.Item.type: OpenAPI has no type "objet". Write type: object.',
      'openapi/items.yaml:3:24: securityDefinitions.key: the gateway does not check credentials of the security scheme "key". Use a scheme of type http with scheme bearer, or override it by security in its entry of upstreams.yaml.',
      'config/limits.yaml:6:3: operations.listItems: no contract has an operation "listItems". None is defined.',
    ],
  },
  'contract-without-version': {
    files: spoiled(items, 'openapi: 3.1.1\n', ''),
    says: ['openapi/items.yaml:1: the version of OpenAPI is missing. Begin the file with "openapi: 3.1.1".'],
  },
  'contract-unknown-version': {
    files: spoiled(items, '3.1.1', '4.0.0'),
    says: [
      'openapi/items.yaml:1: "openapi: 4.0.0" is not a version of OpenAPI. Write the one that the document keeps to: 3.0.4, 3.1.1, 3.2.0.',
    ],
  },
  'contract-invalid': {
    files: spoiled(items, 'responses: { "201"', 'response: { "201"'),
    says: [
      'openapi/items.yaml:16:7: paths./v1/items.post.response: Property `response` is not expected here. Did you mean "responses"?',
    ],
  },
  'contract-scheme-in-place-of-schema': {
    files: spoiled(
      items,
      '      operationId: listItems\n',
      '      operationId: listItems\n      parameters: [{ name: limit, in: query, scheme: { type: integer } }]\n',
    ),
    says: [
      'openapi/items.yaml:8:46: paths./v1/items.get.parameters.0.scheme: Property `scheme` is not expected here. Did you mean "schema"?',
    ],
  },
  'contract-of-3.0-with-a-list-of-types': {
    files: {
      [items]: sound[items]
        .replace('3.1.1', '3.0.4')
        .replace(
          '        name: {',
          '        note: { type: [string, "null"] }\n        size: { type: [string, integer] }\n        name: {',
        ),
    },
    says: [
      'openapi/items.yaml:24:23: components.schemas.Item.properties.note.type: a schema of OpenAPI 3.0 has one type, and null is none. Write type: string and nullable: true, or begin the document with "openapi: 3.1.1".',
      'openapi/items.yaml:25:23: components.schemas.Item.properties.size.type: a schema of OpenAPI 3.0 has one type, and null is none. Write anyOf with one type each, or begin the document with "openapi: 3.1.1".',
    ],
  },
  'contract-wrong-type': {
    files: spoiled(items, 'type: object', 'type: objet'),
    says: ['openapi/items.yaml:22:13: components.schemas.Item.type: OpenAPI has no type "objet". Write type: object.'],
  },
  'contract-unknown-keyword': {
    files: spoiled(items, 'pattern:', 'patern:'),
    says: [
      'openapi/items.yaml:24:31: components.schemas.Item.properties.name.patern: Property `patern` is not expected here. Did you mean "pattern"?',
    ],
  },
  'contract-unresolved-ref': {
    files: spoiled(items, 'schemas/Item"', 'schemas/Itme"'),
    says: [
      `openapi/items.yaml:15:21: paths./v1/items.post.requestBody.content.application/json.schema: Can't resolve $ref "#/components/schemas/Itme". Did you mean "#/components/schemas/Item"?`,
    ],
  },
  'contract-unresolved-file': {
    files: spoiled(items, '"#/components/schemas/Item"', 'parts.yaml#/Item'),
    says: [
      "openapi/items.yaml:15:21: paths./v1/items.post.requestBody.content.application/json.schema: Can't resolve $ref: there is no file 'openapi/parts.yaml'. Point the $ref at something that exists, in this file or in one below the contracts directory.",
    ],
  },
  'contract-remote-ref': {
    files: spoiled(items, '"#/components/schemas/Item"', 'https://example.com/parts.yaml#/Item'),
    says: [
      "openapi/items.yaml:15:21: paths./v1/items.post.requestBody.content.application/json.schema: Can't resolve $ref: other hosts are not asked. Point the $ref at something that exists, in this file or in one below the contracts directory.",
    ],
  },
  'contract-broken-part': {
    files: {
      ...spoiled(items, '"#/components/schemas/Item"', 'parts.yaml#/Item'),
      'openapi/parts.yaml': 'Item:\n  type: objet\n',
    },
    says: ['openapi/parts.yaml:2:9: Item.type: OpenAPI has no type "objet". Write type: object.'],
  },
  'contract-part-yaml-syntax': {
    files: { ...spoiled(items, '"#/components/schemas/Item"', 'parts.yaml#/Item'), 'openapi/parts.yaml': 'Item: {\n' },
    says: ['openapi/parts.yaml:1:7: the bracket { is not closed. Close it where its content ends.'],
  },
  'contract-unknown-extension': {
    files: spoiled(items, '    get:', '    x-gateway-costs: 2\n    get:'),
    says: [
      'openapi/items.yaml:6:5: paths./v1/items.x-gateway-costs: x-gateway-costs is not known. Did you mean "x-gateway-cost"?',
    ],
  },
  'contract-misplaced-extension': {
    files: spoiled(items, 'title: Items', 'title: Items, x-gateway-cost: 2'),
    says: [
      'openapi/items.yaml:2:23: info.x-gateway-cost: x-gateway-cost has no meaning here. Move it to the operation, the path or the top of the document.',
    ],
  },
  'contract-bad-extension': {
    files: spoiled(items, '    post:', '    post:\n      x-gateway-idempotency: always'),
    says: [
      'openapi/items.yaml:10:30: paths./v1/items.post.x-gateway-idempotency: "always" is not a possible value. Use one of: optional, required, off.',
    ],
  },
  'contract-once-without-members': {
    files: spoiled(items, '    post:', '    post:\n      x-gateway-once: secret'),
    says: [
      'openapi/items.yaml:10:23: paths./v1/items.post.x-gateway-once: "secret" is not possible here. Write members of the answer with the values that a repetition gets, such as { secret: null }.',
    ],
  },
  'contract-once-where-no-answer-is-stored': {
    files: spoiled(items, '    get:', '    get:\n      x-gateway-once: { secret: null }'),
    says: [
      'openapi/items.yaml:6:5: paths./v1/items.get: x-gateway-once has no meaning here: the answer of this operation is never stored. Put it on a POST or PATCH, without x-gateway-idempotency: off.',
    ],
  },
  'contract-of-a-service-on-the-gateway-itself': {
    files: {
      ...spoiled(items, 'security:', 'x-gateway-upstream: own\nsecurity:'),
      'openapi/own.yaml': own,
      [upstreams]: withOwn,
    },
    says: [
      'openapi/items.yaml:7:5: paths./v1/items.get: "own" is the gateway itself, which executes the operations of its own contract only. Name the upstream of a service.',
      'openapi/items.yaml:10:5: paths./v1/items.post: "own" is the gateway itself, which executes the operations of its own contract only. Name the upstream of a service.',
    ],
  },
  'contract-of-a-service-with-a-scope-of-the-gateway': {
    files: { ...spoiled(items, 'items:write', 'gateway:write'), 'openapi/own.yaml': own, [upstreams]: withOwn },
    says: [
      'openapi/items.yaml:11:20: paths./v1/items.post.security.0.apiKey: the scope "gateway:write" is unknown. Use one of: items:read, items:write.',
    ],
  },
  'own-contract-public': {
    files: { 'openapi/own.yaml': own.replace(/security: .*/, 'x-gateway-public: true'), [upstreams]: withOwn },
    says: [
      "openapi/own.yaml:5:5: paths./gateway/v1/organization.get: an operation of the gateway's own contract cannot be public. Add security with a scope.",
    ],
  },
  'own-contract-unknown-scope': {
    files: { 'openapi/own.yaml': own.replace('gateway:read', 'gateway:reed'), [upstreams]: withOwn },
    says: [
      'openapi/own.yaml:7:20: paths./gateway/v1/organization.get.security.0.apiKey: the scope "gateway:reed" is unknown. Did you mean "gateway:read"?',
    ],
  },
  'contract-unknown-upstream': {
    files: spoiled(items, 'security:', 'x-gateway-upstream: itmes\nsecurity:'),
    says: [
      'openapi/items.yaml:3:21: x-gateway-upstream: "itmes" is not defined in upstreams.yaml. Did you mean "items"?',
    ],
  },
  'contract-unknown-limit': {
    files: spoiled(items, '    post:', '    post:\n      x-gateway-limit: slw'),
    says: [
      'openapi/items.yaml:10:24: paths./v1/items.post.x-gateway-limit: "slw" is not defined in limits.yaml under extra. Did you mean "slow"?',
    ],
  },
  'contract-unknown-scope': {
    files: spoiled(items, 'items:write', 'item:write'),
    says: [
      'openapi/items.yaml:11:20: paths./v1/items.post.security.0.apiKey: the scope "item:write" is unknown. Did you mean "items:write"?',
    ],
  },
  'contract-unknown-scheme': {
    files: spoiled(items, '[{ apiKey: ["items:write"] }]', '[{ apikey: ["items:write"] }]'),
    says: [
      'openapi/items.yaml:11:18: paths./v1/items.post.security.0: there is no security scheme "apikey". Did you mean "apiKey"?',
    ],
  },
  'contract-unsecured': {
    files: spoiled(items, '["items:write"] }]', '["items:write"] }, {}]'),
    says: [
      'openapi/items.yaml:11:47: paths./v1/items.post.security.1: this allows requests both with a key and without one. Remove the empty alternative {}, or security altogether and add x-gateway-public: true.',
    ],
  },
  'contract-neither-secured-nor-public': {
    files: spoiled(items, 'security: [{ apiKey: ["items:write"] }]', 'security: []'),
    says: [
      'openapi/items.yaml:9:5: paths./v1/items.post: this operation is neither secured nor declared public. Add security with a scope or x-gateway-public: true, or say either in its entry of upstreams.yaml.',
    ],
  },
  'contract-public-and-secured': {
    files: spoiled(items, '    post:', '    post:\n      x-gateway-public: true'),
    says: [
      'openapi/items.yaml:12:7: paths./v1/items.post.security: this operation is declared public and secured at once. Remove security here, or x-gateway-public.',
    ],
  },
  'contract-streamed-json': {
    files: spoiled(items, '    post:', '    post:\n      x-gateway-body: stream'),
    says: [
      'openapi/items.yaml:9:5: paths./v1/items.post: a body of type application/json is checked, so it cannot be streamed. Let it be buffered (body: buffer), or take the JSON media type out of requestBody.',
    ],
  },
  'contract-bad-pattern': {
    files: spoiled(items, '^[a-z]+$', '^[a-z+$'),
    says: [
      'openapi/items.yaml:24:40: components.schemas.Item.properties.name.pattern: Invalid regular expression: /^[a-z+$/: Unterminated character class. Correct the regular expression.',
    ],
  },
  'contract-unsafe-pattern': {
    files: spoiled(items, '^[a-z]+$', '^((?=a)\\\\cA+)+$'),
    says: [
      'openapi/items.yaml:24:40: components.schemas.Item.properties.name.pattern: the pattern ^((?=a)\\cA+)+$ could take exponential time. Take repetitions out of repetitions.',
    ],
  },
  'contract-undeclared-parameter': {
    files: spoiled(items, '  /v1/items:', '  /v1/items/{id}:'),
    says: [
      'openapi/items.yaml:6:5: paths./v1/items/{id}.get.parameters: The operation does not define the path parameter `{id}` expected by path `/v1/items/{id}`. Add { name: id, in: path, required: true, schema: { type: string } } to its parameters, or correct the name there.',
      'openapi/items.yaml:9:5: paths./v1/items/{id}.post.parameters: The operation does not define the path parameter `{id}` expected by path `/v1/items/{id}`. Add { name: id, in: path, required: true, schema: { type: string } } to its parameters, or correct the name there.',
    ],
  },
  'contract-unused-parameter': {
    files: spoiled(items, '    get:', '    parameters: [{ name: id, in: path, required: true, schema: {} }]\n    get:'),
    says: [
      'openapi/items.yaml:6:26: paths./v1/items.parameters.0.name: Path parameter `id` is not used in the path `/v1/items`. Make the parameters in the path and those that are declared the same.',
    ],
  },
  'contract-query-in-path': {
    files: spoiled(items, '  /v1/items:', '  "/v1/items?all=true":'),
    says: [
      'openapi/items.yaml:5:3: paths./v1/items?all=true: no request has this path, because it ends before the question mark, so its operations are not served. Write /v1/items, and declare "all" among its parameters, with in: query.',
    ],
  },
  'contract-same-path-with-another-parameter-name': {
    files: spoiled(
      items,
      'components:',
      '  /v1/items/{id}:\n    get:\n      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]\n      responses: { "200": { description: One } }\n' +
        '  /v1/items/{name}:\n    get:\n      parameters: [{ name: name, in: path, required: true, schema: { type: string } }]\n      responses: { "200": { description: One } }\ncomponents:',
    ),
    says: [
      'openapi/items.yaml:22:5: paths./v1/items/{name}.get: GET /v1/items/{name} matches the same requests as /v1/items/{id} (GET /v1/items/{id}): only the names of parameters differ. Remove one of the two, and let the schema of /v1/items/{id} admit the values of both.',
    ],
  },
  'contract-and-its-security-in-the-configuration-with-mistakes': {
    files: {
      ...spoiled(items, '    post:', '    post:\n      x-gateway-cost: none'),
      [upstreams]: `${sound[upstreams]}    security: { apiKey: 3 }\n`,
    },
    says: [
      'config/upstreams.yaml:6:25: upstreams.items.security.apiKey: 3 is not possible here. It must be a list, such as [a, b].',
      'openapi/items.yaml:10:23: paths./v1/items.post.x-gateway-cost: "none" is not possible here. A cost is a whole number from 1 to 1000000.',
    ],
  },
  'contract-and-configuration-with-mistakes-of-all-kinds': {
    files: {
      ...spoiled(
        items,
        '    get:\n      operationId: listItems\n',
        '    get:\n      operationId: listItems\n      x-gateway-cost: none\n      security: [{ other: [] }]\n      paramters: []\n',
      ),
      [upstreams]: sound[upstreams].replace('1000', 'soon'),
      'config/limits.yaml': sound['config/limits.yaml'].replace('requests: 100', 'requests: many'),
    },
    says: [
      'config/upstreams.yaml:5:16: upstreams.items.timeoutMs: "soon" is not possible here. It must be a whole number of milliseconds from 1 to 3600000.',
      'config/limits.yaml:2:25: tiers.standard.requests: "many" is not possible here. It must be a whole number of requests from 1 to 1000000000.',
      'openapi/items.yaml:10:7: paths./v1/items.get.paramters: Property `paramters` is not expected here. Did you mean "parameters"?',
      'openapi/items.yaml:8:23: paths./v1/items.get.x-gateway-cost: "none" is not possible here. A cost is a whole number from 1 to 1000000.',
      'openapi/items.yaml:9:18: paths./v1/items.get.security.0: there is no security scheme "other". Use one of: apiKey.',
    ],
  },
  'contract-two-owners': {
    files: second(sound[items].replace('listItems', 'allItems').replace('createItem', 'newItem')),
    says: [
      'openapi/more.yaml:6:5: paths./v1/items.get: GET /v1/items is claimed by openapi/items.yaml already (listItems). In the entry "more", leave it out by "operations: { "allItems": { serve: false } }", or set another basePath, such as "basePath: /more".',
      'openapi/more.yaml:9:5: paths./v1/items.post: POST /v1/items is claimed by openapi/items.yaml already (createItem). In the entry "more", leave it out by "operations: { "newItem": { serve: false } }", or set another basePath, such as "basePath: /more".',
    ],
  },
  'contract-same-operation-id': {
    files: second(sound[items].replace('/v1/items', '/v1/more/items')),
    says: [
      'config/upstreams.yaml:6:3: upstreams.more: "items" has operations of the same names already: listItems and 1 more. Add "operationNames: qualified" to this entry: its operations are then called more.listItems and so on.',
    ],
  },
  'contract-same-operation-id-in-one-entry': {
    files: {
      ...spoiled(upstreams, '[items.yaml]', '[items.yaml, more.yaml]'),
      'openapi/more.yaml': sound[items].replace('/v1/items', '/v1/more/items').replace('createItem', 'newItem'),
    },
    says: [
      'openapi/more.yaml:7:20: paths./v1/more/items.get.operationId: the operationId "listItems" is taken by openapi/items.yaml (GET /v1/items). Give one of them another operationId.',
    ],
  },
  'contract-without-paths': {
    files: { [items]: 'openapi: 3.1.1\ninfo: { title: Items, version: "1" }\ncomponents: {}\n' },
    says: [
      'config/upstreams.yaml:3:17: upstreams.items.contracts.0: none of the files listed here is an OpenAPI document with an operation. List one that begins with "openapi:" and has paths.',
    ],
  },
  'rules-that-read-no-record-or-another': {
    files: {
      [items]: sound[items].replace(
        'components:',
        '  /v1/items/{id}:\n    patch: { operationId: changeItem, security: [{ apiKey: ["items:write"] }], parameters: [{ name: id, in: path, required: true, schema: { type: string } }], requestBody: { content: { text/plain: {} } }, responses: { "200": { description: The item } } }\ncomponents:',
      ),
      [upstreams]: `${sound[upstreams]}    requests:
      - { operations: [createItem], setAsItems: { fields: [tags], read: listItem } }
      - { operations: [createItem], setAsItems: { fields: [sizes], read: createItem } }
      - { operations: [changeItem], setAsItems: { fields: [tags], read: listItems } }
`,
    },
    says: [
      'config/upstreams.yaml:7:73: upstreams.items.requests.0.setAsItems.read: "items" has no operation "listItem". Did you mean "listItems"?',
      'config/upstreams.yaml:8:74: upstreams.items.requests.1.setAsItems.read: "createItem" is a POST, which may change the record. Use one of: listItems.',
      'config/upstreams.yaml:8:24: upstreams.items.requests.1.operations.0: an earlier rule has setAsItems for createItem. Leave it out of this rule.',
      'config/upstreams.yaml:9:24: upstreams.items.requests.2.operations.0: listItems has another path than changeItem, so it reads another record. Leave it out of this rule.',
    ],
  },
};
