// Faults of single lines, by name: a colon or a dash without its space, a quote or a bracket that is not closed, and others. Each names the
// line that is wrong, and not the line at which the parser notices it.

import { type Fault, spoiled } from './faults.ts';

const FILES = {
  items: 'openapi/items.yaml',
  upstreams: 'config/upstreams.yaml',
  limits: 'config/limits.yaml',
  gateway: 'config/gateway.yaml',
} as const;

/** The file, the piece that is replaced, by what, and what is said, without the file. */
const ROWS: Readonly<
  Record<string, readonly [file: keyof typeof FILES, piece: string, by: string, ...says: readonly string[]]>
> = {
  'contracts-nodash': [
    'upstreams',
    'contracts: [items.yaml]',
    'contracts:\n      -inventory.yaml',
    '4:7: upstreams.items.contracts: "-inventory.yaml" is not possible here. It must be a list, such as [a, b]. The dash needs a space after it: - inventory.yaml.',
  ],
  'contracts-nodash2': [
    'upstreams',
    'contracts: [items.yaml]',
    'contracts:\n      - items.yaml\n      -inventory.yaml',
    '5:7: a dash without a space after it is part of a text. Write - inventory.yaml.',
  ],
  'dash-before-the-name-of-an-entry': [
    'upstreams',
    '    timeoutMs: 1000\n',
    '    timeoutMs: 1000\n  # The stock\n  - name: stock\n    contracts: [stock.yaml]\n',
    '7:3: entries are named by their key, not listed with a dash. Write stock: in place of - name: stock, indented as the other entries.',
  ],
  'dash-before-the-key-of-an-entry': [
    'upstreams',
    '    timeoutMs: 1000\n',
    '    timeoutMs: 1000\n  - stock:\n      contracts: [stock.yaml]\n',
    '6:3: entries are named by their key, not listed with a dash. Write stock: in place of - stock:, indented as the other entries.',
  ],
  'dash-among-the-keys-of-an-operation': [
    'items',
    '      operationId: listItems\n',
    '      operationId: listItems\n      - name: limit\n        in: query\n',
    '8:7: an item of a list stands among keys. Write the key of the list above it, such as parameters:, or remove the dash.',
  ],
  'path-twice': [
    'items',
    'components:\n',
    '  /v1/items:\n    delete: { operationId: clear, responses: { "204": { description: x } } }\ncomponents:\n',
    '17:3: the key "/v1/items" is there twice, first on line 5. Put the methods of both below one of the two.',
  ],
  'key-twice-after-a-dash': [
    'items',
    '      operationId: listItems\n',
    '      operationId: listItems\n      parameters:\n        - in: query\n          name: a\n        - name: b\n          name: c\n',
    '12:11: the key "name" is there twice, first on line 11. Remove one of the two.',
  ],
  'operation-by-its-method-and-path': [
    'limits',
    'listItems:',
    '"GET /v1/items":',
    '6:3: operations.GET /v1/items: no contract has an operation "GET /v1/items". Did you mean "listItems"?',
  ],
  'operation-of-an-entry-by-its-method-and-path': [
    'upstreams',
    'timeoutMs: 1000',
    'operations: { "post /v1/items": { timeoutMs: 1000 } }',
    '5:19: upstreams.items.operations.post /v1/items: no contract of "items" has an operation "post /v1/items". Did you mean "createItem"?',
  ],
  'cors-without-a-host': [
    'gateway',
    'trustedProxies: []',
    'trustedProxies: []\ncors:\n  origins: ["*"]\n  maxAgeSeconds: 5',
    '4:3: cors.origins: the key "origins" does not belong here. Write cors: { <host>: { origins: … } }.',
  ],
  'colon-nospace': [
    'upstreams',
    'timeoutMs: 1000',
    'timeoutMs:1000',
    '5:5: a colon without a space after it is part of a text. Write timeoutMs: 1000, with a space.',
  ],
  'colon-nospace-mid': [
    'upstreams',
    'live: http://items:3000',
    'live:http://items:3000',
    '4:5: a colon without a space after it is part of a text. Write live: http://items:3000, with a space.',
  ],
  'colon-nospace-top': [
    'gateway',
    'trustedProxies: []',
    'trustedProxies:[]',
    '2:1: a colon without a space after it is part of a text. Write trustedProxies: [], with a space.',
  ],
  'colon-nospace-oas': [
    'items',
    'operationId: listItems',
    'operationId:listItems',
    '7:7: a colon without a space after it is part of a text. Write operationId: listItems, with a space.',
  ],
  'colon-missing': [
    'upstreams',
    'timeoutMs: 1000',
    'timeoutMs 1000',
    '5:5: the colon after the key is missing. Write timeoutMs: 1000.',
  ],
  'colon-missing-block': [
    'upstreams',
    '  items:\n',
    '  items\n',
    '2:3: the colon after the key is missing. Write items:.',
  ],
  'indent-contracts6': [
    'upstreams',
    '    contracts:',
    '      contracts:',
    '3:7: the line is indented by 6 spaces, and the line after it by 4 spaces. Indent it by 4 spaces, as "live" (line 4).',
  ],
  'oas-indent1': [
    'items',
    '      operationId: listItems',
    '     operationId: listItems',
    '7:6: the line is indented by 5 spaces, and the line after it by 6 spaces. Indent it by 6 spaces, as "responses" (line 8).',
  ],
  'quote-open': [
    'upstreams',
    'http://items:3000',
    '"http://items:3000',
    '4:11: the quote " is not closed on this line. Close it where the text ends.',
  ],
  'oas-quote': [
    'items',
    'operationId: listItems',
    'summary: "List items\n      operationId: listItems',
    '7:16: the quote " is not closed on this line. Close it where the text ends.',
  ],
  'oas-apos': [
    'items',
    'operationId: listItems',
    "summary: 'It's all'\n      operationId: listItems",
    '7:16: a quote inside the text ends it. Write it in double quotes, or write two single quotes in place of the inner one.',
  ],
  'bracket-open': [
    'upstreams',
    '[items.yaml]',
    '[items.yaml',
    '3:16: the bracket [ is not closed. Close it where its content ends.',
  ],
  'brace-extra': [
    'limits',
    '{ requests: 100 }',
    '{ requests: 100 }}',
    '2:30: there is a closing bracket too many. Remove it.',
  ],
  'brace-colon': [
    'limits',
    '{ requests: 100 }',
    '{ requests:100 }',
    '2:15: tiers.standard.requests:100: a colon without a space after it is part of a text. Write requests: 100, with a space.',
  ],
  'brace-nocomma': [
    'limits',
    '{ requests: 5, windowSeconds: 60 }',
    '{ requests: 5 windowSeconds: 60 }',
    '4:23: a comma is missing between two members. Write a comma before windowSeconds.',
  ],
  equals: [
    'upstreams',
    'timeoutMs: 1000',
    'timeoutMs = 1000',
    '5:5: a key is followed by a colon, not by an equals sign. Write timeoutMs: 1000.',
  ],
  at: [
    'upstreams',
    'live: http://items:3000',
    'live: @items',
    '4:11: a text that begins with this character needs quotes. Write it in quotes: "@items".',
  ],
  star: [
    'upstreams',
    'contracts: [items.yaml]',
    'contracts: [*.yaml]',
    '3:17: *.yaml is an alias, and no anchor &.yaml is before it. For a text, write it in quotes: "*.yaml".',
  ],
  smart: [
    'upstreams',
    'live: http://items:3000',
    'live: “http://items:3000”',
    '4:11: upstreams.items.live: "“http://items:3000”" is not possible here. It must be http://host:port with or without a path, examples:, gateway:, sandbox:platform, sandbox:mail or sandbox:files. Did you mean "http://items:3000"?',
  ],
  'comment-slash': [
    'upstreams',
    '    live',
    '    // the service\n    live',
    '4:5: comments of YAML begin with #. Begin it with #.',
  ],
  'oas-pipe': [
    'items',
    'operationId: listItems',
    'description: |\n      Text that is not indented\n      operationId: listItems',
    '8:1: the text below | or > is not indented. Indent it deeper than its key.',
  ],
  env: [
    'upstreams',
    'http://items:3000',
    '$ITEMS_URL',
    '4:11: upstreams.items.live: "$ITEMS_URL" is not possible here. It must be http://host:port with or without a path, examples:, gateway:, sandbox:platform, sandbox:mail or sandbox:files. Write a variable as \x24{ITEMS_URL}, without a default, and set it.',
  ],
  'ref-unquoted-block': [
    'items',
    'schema: { $ref: "#/components/schemas/Item" }',
    'schema:\n              $ref: #/components/schemas/Item',
    '16:15: paths./v1/items.post.requestBody.content.application/json.schema.$ref: $ref has no value, because outside quotes # begins a comment. Write it in quotes, as in "#/components/schemas/Name".',
  ],
  'path-param-missing': [
    'items',
    '  /v1/items:',
    '  "/v1/items/{id}":',
    '6:5: paths./v1/items/{id}.get.parameters: The operation does not define the path parameter `{id}` expected by path `/v1/items/{id}`. Add { name: id, in: path, required: true, schema: { type: string } } to its parameters, or correct the name there.',
    '9:5: paths./v1/items/{id}.post.parameters: The operation does not define the path parameter `{id}` expected by path `/v1/items/{id}`. Add { name: id, in: path, required: true, schema: { type: string } } to its parameters, or correct the name there.',
  ],
  'publicUrl-path': [
    'gateway',
    'http://localhost:8080',
    'http://localhost:8080/api',
    '1:12: publicUrl: "http://localhost:8080/api" is not possible here. It must be an http:// or https:// address without a path, such as https://api.example.com. Did you mean "http://localhost:8080"?',
  ],
  'variable-in-file': [
    'gateway',
    'trustedProxies: []',
    'port: 8080',
    '2:1: port: this is no setting of a file. Remove it here, and set the environment variable PORT.',
  ],
  'entry-at-the-margin': [
    'upstreams',
    '  items:\n    contracts',
    'items:\n    contracts',
    '2:1: items: "items" belongs below "upstreams". Indent it deeper than "upstreams".',
  ],
  'limits-at-the-margin': [
    'limits',
    '  slow: {',
    'fast: { requests: 9 }\nslow: {',
    '4:1: fast: "fast" and "slow" belong below "extra". Indent them deeper than "extra".',
    '7:23: operations.listItems.extra: there is no limit "slow" under extra in limits.yaml. None is defined.',
  ],
  'second-entry-at-the-margin': [
    'upstreams',
    '    timeoutMs: 1000\n',
    'more:\n    contracts: [items.yaml]\n    live: http://more:3000\n',
    '5:1: more: "more" belongs below "upstreams". Indent it deeper than "upstreams".',
  ],
  'entry-without-section': [
    'upstreams',
    'upstreams:\n',
    '',
    '1:3: items: "items" belongs below "upstreams". Write upstreams: above it, and indent it deeper.',
  ],
  'settings-without-entry': [
    'upstreams',
    'upstreams:\n  items:\n',
    '',
    '1:5: contracts: "contracts", "live" and "timeoutMs" belong below "upstreams". Write upstreams:, and below it a line with the name of the entry, above them, and indent them deeper.',
  ],
  'password-in-the-file': [
    'upstreams',
    'timeoutMs: 1000',
    'credential: { basic: { user: bob, password: hunter2 } }',
    '5:39: upstreams.items.credential.basic.password: the key "password" is not known here. Did you mean "secret"? Put the secret itself into the file SECRETS_DIR/items_credential or the variable ITEMS_CREDENTIAL, for example, and items_credential here.',
  ],
  'host-with-an-asterisk': [
    'upstreams',
    'http://items:3000',
    'http://*.items:3000',
    '4:11: upstreams.items.live: "http://*.items:3000" is not possible here. It must be http://host:port with or without a path, examples:, gateway:, sandbox:platform, sandbox:mail or sandbox:files.',
  ],
  'address-with-an-asterisk': [
    'upstreams',
    'http://items:3000',
    'http://items:3000/api/*',
    '4:11: upstreams.items.live: "http://items:3000/api/*" is not possible here. It must be http://host:port with or without a path, examples:, gateway:, sandbox:platform, sandbox:mail or sandbox:files. Did you mean "http://items:3000/api"?',
  ],
  'limit-as-rate': [
    'limits',
    '{ requests: 100 }',
    '100/min',
    '2:13: tiers.standard: "100/min" is not possible here. It must be a block of keys and values. Did you mean { requests: 100, windowSeconds: 60 }?',
  ],
  'requests-as-rate': [
    'limits',
    'requests: 100',
    'requests: 20 requests per 10s',
    '2:25: tiers.standard.requests: "20 requests per 10s" is not possible here. It must be a whole number of requests from 1 to 1000000000. Write requests: 20, windowSeconds: 10.',
  ],
  'requests-by-other-names': [
    'limits',
    '{ requests: 100 }',
    '{ rate: 100, interval: 60 }',
    '2:15: tiers.standard.rate: the key "rate" is not known here. Did you mean "requests"?',
    '2:26: tiers.standard.interval: the key "interval" is not known here. Did you mean "windowSeconds"?',
  ],
};

export const faultsOfLines: Readonly<Record<string, Fault>> = Object.fromEntries(
  Object.entries(ROWS).map(([name, [file, piece, by, ...says]]) => [
    name,
    { files: spoiled(FILES[file], piece, by), says: says.map((sentence) => `${FILES[file]}:${sentence}`) },
  ]),
);
