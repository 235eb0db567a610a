// No message shows the credentials in an address, and each says where they belong.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInProcess } from '../support/in-process.ts';
import { sentencesFor, spoiled } from './faults.ts';

const upstreams = 'config/upstreams.yaml';
const items = 'http://items:3000';
const store = 'Put the secret itself into the file SECRETS_DIR/items_credential or the variable ITEMS_CREDENTIAL.';
const login = `Write credential: { basic: { user: …, secret: items_credential } } into the entry. ${store}`;

for (const [written, remedy] of [
  ['live: http://bob:hunter2@items:3000', login],
  ['live: http://hunter2@items:3000/v1', login],
  ['live: http://bob:hun/ter2@items:3000', login],
  [`live: [${items}, "https://bob:hunter2@items"]`, login],
  [`live: ${items}\n    test: "http://bob:hunter2@[::1]:3000/a"`, login],
  [`live: ${items}\n    servers: { "https://a.example": "http://bob:hunter2@items:3000" }`, login],
  [`live: ${items}\n    servers: { "https://bob:hunter2@a.example": "${items}" }`, login],
  [
    'live: "http://items:3000/?api_key=hunter2"',
    `Write credential: { apiKey: { header: X-API-Key, secret: items_credential } } into the entry. ${store}`,
  ],
] as const)
  test(`${written.split('\n').at(-1)?.trim()} is refused`, async () => {
    const says = await sentencesFor({ files: spoiled(upstreams, `live: ${items}`, written) });
    assert.equal(says.length, 1, says.join('\n'));
    assert.doesNotMatch(says[0] ?? '', /ter2/);
    assert.ok(says[0]?.endsWith(remedy), says[0]);
  });

test('a public address with credentials, and one of a variable, are not shown', async () => {
  const files = spoiled('config/gateway.yaml', 'http://localhost:8080', '\x24{URL}');
  const says = await sentencesFor({ files, environment: { URL: 'http://bob:hunter2@localhost' } });
  assert.deepEqual(says, [
    'config/gateway.yaml:1:12: publicUrl: an address contains no credentials, because messages and the console show it. Remove them from the address.',
  ]);
});

test('an at sign in the path of an address is no credential', async () => {
  const says = await sentencesFor({ files: spoiled(upstreams, items, `${items}/@scope`) });
  assert.match(says.join(), /"http:\/\/items:3000\/@scope" is not possible here/);
});

test('init does not show the credentials of the address of a document', async () => {
  const words = ['init', '/no/where', '--from', 'http://bob:hunter2@127.0.0.1:9/openapi.json'];
  const { code, stdout, stderr } = await runInProcess(words, { environment: {} });
  assert.notEqual(code, 0);
  assert.doesNotMatch(stdout + stderr, /hunter2/);
  assert.match(stderr, /http:\/\/…@127\.0\.0\.1:9\/openapi\.json contains credentials\. Download the document/);
});
