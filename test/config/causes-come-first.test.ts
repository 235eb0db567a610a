// A mistake is told at its cause, and one that follows from it is not told.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { environmentOf } from '../support/configuration.ts';
import { runInProcess } from '../support/in-process.ts';
import { type Files, sound, spoiled, writeSound } from './faults.ts';

const [UPSTREAMS, ITEMS] = ['config/upstreams.yaml', 'openapi/items.yaml'] as const;
const others = '  /v1/others: { get: { operationId: listOthers, responses: { "200": { description: x } } } }\n';
const withPath = (path: string, before = others) => ({
  [ITEMS]: sound[ITEMS]
    .replace('  /v1/items:', `${before}  ${path}:`)
    .replace(
      'operationId: listItems',
      'operationId: listItems\n      parameters: [{ name: item_id, in: path, required: true, schema: { type: string } }]',
    ),
});
const QUERY =
  /^openapi\/items\.yaml:\d:3: paths\.\/v1\/items\?limit=5: no request has this path, .* Write \/v1\/items, and declare "limit"/;
const TEMPLATE = /^openapi\/items\.yaml:6:3: .* is not a parameter, .* Did you mean "\/v1\/items\/\{item_id\}"\?$/;
const query = (before: string) => ({ [ITEMS]: sound[ITEMS].replace('  /v1/items:', `${before}  /v1/items?limit=5:`) });
const header = (text: string) => spoiled(UPSTREAMS, '    timeoutMs', `    ${text}\n    timeoutMs`);
const BEARER =
  /^config\/upstreams\.yaml:5:\d+: \S+: the value of a header is a secret, .* Write credential: \{ bearer: \{ secret: items_credential \} \}\. Put the secret itself into the file SECRETS_DIR\/items_credential or the variable ITEMS_CREDENTIAL\.$/;

for (const [name, files, says] of [
  ['a query in a path that limits.yaml relies on', query(others), QUERY],
  ['a query in the only path', query(''), QUERY],
  ['a parameter with a colon', withPath('/v1/items/:item_id'), TEMPLATE],
  ['a brace that is not closed', withPath('"/v1/items/{item_id"'), TEMPLATE],
  ['no contract', spoiled(UPSTREAMS, '[items.yaml]', '[]'), /^config\/upstreams\.yaml:3:5: .* must name at least one/],
  ['headers with a secret', header('headers: { Authorization: "Bearer abc.def" }'), BEARER],
  ['a credential with its value', header('credential: { headers: { Authorization: "Bearer abc.def" } }'), BEARER],
] as [string, Files, RegExp][])
  test(`${name} is one mistake`, async () => {
    const directory = writeSound(files);
    const { code, stdout, stderr } = await runInProcess(['check'], { environment: environmentOf(directory) });
    rmSync(directory, { recursive: true });
    const lines = (stdout + stderr).replaceAll(`${directory}/`, '').trim().split('\n');
    assert.equal(code, 1);
    assert.match(lines[0] ?? '', says);
    assert.deepEqual(lines.slice(1), ['1 mistake. Correct it before you start or reload the gateway.']);
    assert.doesNotMatch(lines.join(), /abc\.def/);
  });
