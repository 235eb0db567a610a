// A configuration with mistakes is reported in every place of the operators, and no part of it is in force.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gatewayFileOf } from '../../support/configuration.ts';
import { runInProcess } from '../../support/in-process.ts';
import { thingsAt, thingsContract } from '../../support/things.ts';
import { createWorld, type World } from '../../support/world.ts';
import { inForce, reloadsCounted, roomy, save, saveAndReload, until } from './files.ts';

describe('a file with mistakes', () => {
  let world: World;
  let limitsBefore: string;
  before(async () => {
    world = await createWorld({
      gateway: { logLevel: 'debug' },
      limits: { tiers: { standard: { requests: 777 } } },
    });
    // A file that is saved during the first look would be loaded for that look, and again for the change.
    await until(() => world.gateway.logLines().some(({ msg }) => /files have not changed/.test(String(msg))));
    limitsBefore = readFileSync(join(world.gateway.directory, 'config/limits.yaml'), 'utf8');
  });
  after(() => world.close());

  const limitInForce = async () => (await world.call('GET /v1/things')).headers['x-ratelimit-limit'];

  it('is reported with file, line and remedy in log, metric, /status and audit log; the limits stay', async () => {
    const { gateway } = world;
    const versionBefore = (await inForce(gateway)).version;
    save(gateway, 'config/limits.yaml', 'tiers:\n  standard: { requests: 0 }\n');
    await until(async () => (await inForce(gateway)).last_failure !== null);

    const { version, last_failure: failure } = await inForce(gateway);
    assert.equal(version, versionBefore);
    assert.match(failure?.mistakes[0] ?? '', /limits\.yaml:2:\d+: tiers\.standard\.requests: .+/);
    const line = gateway.logLines().find(({ msg }) => /mistakes/.test(String(msg)));
    assert.deepEqual([line?.level, line?.mistakes], [50, failure?.mistakes]);
    assert.deepEqual(await reloadsCounted(gateway), { applied: 0, refused: 1 });
    const [row] = await gateway.store.audit.list({ limit: 1 });
    assert.deepEqual([row?.kind, row?.by], ['configuration.changed', 'reload']);
    assert.deepEqual([row?.details.outcome, row?.details.mistakes], ['refused', failure?.mistakes]);
    assert.equal(await limitInForce(), '777');
  });

  it('is forgotten when the file has its former text, which is no new configuration', async () => {
    const { gateway } = world;
    const { version } = await inForce(gateway);
    save(gateway, 'config/limits.yaml', limitsBefore);
    await until(async () => (await inForce(gateway)).last_failure === null);
    assert.equal((await inForce(gateway)).version, version);
    assert.deepEqual(await reloadsCounted(gateway), { applied: 0, refused: 1 });
    await until(async () => {
      const [row] = await gateway.store.audit.list({ limit: 1 });
      return row?.details.outcome === 'restored' && row.details.version === version;
    });
  });

  it('brings nothing of the other files into force either', async () => {
    const { gateway } = world;
    save(gateway, 'config/limits.yaml', { ...roomy, tiers: { standard: { requests: 555 } } });
    await saveAndReload(gateway, 'openapi/things.yaml', { openapi: '3.1.1', paths: {} });
    assert.equal(await limitInForce(), '777');
    await saveAndReload(gateway, 'openapi/things.yaml', thingsContract());
    assert.equal(await limitInForce(), '555');
  });

  it('may be a contract: the mistake is named with its line', async () => {
    const { gateway } = world;
    await saveAndReload(
      gateway,
      'openapi/things.yaml',
      'openapi: 3.1.1\npaths: []\ninfo: { title: It, version: "1" }\n',
    );
    const [mistake = ''] = (await inForce(gateway)).last_failure?.mistakes ?? [];
    assert.match(mistake, /things\.yaml:2:/);
    assert.equal((await world.call('GET /v1/things')).status, 200);
    await saveAndReload(gateway, 'openapi/things.yaml', thingsContract());
    assert.equal((await inForce(gateway)).last_failure, null);
  });

  it('may contain changes that need a start: no part is in force, and each key is named', async () => {
    const { gateway, upstream } = world;
    const changed = {
      timeouts: { drainDelayMs: 1 },
      publicUrl: 'http://elsewhere.example',
      operatorScopes: ['a:read'],
    };
    const next = gatewayFileOf({ ...changed, limits: { urlBytesMax: 300, jsonDepthMax: 5 } });
    await saveAndReload(gateway, 'config/gateway.yaml', next);
    const mistakes = (await inForce(gateway)).last_failure?.mistakes ?? [];
    const places = mistakes.map((sentence) => /gateway\.yaml:\d+:\d+: ([\w.]+):/.exec(sentence)?.[1]);
    assert.deepEqual(places, ['publicUrl', 'limits.urlBytesMax', 'timeouts', 'operatorScopes']);
    const line = gateway.logLines().findLast(({ mistakes }) => mistakes !== undefined);
    assert.equal(line?.level, 40);
    assert.match(String(line?.msg), /waits for a restart/);
    const environment = { GATEWAY_DATA: gateway.dataDirectory, ADMIN_PORT: String(gateway.app.adminPort) };
    const { code, stdout } = await runInProcess(['status'], { environment });
    assert.equal(code, 0, stdout);
    assert.match(
      stdout,
      /^WARNING {3}The configuration files wait for a restart: gateway\.yaml:\d+:\d+: publicUrl: .+3 more/,
    );
    assert.doesNotMatch(stdout, /mistakes|next start fails/);
    assert.match(stdout, /^ +cause {4}configuration restart$/m);
    const brokenToo = { publicUrl: 'http://elsewhere.example', portal: { guides: ['guides/absent.md'] } };
    await saveAndReload(gateway, 'config/gateway.yaml', gatewayFileOf(brokenToo));
    assert.equal((await runInProcess(['status'], { environment })).code, 1, 'the next start fails');
    await saveAndReload(gateway, 'config/gateway.yaml', gatewayFileOf({ logLevel: 'debug' }));
    const { things } = thingsAt(upstream.url).upstreams;
    await saveAndReload(gateway, 'config/upstreams.yaml', {
      upstreams: { things: { ...things, test: 'sandbox:platform' } },
    });
    assert.match(
      (await inForce(gateway)).last_failure?.mistakes[0] ?? '',
      /upstreams\.things: .+sandbox.+Start the gateway again/,
    );
    await saveAndReload(gateway, 'config/upstreams.yaml', { upstreams: { things } });
    assert.equal((await inForce(gateway)).last_failure, null);
  });
});
