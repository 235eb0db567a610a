// Slips that authors make often are named at the character that is wrong, with the form to write.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { environmentOf } from '../support/configuration.ts';
import { runInProcess } from '../support/in-process.ts';
import { type Files, sentencesFor, sound, spoiled, writeSound } from './faults.ts';

const [UPSTREAMS, GATEWAY, ITEMS] = ['config/upstreams.yaml', 'config/gateway.yaml', 'openapi/items.yaml'] as const;
const NO_BREAK = 'there is a no-break space (U+00A0), which YAML takes for text. Write an ordinary space in its place.';
const inList = (text: string) => ({ [UPSTREAMS]: `upstreams:\n  - ${text}\n` });
const NO_LIST =
  'config/upstreams.yaml:2:5: upstreams.0: entries are named by their key, not listed with a dash. Write "rooms:" in place of the items.';
const NO_PORT = 'is not possible here. It must have a port that exists: ports end at 65535.';

for (const [name, files, says] of [
  ['an indentation', spoiled(UPSTREAMS, '    timeoutMs', '   \u00a0timeoutMs'), `${UPSTREAMS}:5:4: ${NO_BREAK}`],
  [
    'a whole indentation',
    spoiled(UPSTREAMS, '    timeoutMs', '\u00a0\u00a0\u00a0\u00a0timeoutMs'),
    `${UPSTREAMS}:5:1: ${NO_BREAK}`,
  ],
  [
    'the line before the one that YAML reports',
    spoiled(UPSTREAMS, '    contracts', '  \u00a0 contracts'),
    `${UPSTREAMS}:3:3: ${NO_BREAK}`,
  ],
  ['the top of a file', spoiled(GATEWAY, 'trustedProxies', '\u00a0trustedProxies'), `${GATEWAY}:2:1: ${NO_BREAK}`],
  ['a contract', spoiled(ITEMS, '      operationId: l', '     \u00a0operationId: l'), `${ITEMS}:7:6: ${NO_BREAK}`],
  [
    'the place behind a colon',
    spoiled(UPSTREAMS, 'timeoutMs: 1000', 'timeoutMs:\u00a01000'),
    `${UPSTREAMS}:5:15: ${NO_BREAK}`,
  ],
  [
    'the place behind a dash',
    spoiled(UPSTREAMS, '[items.yaml]', '\n      -\u00a0items.yaml'),
    `${UPSTREAMS}:4:8: ${NO_BREAK}`,
  ],
  [
    'a zero-width space',
    spoiled(UPSTREAMS, '    timeoutMs', '  \u200b  timeoutMs'),
    `${UPSTREAMS}:5:3: ${NO_BREAK.replace('no-break space (U+00A0)', 'zero-width space (U+200B)')}`,
  ],
  [
    'an address among the paths',
    spoiled(ITEMS, '  /v1/items:', '  http://localhost:8000/v1/items:'),
    `${ITEMS}:5:3: paths.http://localhost:8000/v1/items: Property \`http://localhost:8000/v1/items\` is not expected here. Paths begin with a slash. Did you mean "/v1/items"?`,
  ],
  [
    'an address as the path of the health check',
    spoiled(UPSTREAMS, 'timeoutMs: 1000', 'health: { path: "http://localhost:8000/health" }'),
    `${UPSTREAMS}:5:21: upstreams.items.health.path: "http://localhost:8000/health" is not possible here. It must be a path that begins with a slash, with visible ASCII only. Did you mean "/health"?`,
  ],
  [
    'NO in place of an address',
    spoiled(UPSTREAMS, 'timeoutMs: 1000', 'test: NO'),
    `${UPSTREAMS}:5:11: upstreams.items.test: "NO" is not possible here. It must be http://host:port with or without a path, examples:, gateway:, sandbox:platform, sandbox:mail or sandbox:files.`,
  ],
  [
    'an escape of a regular expression',
    spoiled(ITEMS, '"^[a-z]+$"', '"^\\d+$"'),
    `${ITEMS}:24:42: in double quotes, \\d is no escape. Write the text in single quotes.`,
  ],
  ['a list of named entries', inList('name: rooms\n    contracts: [items.yaml]'), NO_LIST],
  ['a list of entries', inList('rooms:\n      contracts: [items.yaml]'), NO_LIST],
  [
    'an asterisk at the beginning of a text',
    spoiled(ITEMS, '{ title: Items,', '\n  title: *Rooms* API\n  x-a: {'),
    `${ITEMS}:3:10: a text that begins with * needs quotes, because * begins an alias. Write it in quotes: "*Rooms* API".`,
  ],
  [
    'a port',
    spoiled(UPSTREAMS, '3000', '287000'),
    `${UPSTREAMS}:4:11: upstreams.items.live: "http://items:287000" ${NO_PORT}`,
  ],
  [
    'a public port',
    spoiled(GATEWAY, '8080', '287000'),
    `${GATEWAY}:1:12: publicUrl: "http://localhost:287000" ${NO_PORT}`,
  ],
  [
    'the directory of published contracts',
    {
      ...spoiled(GATEWAY, 'trustedProxies: []', 'publishedContracts: publishd'),
      'openapi/published/README.md': 'The published contracts.\n',
    },
    `${GATEWAY}:2:21: publishedContracts: the directory of published contracts does not exist. Did you mean "published"?`,
  ],
] as [string, Files, string][])
  test(`a slip in ${name} is one mistake`, async () => {
    assert.deepEqual(await sentencesFor({ files }), [says]);
  });

test('a no-break space in a text is none', async () => {
  const files = spoiled(ITEMS, 'description: The items', 'description: The\u00a0items');
  assert.deepEqual(await sentencesFor({ files }), []);
});

test('media types that are nearly JSON and exist are none, nor is a misspelt type of bytes', async () => {
  for (const type of ['application/json5', 'application/bson', 'application/jsonl', 'text/css', 'application/jose']) {
    const files = spoiled(ITEMS, 'application/json:', `${type}:`);
    assert.deepEqual(await sentencesFor({ files }), []);
  }
  const bytes = '          application/jsn: {}\n          application/json:';
  assert.deepEqual(await sentencesFor({ files: spoiled(ITEMS, '          application/json:', bytes) }), []);
});

for (const [text, says] of [
  [
    sound[ITEMS].replace('3.1.1', '3.0.3\nwebhooks: {}'),
    /:2:1: webhooks: OpenAPI 3\.0 has no webhooks\. Begin the document with "openapi: 3\.1\.1"\.$/m,
  ],
  [
    sound[ITEMS].replace(
      '  /v1/items:',
      '  /v1/items/{id}:\n    parameters:\n      - name: id\n        in: path\n        required: false\n        schema: { type: string }',
    ),
    /:9:19: \S+\.required: the path parameter "id" is not declared as required, .* Change it to true\.$/m,
  ],
] as const)
  test(`check warns at the place: ${says.source}`, async () => {
    const directory = writeSound({ [ITEMS]: text });
    const { stdout, stderr } = await runInProcess(['check'], { environment: environmentOf(directory) });
    rmSync(directory, { recursive: true });
    assert.match(stdout + stderr, says);
  });
