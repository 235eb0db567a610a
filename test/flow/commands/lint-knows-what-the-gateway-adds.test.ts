// `contract lint` recommends nothing that the gateway itself, or the entry of the contract, supplies.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { type Files, writeSound } from '../../config/faults.ts';
import { environmentOf } from '../../support/configuration.ts';
import { runInProcess } from '../../support/in-process.ts';

const document = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Items', version: '1' },
  paths: { '/items': { get: { operationId: 'listItems', responses: { 200: { description: 'All' } } } } },
});
const secured =
  'upstreams:\n  items: { contracts: [items.json], live: "http://items:3000", security: { apiKey: [items:read] } }\n';

async function rulesOf(files: Files): Promise<string[][]> {
  const directory = writeSound({ 'openapi/items.json': document, 'config/limits.yaml': 'tiers: {}\n', ...files });
  const environment = { ...environmentOf(directory), GATEWAY_DATA: join(directory, 'data') };
  const linted = [];
  for (const words of [[], [join(directory, 'openapi/items.json')]]) {
    const { stdout } = await runInProcess(['contract', 'lint', ...words, '--json'], { environment });
    const { recommendations } = JSON.parse(stdout) as { recommendations: { remedy: string }[] };
    linted.push(recommendations.map(({ remedy }) => remedy));
  }
  rmSync(directory, { recursive: true });
  return linted;
}

it('servers and security, whether the files are named or not', async () => {
  const [served = [], named = []] = await rulesOf({ 'config/upstreams.yaml': secured });
  assert.deepEqual(served, named);
  assert.ok(served.includes('(operation-summary)'), served.join());
  assert.ok(!served.some((rule) => /security|servers/.test(rule)), served.join());
});

it('but security of a file that no entry serves', async () => {
  const [, named = []] = await rulesOf({ 'config/upstreams.yaml': 'upstreams: {}\n' });
  assert.ok(named.includes('(security-defined)'), named.join());
});

it('and finds no mistake in a file whose entry says who may call, though another file of the configuration has one', async () => {
  const other = '  more: { contracts: [more.json], live: "http://more:3000", life: 1 }\n';
  const directory = writeSound({
    'openapi/items.json': document,
    'config/limits.yaml': 'tiers: {}\n',
    'config/upstreams.yaml': secured + other,
  });
  const environment = { ...environmentOf(directory), GATEWAY_DATA: join(directory, 'data') };
  const lint = (file: string) => runInProcess(['contract', 'lint', join(directory, file), '--json'], { environment });
  const { code, stdout } = await lint('openapi/items.json');
  assert.deepEqual([code, JSON.parse(stdout).mistakes], [0, []]);
  const unlisted = await lint('openapi/items.yaml');
  assert.equal(unlisted.code, 0, unlisted.stdout);
  rmSync(directory, { recursive: true });
});

it('and judges no scopes of a file that no entry serves', async () => {
  const scoped = JSON.parse(document);
  scoped.components = { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } };
  scoped.security = [{ key: ['labels:print'] }];
  const directory = writeSound({
    'openapi/items.json': JSON.stringify(scoped),
    'config/upstreams.yaml': 'upstreams: {}\n',
  });
  const environment = { ...environmentOf(directory), GATEWAY_DATA: join(directory, 'data') };
  const words = ['contract', 'lint', join(directory, 'openapi/items.json'), '--json'];
  const { stdout } = await runInProcess(words, { environment });
  assert.deepEqual(JSON.parse(stdout).mistakes, []);
  rmSync(directory, { recursive: true });
});
