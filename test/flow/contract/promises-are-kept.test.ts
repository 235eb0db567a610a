// A contract that breaks a published one is refused by check, start and reload alike, unless an entry accepts the change.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { loadSettings } from '../../../gateway/config/settings.ts';
import { type Configuration, loadConfiguration } from '../../../gateway/configuration.ts';
import { ConfigError } from '../../../gateway/shared/mistakes.ts';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type GatewayOptions, startGateway } from '../../support/gateway.ts';
import { thingsContract } from '../../support/things.ts';
import { secondVersion } from '../../support/versions.ts';
import { commandLine } from '../commands/command-line.ts';
import { inForce, saveAndReload } from '../reload/files.ts';

type Paths = Record<string, Record<string, Record<string, unknown>>>;

/** The contract of things, changed. */
function changed(change: (paths: Paths) => void): object {
  const contract = structuredClone(thingsContract()) as { paths: Paths };
  change(contract.paths);
  return contract;
}

const q = (schema: object) => [{ name: 'q', in: 'query', schema }];
const narrower = changed((paths) =>
  Object.assign(paths['/v1/things']?.get ?? {}, { parameters: q({ type: 'string', maxLength: 5 }) }),
);
const without = changed((paths) => {
  delete paths['/v1/orders'];
});
const wider = changed((paths) => {
  paths['/v1/more'] = { get: { ...paths['/v1/things']?.get, operationId: 'listMore' } };
});

const upstream = { contracts: ['things*.json'], live: 'http://127.0.0.1:9' };
const exception = (until: string) => [
  { operation: 'listThings', rule: 'request-bound-narrowed', until, reason: 'No client has ever sent more.' },
];

const ended = {
  v1: { deprecated: '2020-01-01', sunset: '2022-01-01', successor: 'v2' },
  v2: { released: '2020-01-01' },
};

describe('published contracts', () => {
  let directory: string;
  let environment: Record<string, string>;

  function write(contracts: GatewayOptions['contracts'], gateway: object = {}, breaking: readonly object[] = []): void {
    const options = { gateway: { publishedContracts: 'published', ...gateway }, upstreams: { things: upstream } };
    rmSync(join(directory, 'openapi/things2.json'), { force: true });
    writeConfiguration(directory, { ...options, contracts: contracts ?? {} });
    writeFileSync(
      join(directory, 'config/upstreams.yaml'),
      JSON.stringify({ upstreams: { things: upstream }, breaking }, null, 1),
    );
  }

  function load(purpose: 'check' | 'serve' = 'check'): Promise<Configuration> {
    return loadConfiguration(loadSettings(environment), environment, purpose);
  }

  async function mistakesOf(purpose?: 'check' | 'serve') {
    try {
      await load(purpose);
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return error.mistakes;
      throw error;
    }
  }

  function line() {
    const { run } = commandLine(join(directory, 'data'), environment);
    return (...words: string[]) => run('contract', ...words);
  }

  function checked() {
    return commandLine(join(directory, 'data'), environment).run('check');
  }

  before(async () => {
    directory = temporaryDirectory();
    environment = { ...environmentOf(directory) };
    write({ 'things.json': thingsContract() });
    const { code, out } = await line()('publish');
    assert.equal(code, 0);
    assert.match(out, /published\/v1\.json: promised, 8 operations of v1\.\n/);
  });

  it('are kept by contracts that stay, grow, or move to another file', async () => {
    for (const contracts of [
      { 'things.json': thingsContract() },
      { 'things.json': wider },
      { 'things.json': { components: {} }, 'things2.json': thingsContract() },
    ]) {
      write(contracts);
      assert.deepEqual(await mistakesOf(), []);
    }
  });

  it('are broken by less: reported with file, line, rule, reason and remedy', async () => {
    write({ 'things.json': narrower });
    const [mistake, ...others] = await mistakesOf();
    assert.equal(others.length, 0);
    assert.match(mistake?.file ?? '', /openapi\/things\.json$/);
    const text = readFileSync(join(directory, 'openapi/things.json'), 'utf8').split('\n');
    assert.match(text[(mistake?.line ?? 0) - 1] ?? '', /"maxLength"/);
    assert.equal(
      mistake?.reason,
      'GET /v1/things breaks what was published (request-bound-narrowed): query parameter "q": maxLength goes from none to 5.',
    );
    assert.match(
      mistake?.remedy ?? '',
      /^Put it back, make the change in another version, or add \{ operation: listThings, rule: request-bound-narrowed, until/,
    );
  });

  it('are broken beside a warning that names the cause: check shows it behind the mistakes', async () => {
    const nullable = { type: 'string', nullable: true, maxLength: 5 };
    write({
      'things.json': changed((paths) => Object.assign(paths['/v1/things']?.get ?? {}, { parameters: q(nullable) })),
    });
    const { run } = commandLine(join(directory, 'data'), environment);
    const { code, err } = await run('check');
    assert.equal(code, 1);
    const [mistake, warning] = err.split('\n');
    assert.match(warning ?? '', /^warning: .*things\.json:\d+:\d+: .*nullable/);
    assert.match(mistake ?? '', /breaks what was published/);
    assert.match(err, /\n1 mistake\./);
    const report = JSON.parse((await run('check', '--json')).out);
    assert.equal(`warning: ${report.warnings[0]}`, warning);
  });

  it('are compared under the decisions in force, or not at all, while upstreams.yaml has mistakes', async () => {
    write({ 'things.json': narrower });
    const placesWith = async (file: object) => {
      writeFileSync(join(directory, 'config/upstreams.yaml'), JSON.stringify(file, null, 1));
      return (await mistakesOf()).map(({ place, reason }) => `${place}: ${reason}`);
    };
    const breaking = exception('2099-01-01');
    const things = { ...upstream, timeoutMs: '20s' };
    const told = 'upstreams.things.timeoutMs: "20s" is not possible here.';
    assert.deepEqual(await placesWith({ upstreams: { things }, breaking }), [told]);
    const late = (await placesWith({ upstreams: { things } })).join('\n');
    assert.match(late, /timeoutMs.*\n.*breaks what was published/, 'no decision hides a break');
    for (const none of [{ upstream: { things } }, { upstreams: null }]) {
      const [about, ...others] = await placesWith(none);
      assert.match(about ?? '', /upstream/);
      assert.deepEqual(others, [], 'no operation is called removed while the entries cannot be read');
    }
    for (const key of ['breaking', 'braking'])
      assert.doesNotMatch(
        (await placesWith({ upstreams: { things: upstream }, [key]: [{ ...breaking[0], reason: 'agreed' }] })).join(),
        /breaks what was published/,
        'a decision that cannot be read may be about it',
      );
  });

  it('are accepted beside the entries: a decision inside an entry is shown its place', async () => {
    write({ 'things.json': narrower });
    const file = { upstreams: { things: { ...upstream, breaking: exception('2099-01-01') } } };
    writeFileSync(join(directory, 'config/upstreams.yaml'), JSON.stringify(file, null, 1));
    const [mistake, ...others] = await mistakesOf();
    assert.deepEqual(others, []);
    assert.equal(mistake?.reason, 'the key "breaking" does not belong here.');
    assert.equal(mistake?.remedy, 'Move it to the top level of the file, beside "upstreams".');
  });

  it('are broken by an operation that is gone: the published file is named', async () => {
    write({ 'things.json': without });
    const [mistake] = await mistakesOf();
    assert.match(mistake?.file ?? '', /published\/v1\.json$/);
    assert.match(mistake?.reason ?? '', /^POST \/v1\/orders breaks what was published \(operation-removed\)/);
    const text = readFileSync(join(directory, 'openapi/published/v1.json'), 'utf8').split('\n');
    assert.match(text[(mistake?.line ?? 0) - 1] ?? '', /"post"/);
  });

  it('may be broken by a decision until its day; a start still works after it', async () => {
    write({ 'things.json': narrower }, {}, exception('2999-12-31'));
    assert.deepEqual(await mistakesOf(), []);
    write({ 'things.json': narrower }, {}, exception('2020-12-31'));
    assert.match(
      (await mistakesOf('check'))[0]?.reason ?? '',
      /, and the exception ended on 2020-12-31: query parameter "q"/,
    );
    assert.deepEqual(await mistakesOf('serve'), []);
    write({ 'things.json': without }, {}, exception('2999-12-31'));
    assert.equal((await mistakesOf()).length, 1, 'a decision is about one rule of one operation');
  });

  it('may be made anew when the decision holds, which is then not needed any more', async () => {
    write({ 'things.json': narrower }, {}, exception('2999-12-31'));
    const published = join(directory, 'openapi/published/v1.json');
    const before = readFileSync(published, 'utf8');
    assert.equal((await line()('publish')).code, 0);
    const { breakingChanges } = await load();
    assert.deepEqual(
      breakingChanges.unused.map(({ rule }) => rule),
      ['request-bound-narrowed'],
    );
    writeFileSync(published, before);
  });

  it('say nothing about another version, which check tells to publish, and says where its name comes from', async () => {
    write({ 'things.json': thingsContract(), 'things2.json': secondVersion });
    assert.deepEqual((await load()).breakingChanges.unpublished, ['v2']);
    assert.match(
      (await checked()).out,
      /^warning: v2 \(the operations whose paths begin with \/v2\) has never been published/m,
    );
  });

  it('are named after the version of the paths, not after their entry: publish says so', async () => {
    write({ 'things.json': thingsContract() });
    const { code, err } = await line()('publish', 'things');
    assert.equal(code, 2);
    assert.match(
      err,
      /The operations of "things" are in v1, because their paths begin with \/v1\. Run "gateway contract publish v1"\./,
    );
  });

  it('need no decision that accepts nothing: check tells all in one line, and a rule that does not exist', async () => {
    const decision = (operation: string, rule: string) => ({ ...exception('2999-12-31')[0], operation, rule });
    write({ 'things.json': thingsContract() }, {}, [
      decision('listThings', 'request-bound-narrowed'),
      decision('listOrders', 'operation-removed'),
      decision('listOrders', 'operation-removd'),
    ]);
    const { out } = await checked();
    assert.match(
      out,
      /^warning: the 2 exceptions for listThings \(request-bound-narrowed\), listOrders \(operation-removed\) are not needed\. Remove them from breaking in upstreams\.yaml\.$/m,
    );
    assert.match(
      out,
      /accepts nothing, because no change has the rule "operation-removd"\. Did you mean "operation-removed"\?$/m,
    );
  });

  it('have an end: an operation answered with 410 may be removed', async () => {
    write({ 'things.json': secondVersion }, { versions: ended });
    assert.deepEqual(await mistakesOf(), []);
  });

  it('must be there, and be readable', async () => {
    write({ 'things.json': thingsContract() }, { publishedContracts: 'nowhere' });
    assert.match((await mistakesOf())[0]?.reason ?? '', /the directory of published contracts does not exist/);
    write({ 'things.json': thingsContract() });
    const stray = join(directory, 'openapi/published/v9.json');
    for (const text of ['{', '[]']) {
      writeFileSync(stray, text);
      assert.match((await mistakesOf())[0]?.file ?? '', /published\/v9\.json$/);
    }
    rmSync(stray);
  });

  it('are not given up by deleting their file: the record of publications has them', async () => {
    write({ 'things.json': narrower });
    const published = join(directory, 'openapi/published/v1.json');
    const text = readFileSync(published, 'utf8');
    rmSync(published);
    const [mistake, ...others] = await mistakesOf();
    assert.deepEqual(others, []);
    assert.match(mistake?.file ?? '', /published\/v1\.json$/);
    assert.equal(mistake?.reason, 'the published contract is gone, and changes.jsonl says that it was published.');
    assert.match(mistake?.remedy ?? '', /^Take it from version control again\./);
    write({ 'things.json': secondVersion }, { versions: ended });
    assert.deepEqual(await mistakesOf(), [], 'a version past its sunset promises nothing');
    writeFileSync(published, text);
  });

  it('a decision has to be complete', async () => {
    const decisions = [{ operation: 'x', rule: 'request-bound-narrowed', until: 'soon', reason: 'because' }];
    write({ 'things.json': thingsContract() }, {}, decisions);
    assert.deepEqual(
      (await mistakesOf()).map(({ place }) => place),
      ['breaking.0.until', 'breaking.0.reason'],
    );
  });

  it('a reload that would break them is refused, and the present configuration stays', async (t) => {
    write({ 'things.json': thingsContract() });
    const published = readFileSync(join(directory, 'openapi/published/v1.json'), 'utf8');
    const contracts = { 'things.json': thingsContract(), 'published/v1.json': published };
    const gateway = await startGateway({
      gateway: { publishedContracts: 'published' },
      contracts,
      upstreams: { things: upstream },
    });
    t.after(() => gateway.stop());
    const { version } = await inForce(gateway);
    await saveAndReload(gateway, 'openapi/things.json', narrower);
    const { last_failure: failure, ...now } = await inForce(gateway);
    assert.equal(now.version, version);
    assert.match(failure?.mistakes[0] ?? '', /GET \/v1\/things breaks what was published/);
    await saveAndReload(gateway, 'openapi/things.json', wider);
    const grown = await inForce(gateway);
    assert.notEqual(grown.version, version);
    assert.equal(grown.last_failure, null);
  });

  it('contracts can be bundled and linted', async () => {
    write({ 'things.json': thingsContract(), 'things2.json': secondVersion });
    const run = line();
    const several = await run('bundle');
    assert.deepEqual([several.code, several.err], [2, 'There are several documents. Choose one with --name: v1, v2.']);
    const out = join(directory, 'v2.json');
    assert.equal((await run('bundle', '--name', 'v2', '-o', out)).code, 0);
    assert.ok(existsSync(out));
    assert.deepEqual(Object.keys(JSON.parse(readFileSync(out, 'utf8')).paths), ['/v2/things', '/v2/things/{id}']);
    assert.equal((await run('diff', out, join(directory, 'openapi/things2.json'))).code, 0);
    const fine = JSON.parse((await run('lint', '--json')).out);
    assert.deepEqual([fine.ok, fine.files, fine.mistakes], [true, 2, []]);
    const wrong = join(directory, 'wrong.json');
    writeFileSync(wrong, JSON.stringify({ ...secondVersion, components: {} }, null, 1));
    const linted = await run('lint', wrong);
    assert.equal(linted.code, 1);
    assert.match(linted.err, /wrong\.json:\d+:\d+: security\.0: there is no security scheme "apiKey"\./);
  });
});
