// `contract publish` with names publishes these contracts alone: a change of another team is not promised with them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { commandLine } from '../commands/command-line.ts';

const directory = temporaryDirectory();
const { run, json } = commandLine(join(directory, 'data'), environmentOf(directory));
const published = (name: string) => readFileSync(join(directory, `openapi/published/${name}`), 'utf8');

function serve(paths: Readonly<Record<string, readonly string[]>>): void {
  const documentOf = (name: string) => ({
    openapi: '3.1.1',
    info: { title: name, version: '1' },
    paths: Object.fromEntries(
      (paths[name] ?? []).map((path) => {
        const responses = { 200: { description: 'All' } };
        return [path, { get: { operationId: path.slice(1), 'x-gateway-public': true, responses } }];
      }),
    ),
  });
  writeConfiguration(directory, {
    gateway: { publishedContracts: 'published' },
    contracts: { 'shop.json': documentOf('shop'), 'stock.json': documentOf('stock') },
    upstreams: {
      shop: { contracts: ['shop.json'], live: 'http://127.0.0.1:9' },
      stock: { contracts: ['stock.json'], live: 'http://127.0.0.1:9' },
    },
  });
}

it('publishes the named contract, and leaves the change of another one to its team', async () => {
  serve({ shop: ['/orders'], stock: ['/places'] });
  assert.equal((await run('contract', 'publish')).code, 0);
  const before = published('stock.json');
  serve({ shop: ['/orders', '/baskets'], stock: ['/places', '/parcels'] });
  const { code, out } = await run('contract', 'publish', 'shop');
  assert.equal(code, 0);
  assert.match(
    out,
    /shop\.json: promised, 2 operations of shop\.\n {2}additive: GET \/baskets: the operation is new\.\n/,
  );
  assert.doesNotMatch(out, /stock/);
  assert.match(published('shop.json'), /baskets/);
  assert.equal(published('stock.json'), before);
  assert.doesNotMatch(published('changes.jsonl'), /parcels/);
  assert.match(
    (await run('contract', 'diff')).out,
    /^stock, since .*\n {2}additive: GET \/parcels: the operation is new/m,
  );
  assert.deepEqual(
    ((await json('contract', 'publish', 'shop', 'stock')) as unknown as { name: string; changed: boolean }[]).map(
      ({ name, changed }) => [name, changed],
    ),
    [
      ['shop', false],
      ['stock', true],
    ],
  );
});

it('names the contract that is probably meant, and publishes none', async () => {
  serve({ shop: ['/orders', '/baskets', '/returns'], stock: ['/places', '/parcels'] });
  const { code, err } = await run('contract', 'publish', 'stock', 'shp');
  assert.equal(code, 2);
  assert.match(err, /There is no document "shp"\. Did you mean "shop"\?/);
  assert.doesNotMatch(published('shop.json'), /returns/);
});
