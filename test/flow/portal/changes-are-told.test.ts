// A publication records what it changes for clients, and the documentation tells it, as a page and as a feed.

import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadSettings } from '../../../gateway/config/settings.ts';
import { loadConfiguration } from '../../../gateway/configuration.ts';
import { environmentOf } from '../../support/configuration.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsContract } from '../../support/things.ts';
import { commandLine } from '../commands/command-line.ts';

type Operation = Record<string, unknown>;
type Contract = { paths: Record<string, Record<string, Operation>> };

const EVIL = ']]><script>&"\u0001';

describe('changes of the published contracts', () => {
  let gateway: TestGateway;
  let record: string;
  const read = async (path: string) => (await fetch(gateway.url + path)).text();
  const lines = () =>
    readFileSync(record, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  function withAdditions(paths: Contract['paths']): void {
    const added = { name: EVIL, in: 'query', schema: { type: 'string' } };
    const things = paths['/v1/things']?.get;
    const [orders] = Object.values(paths['/v1/orders'] ?? {});
    for (const one of [things, orders]) if (one) one.parameters = [...((one.parameters as object[]) ?? []), added];
    paths['/v1/more'] = { get: { ...things, operationId: 'listMore', parameters: [] } };
  }

  function withPlace(paths: Contract['paths']): void {
    withAdditions(paths);
    const required = { name: 'place', in: 'query', required: true, schema: { type: 'string' } };
    const things = paths['/v1/things']?.get;
    if (things) things.parameters = [...(things.parameters as object[]), required];
  }

  async function publish(change?: (paths: Contract['paths']) => void, ...flags: string[]) {
    const contract = structuredClone(thingsContract()) as Contract;
    change?.(contract.paths);
    writeFileSync(join(gateway.directory, 'openapi/things.json'), JSON.stringify(contract));
    const line = commandLine(join(gateway.directory, 'other-data'), environmentOf(gateway.directory));
    return line.run('contract', 'publish', ...flags);
  }

  before(async () => {
    gateway = await startGateway({
      contracts: { 'things.json': thingsContract() },
      upstreams: { things: { contracts: ['things.json'], live: 'http://127.0.0.1:9' } },
      gateway: { publishedContracts: 'published', portal: { title: 'Things & co' } },
      prepare: (directory) => mkdirSync(join(directory, 'openapi/published')),
    });
    record = join(gateway.directory, 'openapi/published/changes.jsonl');
  });
  after(() => gateway?.stop());

  it('are recorded by a publication: one line, the same change of several operations once; nothing for wording', async () => {
    assert.equal((await publish()).code, 0);
    assert.deepEqual(
      lines().map(({ contract, operations, changes }) => [contract, operations, changes]),
      [['v1', 8, []]],
    );
    await publish((paths) => {
      for (const item of Object.values(paths)) for (const one of Object.values(item)) one.summary = 'Reworded';
    });
    assert.equal(lines().length, 1);
    const { code, err, out } = await publish(withAdditions, '--note', 'Things have <more>.');
    assert.equal(code, 0, err);
    assert.match(
      out,
      /promised, 9 operations of v1\.\n {2}additive: .* and 1 more: .*\n {2}additive: GET \/v1\/more: the operation is new\.\n/,
    );
    const [, { day, changes }] = lines();
    assert.match(day, /^\d{4}-\d\d-\d\d$/);
    assert.deepEqual(
      changes.map(({ rule, level, operations }: { rule: string; level: string; operations: unknown[] }) => [
        rule,
        level,
        operations.length,
      ]),
      [
        ['request-parameter-added', 'additive', 2],
        ['operation-added', 'additive', 1],
      ],
    );
  });

  it('are on a page and in a feed once they are in force, with every text escaped', async () => {
    await gateway.app.reload();
    const page = await read('/docs/changes');
    assert.match(
      page,
      /<span class="mark-of new">new<\/span> <div><p class="change-what">Operation added<\/p>\s*<p class="of"><a href="\/docs\/reference\/v1\/listMore">/,
    );
    assert.match(page, /First publication, with 8 operations\./);
    assert.match(page, /<p>Things have &lt;more&gt;\.<\/p><ul/);
    assert.match(page, /<code>[^<]*script[^<]*<\/code> query parameter added</);
    assert.match(page, /<link rel="alternate" type="application\/atom\+xml" href="\/docs\/changes\.atom"/);
    assert.doesNotMatch(page, /<script>&/);
    const answer = await fetch(`${gateway.url}/docs/changes.atom`);
    assert.equal(answer.headers.get('content-type'), 'application/atom+xml; charset=utf-8');
    const feed = await answer.text();
    assert.equal(feed.match(/<entry>/g)?.length, 2);
    assert.match(feed, /<title>Changes of Things &amp; co<\/title>/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: XML allows none of them.
    assert.doesNotMatch(feed, /[\u0000-\u0008]|\]\]><script/);
    const own = await fetch(`${gateway.url}/docs/changes/v1.atom`);
    assert.equal(own.status, 200);
    assert.match(await own.text(), /<link href="[^"]*\/docs\/changes\/v1\.atom" rel="self"\/>/);
    const ids = [...feed.matchAll(/<id>([^<]*)<\/id>/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, 3);
    assert.match(
      await read('/docs/changes.md'),
      /^- Things have <more>\.\n(?:- .*\n)*- new: operation added \(GET \/v1\/more\)$/m,
    );
    assert.match(await read('/llms.txt'), /\/docs\/changes\.md/);
  });

  it('are recorded with the reason of an accepted break, which the page shows', async () => {
    const file = join(gateway.directory, 'config/upstreams.yaml');
    const before = readFileSync(file, 'utf8');
    const upstreams = JSON.parse(before) as { upstreams: object };
    const rule = 'request-parameter-required';
    const accepted = { operation: 'listThings', rule, until: '2999-01-01', reason: 'All clients <b>send</b> it.' };
    writeFileSync(file, JSON.stringify({ ...upstreams, breaking: [accepted] }));
    const { code, err } = await publish(withPlace);
    assert.equal(code, 0, err);
    const breaks = lines()
      .at(-1)
      .changes.filter(({ level }: { level: string }) => level === 'breaking');
    assert.deepEqual(
      breaks.map(({ reason }: { reason?: string }) => reason),
      [accepted.reason],
    );
    await gateway.app.reload();
    assert.match(
      await read('/docs/changes'),
      /place<\/code>[\s\S]*What to do:<\/strong> Send it with every request\.[\s\S]*Why: All clients &lt;b&gt;send&lt;\/b&gt; it\./,
    );
    assert.match(await read('/docs/guides/versioning.md'), /\[Changes\]\(\/docs\/changes\.md\) marks each/);
    writeFileSync(file, before);
  });

  it('are refused where a line of the record is none, with its number', async () => {
    for (const bad of [
      '{',
      'null',
      '{"day":"soon"}',
      '{"day":"2026-13-45","contract":"v1","operations":1,"changes":[]}',
      '{"day":"2026-11-26","contract":"v1","operations":1,"changes":[{}]}',
    ]) {
      const whole = readFileSync(record, 'utf8');
      appendFileSync(record, `${bad}\n`);
      const environment = environmentOf(gateway.directory);
      const loading = loadConfiguration(loadSettings(environment), environment, 'check');
      await assert.rejects(loading, /changes\.jsonl:4: this line is no entry of a publication/, bad);
      writeFileSync(record, whole);
    }
  });

  it('are refused while the record cannot be read as text', async () => {
    const whole = readFileSync(record);
    writeFileSync(record, Buffer.concat([whole, Buffer.from('\xe9', 'latin1')]));
    const environment = environmentOf(gateway.directory);
    const loading = loadConfiguration(loadSettings(environment), environment, 'check');
    await assert.rejects(loading, /changes\.jsonl:4: the file is not in UTF-8/);
    writeFileSync(record, whole);
  });

  it('are recorded on a line of their own where the last line has no end', async () => {
    writeFileSync(record, readFileSync(record, 'utf8').trimEnd());
    const before = lines().length;
    const { code, err } = await publish((paths) => {
      withPlace(paths);
      paths['/v1/even-more'] = { get: { ...paths['/v1/more']?.get, operationId: 'listEvenMore' } };
    });
    assert.equal(code, 0, err);
    assert.equal(lines().length, before + 1);
  });
});
