// An upstream gets as many requests at once as there are places. The rest waits, organizations in turn, and not for ever.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, openConnection, requestOf, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { startGateway } from '../../support/gateway.ts';
import { startHoldingUpstream } from '../../support/holding-upstream.ts';
import { eventually } from '../../support/instances.ts';
import { createSkip } from '../../support/skip.ts';
import { thingsAt } from '../../support/things.ts';

const start = closesAfterEach();

interface OfUpstream {
  readonly in_flight: number;
  readonly waiting: number;
  readonly shedding: boolean;
}

async function setUp(entry: object) {
  const upstream = await start(startHoldingUpstream());
  const gateway = await start(startGateway(thingsAt(upstream.url, entry)));
  const keys = new Map<string, string>();
  for (const organization of ['org_busy', 'org_quiet'])
    keys.set(organization, (await gateway.authorize({ organization })).authorization);
  const requestFrom = (organization: string, path = '/v1/things') =>
    requestOf(`GET ${path}`, { Authorization: keys.get(organization) });
  const stateOf = async () =>
    ((await (await fetch(`${gateway.adminUrl}/status`)).json()) as { upstreams: { things: OfUpstream } }).upstreams
      .things;
  return {
    upstream,
    gateway,
    requestFrom,
    call: (organization: string) => ask(gateway.port, requestFrom(organization)),
    stateOf,
    async waits(number: number) {
      await eventually(async () => (await stateOf()).waiting === number);
    },
    metrics: async () => (await fetch(`${gateway.adminUrl}/metrics`)).text(),
  };
}

describe('an upstream without a bound', () => {
  it('gets as many requests as connections; a request of another organization overtakes those that wait', async () => {
    const { upstream, gateway, call, stateOf, waits, metrics } = await setUp({ connections: 2 });
    const busy = Array.from({ length: 12 }, () => call('org_busy'));
    await until(() => upstream.held() === 2);
    await waits(10);
    const quiet = call('org_quiet');
    await waits(11);
    const { in_flight, waiting, shedding } = await stateOf();
    assert.deepEqual({ in_flight, waiting, shedding }, { in_flight: 2, waiting: 11, shedding: false });
    upstream.letGo();
    upstream.letGo();
    await until(() => upstream.arrived.length === 4);
    assert.ok(upstream.arrived.slice(2).includes('org_quiet'), String(upstream.arrived));
    upstream.letAllGo();
    const answers = await Promise.all([...busy, quiet]);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    const queued = gateway.logLines().filter((line) => line.queued_ms !== undefined);
    assert.equal(queued.length, 11);
    assert.match(await metrics(), /^gateway_upstream_queue_seconds_count\{upstream="things"\} 11$/m);
  });

  it('gets no more for its examples, which test keys alone reach', async () => {
    const { upstream, call, stateOf, waits } = await setUp({ connections: 1, test: 'examples:' });
    const both = [call('org_busy'), call('org_busy')];
    await waits(1);
    assert.equal((await stateOf()).in_flight, 1);
    upstream.letAllGo();
    assert.deepEqual(new Set((await Promise.all(both)).map(({ status }) => status)), new Set([200]));
  });

  it('drops a request when its client leaves', async () => {
    const { upstream, gateway, call, requestFrom, waits } = await setUp({ connections: 1 });
    const first = call('org_busy');
    await until(() => upstream.held() === 1);
    const left = await openConnection(gateway.port);
    left.send(requestFrom('org_busy'));
    await waits(1);
    left.destroy();
    await waits(0);
    await until(() => gateway.logLines().some(({ status }) => status === 499));
    upstream.letAllGo();
    assert.equal((await first).status, 200);
    assert.equal((await call('org_busy')).status, 200);
    assert.equal(upstream.arrived.length, 2);
  });
});

describe('a request that waits', () => {
  it('for one of fewer connections than places, has that wait in its log line', async () => {
    const { upstream, gateway, call, stateOf } = await setUp({ maxInFlight: 3, connections: 1 });
    const all = [call('org_busy'), call('org_busy'), call('org_busy')];
    await eventually(async () => (await stateOf()).in_flight === 3);
    await until(() => upstream.held() === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    upstream.letAllGo();
    await Promise.all(all);
    const lines = gateway.logLines().filter(({ upstream_ms: ms }) => ms !== undefined);
    assert.deepEqual(lines.map(({ queued_ms: ms }) => ms !== undefined).sort(), [false, true, true]);
    for (const { queued_ms: queued = 0, upstream_ms: answered, duration_ms: all } of lines)
      assert.ok(Number(queued) + Number(answered) <= Number(all));
  });

  it('is refused when its time is nearly over, with a Retry-After', async () => {
    const patient = { getThing: { timeoutMs: 60_000 } };
    const { upstream, gateway, requestFrom, call, stateOf, metrics } = await setUp({
      maxInFlight: 1,
      timeoutMs: 200,
      operations: patient,
    });
    const first = ask(gateway.port, requestFrom('org_busy', '/v1/things/one'));
    await until(() => upstream.held() === 1);
    const refused = await call('org_busy');
    assertRefusal(refused, 'upstream_overloaded');
    assert.match(String(refused.headers['retry-after']), /^[1-9]\d?$/);
    assert.equal(refused.headers['proxy-status'], 'api-gateway; error=connection_limit_reached');
    assert.equal(upstream.arrived.length, 1);
    assert.equal((await stateOf()).shedding, true);
    assert.match(await metrics(), /^gateway_shed_total\{reason="upstream_wait"\} 1$/m);
    const told = gateway.logLines().filter(({ reason }) => reason === 'upstream_wait');
    assert.deepEqual(
      told.map(({ upstream, msg }) => ({ upstream, msg })),
      [{ upstream: 'things', msg: 'overload: requests are being refused' }],
    );
    upstream.letGo();
    assert.equal((await first).status, 200);
  });

  it('has the rest of its time for the answer', async (context) => {
    const operations = { getThing: { timeoutMs: 600_000 } };
    const rules = { maxInFlight: 1, timeoutMs: 110_000, operations };
    const { gateway, upstream, requestFrom, call, waits } = await setUp(rules);
    const first = ask(gateway.port, requestFrom('org_busy', '/v1/things/one'));
    await until(() => upstream.held() === 1);
    const second = call('org_quiet');
    await waits(1);
    const skip = createSkip(context);
    skip(55_000);
    upstream.letGo();
    assert.equal((await first).status, 200);
    await until(() => upstream.held() === 1);
    skip(55_000);
    assert.equal((await second).error.code, 'upstream_timeout');
    const took = Number(gateway.logLines().find(({ code }) => code === 'upstream_timeout')?.duration_ms);
    // With all of its time for the answer alone, it would have taken 165 s.
    assert.ok(took >= 110_000 && took < 165_000, `${took} ms`);
  });

  it('of more than may wait, is refused at once, and the organization with fewer is not', async () => {
    const { upstream, call, waits } = await setUp({ maxInFlight: 1, maxQueued: 3 });
    const busy = Array.from({ length: 4 }, () => call('org_busy'));
    await until(() => upstream.held() === 1);
    await waits(3);
    const late = await call('org_busy');
    assertRefusal(late, 'upstream_overloaded');
    const quiet = call('org_quiet');
    const outcome = await Promise.race(busy);
    assertRefusal(outcome, 'upstream_overloaded');
    upstream.letAllGo();
    assert.equal((await quiet).status, 200);
    const statuses = (await Promise.all(busy)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, 200, 200, 503]);
  });
});
