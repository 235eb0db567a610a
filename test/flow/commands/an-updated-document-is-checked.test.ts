// `gateway init --from … --update` runs `check` on what it has written, and prints the decisions that a published promise then needs.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { parse } from 'yaml';
import { temporaryDirectory } from '../../support/directory.ts';
import { runInProcess } from '../../support/in-process.ts';
import { startUpstream } from '../../support/upstream.ts';

const operation = (id: string | undefined) => ({
  get: { operationId: id, responses: { 200: { description: 'Well' } } },
});
const whole = {
  '/books': operation('listBooks'),
  '/shelves/{id}': { ...operation(undefined), parameters: [idIn('path')] },
};

function idIn(place: string) {
  return { name: 'id', in: place, required: true, schema: { type: 'string' } };
}

describe('gateway init --from --update', () => {
  let directory = '';
  const made = () => join(directory, 'made');
  const upstreams = () => readFileSync(join(made(), 'upstreams.yaml'), 'utf8');

  function run(...words: string[]) {
    const environment = { GATEWAY_DATA: join(directory, 'data'), GATEWAY_CONFIG: made() };
    return runInProcess(words, { environment: { ...environment, GATEWAY_CONTRACTS: join(made(), 'openapi') } });
  }

  function publish(paths: object, ...words: string[]) {
    const file = join(directory, 'books.json');
    const servers = [{ url: 'http://127.0.0.1:9' }];
    const components = { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } };
    writeFileSync(
      file,
      JSON.stringify({ openapi: '3.1.0', info: { title: 'Books', version: '1' }, servers, components, paths }),
    );
    return run('init', made(), '--from', file, ...words);
  }

  beforeEach(async () => {
    directory = temporaryDirectory();
    assert.equal((await publish(whole)).code, 0);
    assert.equal((await run('contract', 'publish')).code, 0);
  });

  it('says that check accepts the written files', async () => {
    const { code, stdout } = await publish({ ...whole, '/more': operation('more') }, '--update');
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^wrote \S+books\.json\n\n\$ bin\/gateway check\nnot published yet: .* 1 additive change\./m);
    assert.match(stdout, /^No mistakes[^:]*: \d+ operations/m);
  });

  it('finds the service of a named entry without --from', async () => {
    const service = await startUpstream((_request, response) => {
      const paths = { ...whole, '/more': operation('more') };
      const document = { openapi: '3.1.0', info: { title: 'Books', version: '1' }, paths };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    });
    const path = join(made(), 'upstreams.yaml');
    writeFileSync(path, upstreams().replace('http://127.0.0.1:9', service.url));
    const unnamed = await run('init', made(), '--update');
    const { stdout, stderr } = await run('init', made(), '--update', '--name', 'books', '--dry-run');
    await service.close();
    assert.match(unnamed.stderr, /--update needs --from, or the name of an entry with --name\./);
    assert.match(stdout, /^GET \/more\n {2}additive: the operation is new\.$/m, stderr);
  });

  it('fails where check refuses it, with the decisions to paste', async () => {
    const { code, stdout, stderr } = await publish({ '/new': operation('new') }, '--update', '--force');
    assert.equal(code, 1);
    assert.equal((stdout + stderr).match(/GET \/books/g)?.length, 1, 'each break is told once');
    assert.match(stdout, /^GET \/books\n {2}breaking: the operation was removed\.$/m);
    assert.match(
      stderr,
      /^gateway: The document is written, but 2 changes break what was published: check refuses it/m,
    );
    assert.match(stderr, /^- Put back what breaks\.$/m);
    const [, lines = ''] = /^(breaking:\n(?: {2}- .*\n)+)/m.exec(stdout + stderr) ?? [];
    const { breaking } = parse(lines) as { breaking: { operation: string; rule: string }[] };
    assert.deepEqual(
      breaking.map(({ operation, rule }) => [operation, rule]),
      [
        ['listBooks', 'operation-removed'],
        ['GET /shelves/{id}', 'operation-removed'],
      ],
    );
    const before = upstreams();
    writeFileSync(join(made(), 'upstreams.yaml'), before + lines);
    for (const words of [['check'], ['contract', 'publish']]) {
      const refused = await run(...words);
      assert.equal(refused.code, 1, 'the text that stands for the reason is no reason');
      assert.match(refused.stderr, /breaking\.0\.reason: "Write here why: .* It must say why, in words/);
    }
    writeFileSync(
      join(made(), 'upstreams.yaml'),
      before + lines.replaceAll(/Write here why.*"/g, 'No client used it."'),
    );
    const checked = await run('check');
    assert.equal(checked.code, 0, checked.stderr);
  });

  it('keeps no key from being made, and no use from being shown, while check refuses it', async () => {
    assert.equal((await publish({ '/new': operation('new') }, '--update', '--force')).code, 1);
    for (const words of [
      ['orgs', 'create', '--id', 'org_a', '--name', 'A', '--tier', 'standard'],
      ['keys', 'create', '--org', 'org_a', '--mode', 'live', '--scopes', 'books:read'],
      ['usage', '--org', 'org_a'],
    ]) {
      const { code, stderr } = await run(...words);
      assert.equal(code, 0, `${words[0]}: ${stderr}`);
    }
    const misspelt = await run('keys', 'create', '--org', 'org_a', '--mode', 'live', '--scopes', 'books:reed');
    assert.match(misspelt.stderr, /Did you mean "books:read"\? Known: \*, books:read, gateway:/);
  });

  it('writes nothing with --dry-run, and fails for breaks alone', async () => {
    const kept = join(made(), 'openapi/books.json');
    const before = readFileSync(kept, 'utf8');
    const grown = await publish({ ...whole, '/more': operation('more') }, '--update', '--dry-run');
    assert.deepEqual([grown.code, grown.stdout], [0, 'GET /more\n  additive: the operation is new.\n'], grown.stderr);
    const broken = await publish({ '/new': operation('new') }, '--update', '--dry-run', '--force');
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /^gateway: 2 breaking changes: nothing was written\.$/m);
    assert.equal(readFileSync(kept, 'utf8'), before);
    assert.equal((await publish(whole, '--dry-run')).code, 2);
  });

  it('shows no change of credentials if the entry decides about them', async () => {
    const secured = { '/books': { get: { ...operation('listBooks').get, security: [{ key: [] }] } } };
    const { stdout } = await publish({ ...whole, ...secured }, '--update');
    assert.match(stdout, /^wrote \S+books\.json: only descriptions have changed$/m);
  });

  it('keeps members for the gateway in the document', async () => {
    const kept = join(made(), 'openapi/books.json');
    const own = { 'x-gateway-public': true };
    const before = JSON.parse(readFileSync(kept, 'utf8'));
    Object.assign(before.paths['/books'].get, own);
    writeFileSync(kept, JSON.stringify(before, null, 2));
    const same = await publish(whole, '--update');
    assert.match(same.stdout, /books\.json is as the service publishes it\.$/m, same.stderr);
    const grown = await publish({ ...whole, '/more': operation('more') }, '--update');
    assert.equal(grown.code, 0, grown.stderr);
    assert.match(grown.stdout, /^kept x-gateway-public of GET \/books$/m);
    const { paths } = JSON.parse(readFileSync(kept, 'utf8'));
    assert.deepEqual(Object.keys(paths), ['/books', '/shelves/{id}', '/more']);
    assert.deepEqual(paths['/books'].get, { ...own, ...operation('listBooks').get });
  });

  it('leaves a configuration whose contracts are found only by their variable, and check names it', async () => {
    const environment = { GATEWAY_DATA: join(directory, 'data'), GATEWAY_CONFIG: made() };
    const { code, stderr } = await runInProcess(['check'], { environment });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /no contract file matches books\.json in openapi\. There is one in \S+: set GATEWAY_CONTRACTS=\S+made\/openapi\./,
    );
  });

  it('names the mistakes in JSON, too', async () => {
    const { code, stdout } = await publish({ '/new': operation('new') }, '--update', '--force', '--json');
    const { written, mistakes } = JSON.parse(stdout);
    assert.deepEqual([code, written, mistakes.length], [1, true, 2]);
  });
});
