// Settings beyond limits, targets and contracts that change under a running gateway, and the organizations of a tier that is gone.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gatewayFileOf } from '../../support/configuration.ts';
import { thingsAt } from '../../support/things.ts';
import { createWorld, type World } from '../../support/world.ts';
import { inForce, saveAndReload, until } from './files.ts';

describe('under a running gateway', () => {
  let world: World;
  before(async () => {
    world = await createWorld();
  });
  after(() => world.close());

  it('gateway.yaml changes trusted proxies and issuers, origins, the depth of bodies and the log', async () => {
    const { gateway } = world;
    const from = { 'X-Forwarded-For': '203.0.113.9', Origin: 'https://app.example.com' };
    const deep = () =>
      world.call('POST /v1/things', { 'Content-Type': 'application/json' }, '{"name":"it","more":{"a":{"b":1}}}');
    const before = await world.call('GET /v1/things', from);
    assert.equal(before.headers['access-control-allow-origin'], undefined);
    assert.notEqual((await deep()).status, 400);
    const next = {
      trustedProxies: ['127.0.0.1'],
      cors: { '*': { origins: ['https://app.example.com'] } },
      limits: { jsonDepthMax: 2 },
    };
    await saveAndReload(gateway, 'config/gateway.yaml', gatewayFileOf(next));
    const after = await world.call('GET /v1/things', from);
    assert.equal(after.headers['access-control-allow-origin'], 'https://app.example.com');
    assert.equal((await deep()).status, 400);
    const clients = gateway.logLines().flatMap(({ client, method }) => (method === 'GET' ? [client] : []));
    assert.deepEqual(clients, ['127.0.0.1', '203.0.113.9']);

    await saveAndReload(gateway, 'config/gateway.yaml', gatewayFileOf({ logLevel: 'warn' }));
    const lines = gateway.logLines().length;
    await world.call('GET /v1/things');
    assert.equal(gateway.logLines().length, lines);
    await saveAndReload(gateway, 'config/gateway.yaml', gatewayFileOf());
    assert.equal((await inForce(gateway)).last_failure, null);
  });

  it('an upstream gains a test address, and a key for it passes', async () => {
    const { authorization } = await world.gateway.authorize({ mode: 'test' });
    const call = async () => (await world.call('GET /v1/things', { Authorization: authorization })).status;
    assert.equal(await call(), 403);
    const { upstreams } = thingsAt(world.upstream.url, { test: world.upstream.url });
    await saveAndReload(world.gateway, 'config/upstreams.yaml', { upstreams });
    assert.equal(await call(), 200);
  });

  it('a tier is removed: its organizations get the strictest tier, and the log has their number', async () => {
    const tiers = { standard: { requests: 500 }, small: { requests: 50 }, large: { requests: 5000 } };
    await saveAndReload(world.gateway, 'config/limits.yaml', { tiers });
    const callers = await Promise.all(
      ['org_one', 'org_two'].map((organization) => world.gateway.authorize({ organization, tier: 'large' })),
    );
    const limitOf = async (caller: (typeof callers)[0] | undefined) =>
      (await world.call('GET /v1/things', { Authorization: caller?.authorization })).headers['x-ratelimit-limit'];
    assert.equal(await limitOf(callers[0]), '5000');
    const { large, ...rest } = tiers;
    await saveAndReload(world.gateway, 'config/limits.yaml', { tiers: rest });
    assert.equal(await limitOf(callers[0]), '50');
    const warning = () => world.gateway.logLines().find(({ tier, level }) => tier === 'large' && level === 40);
    await until(() => warning() !== undefined);
    assert.equal(warning()?.organizations, 2);
    assert.equal(warning()?.msg, 'tier large is not in limits.yaml: small, the strictest, is in its place');
  });

  it('the last tier is taken away: the log does not name a stricter one', async () => {
    await saveAndReload(world.gateway, 'config/limits.yaml', { tiers: { gold: { requests: 500 } } });
    const caller = await world.gateway.authorize({ organization: 'org_gold', tier: 'gold' });
    await saveAndReload(world.gateway, 'config/limits.yaml', { tiers: {} });
    const { headers } = await world.call('GET /v1/things', { Authorization: caller.authorization });
    assert.equal(headers['x-ratelimit-limit'], undefined);
    const warning = () => world.gateway.logLines().find(({ tier, level }) => tier === 'gold' && level === 40);
    await until(() => warning() !== undefined);
    assert.match(String(warning()?.msg), /^tier gold is not in limits\.yaml, and no tier is in its place$/);
  });

  it('an address that fails all the time is counted on by new rules', async () => {
    const limits = (failures: number) => ({ tiers: { standard: { requests: 1000 } }, addresses: { failures } });
    const fail = async () => (await world.call('GET /nowhere', { Authorization: undefined })).status;
    await saveAndReload(world.gateway, 'config/limits.yaml', limits(1000));
    assert.deepEqual([await fail(), await fail()], [404, 404]);
    await saveAndReload(world.gateway, 'config/limits.yaml', limits(3));
    assert.deepEqual([await fail(), await fail()], [404, 429]);
    // A known caller still passes, once the store has listed the gateway that knows it.
    await until(async () => (await world.call('GET /v1/things')).status === 200);
  });
});
