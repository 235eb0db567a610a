// The gateway refuses excess load at once, at no cost to callers with few requests.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { type Answer, ask, openConnection, requestOf, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { type GatewayOptions, startGateway } from '../../support/gateway.ts';
import { startHoldingUpstream } from '../../support/holding-upstream.ts';
import { startIssuer } from '../../support/issuer.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';
import { fakeClock } from '../../unit/auth/samples.ts';

const start = closesAfterEach();

async function setUp(overload: object, options: GatewayOptions = {}, limits: object = {}) {
  const upstream = await start(startHoldingUpstream());
  const gateway = await start(startGateway({ ...thingsAt(upstream.url), ...options, gateway: { overload, limits } }));
  const keys = new Map<string, string>();
  for (const organization of ['org_busy', 'org_quiet'])
    keys.set(organization, (await gateway.authorize({ organization })).authorization);
  const headersOf = (organization: string) => ({ Authorization: keys.get(organization) });
  return {
    upstream,
    gateway,
    headersOf,
    call: (organization: string) => ask(gateway.port, requestOf('GET /v1/things', headersOf(organization))),
    async shed(reason: string) {
      const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
      return Number(new RegExp(`^gateway_shed_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
    },
    async status() {
      const all = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as { overload: Record<string, unknown> };
      return all.overload;
    },
  };
}

function assertRefused(answer: Answer, retryAfter: string): void {
  assertRefusal(answer, 'gateway_overloaded');
  assert.equal(answer.headers['retry-after'], retryAfter);
}

describe('requests in progress', () => {
  it('are bounded in all: the next one is refused before authentication', async () => {
    const { upstream, gateway, call, shed, status } = await setUp({ maxInFlight: 2, organizationShare: 1 });
    const held = [call('org_busy'), call('org_quiet')];
    await until(() => upstream.held() === 2);
    assertRefused(await ask(gateway.port, requestOf('GET /v1/things')), '1');
    assertRefused(await call('org_quiet'), '1');
    assert.equal(await shed('in_flight'), 2);
    const { loop_delay_ms: loopDelayMs, ...others } = await status();
    assert.equal(typeof loopDelayMs, 'number');
    assert.deepEqual(others, {
      shedding: true,
      in_flight: 2,
      in_flight_max: 2,
      buffered_bytes: 0,
      buffered_bytes_max: 134_217_728,
      loop_overloaded: false,
    });
    const told = gateway.logLines().filter(({ msg }) => /^overload: /.test(String(msg)));
    assert.deepEqual(
      told.map(({ reason }) => reason),
      ['in_flight'],
    );
    upstream.letAllGo();
    assert.deepEqual(
      (await Promise.all(held)).map(({ status }) => status),
      [200, 200],
    );
    assert.equal((await call('org_quiet')).status, 200);
  });

  it('of one organization are limited to its share, and requests of other organizations are not', async () => {
    const { upstream, call, shed } = await setUp({ maxInFlight: 6 });
    const held = Array.from({ length: 3 }, () => call('org_busy'));
    await until(() => upstream.held() === 3);
    assertRefused(await call('org_busy'), '1');
    assert.equal(await shed('organization'), 1);
    const other = call('org_quiet');
    await until(() => upstream.held() === 4);
    upstream.letAllGo();
    for (const answer of await Promise.all([...held, other])) assert.equal(answer.status, 200);
    assert.equal((await call('org_busy')).status, 200);
  });

  it('are not counted when their clients left before authentication', async () => {
    const clock = fakeClock();
    const issuer = await start(startIssuer(clock.now));
    const upstream = await start(startUpstream());
    const gateway = await start(
      startGateway({
        ...thingsAt(upstream.url),
        gateway: { issuers: { web: issuer.entry }, overload: { maxInFlight: 3, organizationShare: 0.4 } },
        now: clock.now,
      }),
    );
    await gateway.issueKey();
    const asked: ServerResponse[] = [];
    issuer.answers((response) => void asked.push(response));
    const { jwk } = issuer.rotate();
    clock.advance(60_000);
    const request = requestOf('GET /v1/things', { Authorization: `Bearer ${issuer.sign()}` });
    const leaving = await start(openConnection(gateway.port));
    leaving.send(request);
    const [question] = await until(() => asked.length > 0 && (asked as [ServerResponse]));
    leaving.destroy();
    await until(() => gateway.logLines().find(({ status }) => status === 499));
    question.setHeader('content-type', 'application/jwk-set+json').end(JSON.stringify({ keys: [jwk] }));
    for (let index = 0; index < 3; index += 1) assert.equal((await ask(gateway.port, request)).status, 200);
  });
});

describe('bodies that are held', () => {
  const body = Buffer.from(JSON.stringify({ name: 'x'.repeat(50_000) }));
  const bounds = { bufferedBytesMax: 100_000, organizationShare: 0.6 };
  const typed = { 'Content-Type': 'application/json' };

  it('are bounded in all and of one organization, until they have been sent on and answered', async () => {
    const { upstream, gateway, headersOf, shed, status } = await setUp(bounds, {}, { bodyBytesMax: 60_000 });
    const post = (organization: string) =>
      ask(gateway.port, requestOf('POST /v1/things', { ...headersOf(organization), ...typed }, body));
    const first = post('org_busy');
    await until(() => upstream.held() === 1);
    assert.equal((await status()).buffered_bytes, body.length);
    assertRefused(await post('org_busy'), '1');
    assertRefused(await post('org_quiet'), '1');
    assert.equal(await shed('buffered_bytes'), 2);
    upstream.letGo();
    assert.equal((await first).status, 201);
    upstream.letAllGo();
    assert.equal((await post('org_busy')).status, 201);
    assert.equal((await status()).buffered_bytes, 0);
  });

  it('count by arrived bytes: a client that announces much and sends little takes little, and leaves nothing behind', async () => {
    const { upstream, gateway, headersOf, status } = await setUp(bounds, {}, { bodyBytesMax: 60_000 });
    upstream.letAllGo();
    const slow = await openConnection(gateway.port);
    const announced = { ...headersOf('org_busy'), ...typed, 'Content-Length': String(body.length) };
    slow.send(requestOf('POST /v1/things', announced), body.subarray(0, 10_000));
    for (let held = 0; held !== 10_000; held = Number((await status()).buffered_bytes));
    const other = requestOf('POST /v1/things', { ...headersOf('org_quiet'), ...typed }, body);
    assert.equal((await ask(gateway.port, other)).status, 201);
    slow.destroy();
    for (let held = 1; held !== 0; held = Number((await status()).buffered_bytes));
  });
});

describe('an event loop that comes late', () => {
  it('refuses unknown callers and a part of the known ones, until the delay has been low for a while', async () => {
    let sample: (lateMs: number) => void = () => assert.fail('the delay is not sampled');
    const probeLoop = (onSample: typeof sample) => {
      sample = onSample;
      return { stop: () => undefined };
    };
    const { upstream, gateway, call, shed, status } = await setUp({ loopDelayMs: 100 }, { probeLoop });
    upstream.letAllGo();
    assert.equal((await call('org_busy')).status, 200, 'from here on it is known');
    for (const lateMs of [5000, 10, 150, 150]) sample(lateMs);
    assert.equal((await call('org_quiet')).status, 200, 'one long task is no overload');
    sample(150);
    const { authorization } = await gateway.authorize({ organization: 'org_new' });
    const stranger = () => ask(gateway.port, requestOf('GET /v1/things', { Authorization: authorization }));
    for (let index = 0; index < 3; index += 1) assertRefused(await stranger(), '2');
    const known: number[] = [];
    for (let index = 0; index < 10; index += 1) known.push((await call('org_busy')).status);
    assert.deepEqual(known.sort(), [...Array(5).fill(200), ...Array(5).fill(503)]);
    assert.equal(await shed('event_loop'), 8);
    assert.deepEqual([(await status()).loop_overloaded, (await status()).loop_delay_ms], [true, 150]);
    assert.equal((await fetch(`${gateway.adminUrl}/livez`)).status, 200);
    for (const lateMs of [40, 40, 40]) sample(lateMs);
    assertRefused(await stranger(), '2');
    sample(40);
    assert.equal((await stranger()).status, 200);
  });
});
