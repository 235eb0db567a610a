// `gateway init --from` adds a service beside others: what would collide gets a prefix, and a configuration with mistakes gets nothing.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { temporaryDirectory } from '../../support/directory.ts';
import { runInProcess } from '../../support/in-process.ts';

const answers = { 200: { description: 'Well' } };
const documentOf = (title: string, more: object = {}) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title, version: '1' },
    servers: [{ url: 'http://127.0.0.1:9' }],
    paths: {
      '/health': { get: { operationId: 'health', responses: answers } },
      [`/${title.toLowerCase()}`]: { get: { operationId: `list${title}`, responses: answers } },
    },
    ...more,
  });

describe('gateway init --from beside another service', () => {
  let directory = '';
  const upstreams = () => readFileSync(join(directory, 'made/upstreams.yaml'), 'utf8');

  function add(title: string, words: readonly string[] = [], more: object = {}) {
    const file = join(directory, `${title}.json`);
    writeFileSync(file, documentOf(title, more));
    return run('init', join(directory, 'made'), '--from', file, ...words);
  }

  function run(...words: string[]) {
    const made = join(directory, 'made');
    const environment = { GATEWAY_DATA: join(directory, 'data'), GATEWAY_CONFIG: made };
    return runInProcess(words, { environment: { ...environment, GATEWAY_CONTRACTS: join(made, 'openapi') } });
  }

  beforeEach(async () => {
    directory = temporaryDirectory();
    assert.equal((await add('Books')).code, 0);
  });

  it('gives the service a prefix if paths collide, for every form of its server address', async () => {
    const servers = [{ url: 'http://127.0.0.1:9/{version}', variables: { version: { default: '' } } }];
    const { code, stdout, stderr } = await add('Orders', [], { servers });
    assert.equal(code, 0, stdout + stderr);
    assert.match(upstreams(), /^ {4}basePath: \/orders$/m);
  });

  it('says with which line it needs no prefix, and the line works', async () => {
    const { stdout } = await add('Orders');
    const [, basePath = '', operations = ''] =
      /^Its paths begin with \/orders, because GET \/health is served by books already\. .*, replace\n(.*)\n.* by\n(.*)$/m.exec(
        stdout,
      ) ?? [];
    assert.equal(operations, '    operations: { "health": { serve: false } }');
    writeFileSync(join(directory, 'made/upstreams.yaml'), upstreams().replace(basePath, operations));
    const checked = await run('check');
    assert.equal(checked.code, 0, checked.stdout + checked.stderr);
    assert.match((await run('routes')).stdout, /GET +\/orders /);
    // Without a collision, and where all of it collides, there is nothing to propose.
    assert.doesNotMatch((await add('Returns', ['--base-path', '/back'])).stdout, /Its paths begin/);
    const paths = { '/health': { get: { responses: answers } } };
    assert.doesNotMatch((await add('Carts', [], { paths })).stdout, /Its paths begin/);
  });

  it('makes its name of whole words of the title, and says how to choose another', async () => {
    const info = { title: 'Facturación & Billing Service (internal) v2', version: '1' };
    const { stdout } = await add('Orders', [], { info });
    assert.match(upstreams(), /^ {2}facturacion-billing:$/m);
    assert.match(
      stdout,
      /^The entry is called facturacion-billing, .* its scopes facturacion-billing:read and .*: --name chooses another name\.$/m,
    );
    assert.doesNotMatch((await add('Returns', ['--name', 'returns'])).stdout, /The entry is called/);
  });

  it('takes the prefix of --base-path, if no path collides below it', async () => {
    const { code, stdout } = await add('Orders', ['--base-path', '/shop/orders']);
    assert.equal(code, 0, stdout);
    assert.match(upstreams(), /^ {4}basePath: \/shop\/orders$/m);
    assert.match(stdout, /'http:\/\/localhost:8080\/shop\/orders\/orders'/);

    const before = upstreams();
    const taken = await add('Returns', ['--base-path', '/shop/orders']);
    assert.equal(taken.code, 1);
    assert.match(
      taken.stderr,
      /^gateway: \/shop\/orders\/health is served already, and nothing was written\. Choose another --base-path, such as \/returns\.$/m,
    );
    for (const path of ['shop', '/shop/', '/a b'])
      assert.deepEqual(await add('Returns', ['--base-path', path]).then(({ code }) => code), 2, path);
    assert.equal(upstreams(), before);
  });

  it('writes nothing into a configuration that has mistakes, and names them', async () => {
    const path = join(directory, 'made/upstreams.yaml');
    writeFileSync(path, upstreams().replace('live: http', 'life: http'));
    const before = upstreams();
    const { code, stderr } = await add('Orders');
    assert.equal(code, 1);
    assert.match(stderr, /upstreams\.yaml:\d+:\d+: .*"life"/);
    assert.match(
      stderr,
      /^gateway: Nothing was written, because the configuration has this mistake already\. Correct it first\.$/m,
    );
    assert.equal(upstreams(), before);
    assert.ok(!existsSync(join(directory, 'made/openapi/orders.json')));
  });

  it('names the next steps if the document has mistakes', async () => {
    const { code, stdout, stderr } = await add('Orders', [], { paths: { '/orders': { get: { responses: 7 } } } });
    assert.equal(code, 1);
    assert.match(stdout + stderr, /orders\.json:\d+:\d+: /);
    assert.match(
      stderr,
      /Correct what check names, then run:\n {2}\S*gateway check && \S*gateway upstreams try orders$/m,
    );
  });

  it('check names the line that ends a collision', async () => {
    assert.equal((await add('Orders')).code, 0);
    writeFileSync(join(directory, 'made/upstreams.yaml'), upstreams().replace(/ {4}basePath: .*\n/, ''));
    const { stdout, stderr } = await run('check');
    assert.match(
      stdout + stderr,
      /GET \/health is claimed by \S+ already \(health\)\. In the entry "orders", leave it out by "operations: \{ "health": \{ serve: false \} \}", or set another basePath, such as "basePath: \/orders"\./,
    );
  });
});
