// An instance that vanishes without an orderly end needs attention until it answers again, ends in order, another one takes its place, or
// an operator dismisses it, or an hour is over: also to an instance that started later and never knew it.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CausesReport } from '../../../gateway/alerts/report.ts';
import type { Feed } from '../../../gateway/console/feed/feed.ts';
import { Fleet } from '../../../gateway/console/fleet/fleet.ts';
import type { FleetInstance } from '../../../gateway/console/fleet/fleet-instance.ts';
import { openRedis } from '../../../gateway/redis/client.ts';
import { freePort } from '../../support/free-port.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';
import { apartAt, type Relay, startRedis, startRelay, type TestRedis } from '../../support/redis.ts';

interface Answer extends Feed {
  readonly without: readonly string[];
  readonly instances: readonly (FleetInstance & { readonly missing_since?: string })[];
}

const BEAT_EVERY_MS = 5000;
const ADMIN = 'secret-of-the-operators';

let redis: TestRedis;
let relay: Relay;
let port: number;
let one: TestGateway;
let other: TestGateway;
const gateways: TestGateway[] = [];
/** Time that is skipped. */
let aheadMs = 0;
before(async () => {
  redis = await startRedis();
  const url = apartAt(redis.url);
  relay = await startRelay(url);
  port = await freePort();
  one = await start(url, await freePort());
  other = await start(relay.url, port);
  await eventually(async () => (await read<Answer>(one, 'console/feed?instance=all')).statuses.length === 2);
});
after(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await relay.stop();
  await redis.stop();
});

async function start(url: string, at: number, drainDelayMs = 0): Promise<TestGateway> {
  const environment = { REDIS_URL: url, PORT: String(at), ADMIN_TOKEN: ADMIN };
  const gateway = await startGateway({
    environment,
    gateway: { timeouts: { drainDelayMs } },
    now: () => Date.now() + aheadMs,
  });
  gateways.push(gateway);
  return gateway;
}

async function read<T>({ adminUrl }: TestGateway, path: string): Promise<T> {
  const answer = await fetch(`${adminUrl}/${path}`, { headers: { authorization: `Bearer ${ADMIN}` } });
  return (await answer.json()) as T;
}

async function missingAt(gateway: TestGateway) {
  const { causes } = await read<CausesReport>(gateway, 'causes');
  return causes.find(({ id, severity }) => id.startsWith('instance ') && severity === 'failure');
}

/** What the causes say of an instance that was missing until now. */
async function whyOf(gateway: TestGateway, at: number) {
  const { causes } = await read<CausesReport>(gateway, 'causes');
  const over = causes.find(({ id, state }) => id.endsWith(`:${at}`) && state === 'recovering');
  return over?.consequence.replace(/^It lasted \S+ \w+\. /, '');
}

it('is told until it answers again, or is dismissed, by every instance', async () => {
  const heardBy = Date.now();
  await relay.kill();
  // No question is asked for a moment, so the first one that gets no answer is later than the last sign of life.
  await sleep(200);
  const askedFrom = Date.now();
  await eventually(async () => (await missingAt(one)) !== undefined);
  const missing = await missingAt(one);
  assert.match(missing?.id ?? '', new RegExp(`^instance \\S+:${port}$`));
  assert.match(missing?.cause ?? '', new RegExp(`^Instance \\S+:${port} does not respond\\.$`));
  assert.ok(Date.parse(String(missing?.since)) < askedFrom, `${missing?.since} is not when it was last heard of`);
  assert.ok(Date.parse(String(missing?.since)) > heardBy - BEAT_EVERY_MS);
  // Both gateways of this test are in one process.
  assert.match(
    missing?.consequence ?? '',
    new RegExp(`^It was last heard of at 2\\S+Z\\. Its process ${process.pid} runs, so it hangs or is stopped\\. `),
  );
  assert.match(missing?.next ?? '', /^ADMIN_PORT=\d+ bin\/gateway status$/);
  assert.deepEqual(missing?.instances, [missing?.id.replace('instance ', '')]);

  const { without } = await read<Answer>(one, 'console/feed?instance=all');
  assert.deepEqual(without, missing?.instances);
  const runbook = await read<{ text: string }>(one, 'console/runbook/GatewayDown');
  assert.ok(runbook.text.includes(`alerts silence "${missing?.id}" --for 1h`), runbook.text);

  const { events } = await read<Answer>(one, 'console/feed?instance=all');
  const outage = events.filter(({ kind }) => kind === 'outage');
  assert.deepEqual(
    outage.map(({ text, until }) => [text, until]),
    [[missing?.cause, null]],
  );
  const later = await start(redisUrlOf(), await freePort());
  await eventually(async () => (await missingAt(later)) !== undefined);
  assert.equal((await missingAt(later))?.since, missing?.since);
  const { instances } = await read<Answer>(later, 'console/feed?instance=all');
  assert.equal(instances.find(({ name }) => name.endsWith(`:${port}`))?.missing_since, missing?.since);

  await relay.restart();
  await eventually(async () => (await missingAt(one)) === undefined && (await missingAt(later)) === undefined);
  assert.equal(await whyOf(later, port), 'It answers again.');

  await relay.kill();
  await eventually(async () => (await missingAt(later)) !== undefined);
  const silence = (target: string) =>
    fetch(`${one.adminUrl}/console/actions/silence-alerts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN}`, 'x-console-action': '1', 'content-type': 'application/json' },
      body: JSON.stringify({ target, dry_run: false, seconds: 3600 }),
    });
  assert.equal((await silence('*')).status, 200);
  assert.notEqual(await missingAt(one), undefined);
  assert.equal((await silence(`instance *:${port}`)).status, 200);
  assert.deepEqual([await missingAt(one), await missingAt(later)], [undefined, undefined]);
  assert.equal(await whyOf(later, port), 'An operator has dismissed it.');
});

it('ends when another process starts in its place', async () => {
  await relay.restart();
  await eventually(async () => (await read<Answer>(one, 'console/feed?instance=all')).statuses.length === 3);
  await relay.kill();
  await eventually(async () => (await missingAt(one)) !== undefined);
  await other.stop();
  assert.notEqual(await missingAt(one), undefined);
  const again = await start(redisUrlOf(), port);
  await eventually(async () => (await missingAt(one)) === undefined);
  assert.equal(await missingAt(again), undefined);
  assert.equal(await whyOf(again, port), 'Another process has started under its name.');
});

it('ends when a new instance under another name has stayed for a minute, which replaces one alone', async () => {
  await relay.restart();
  const [lost, lostToo] = [await start(relay.url, await freePort()), await start(relay.url, await freePort())];
  const names = [lost, lostToo].map(({ port: at }) => `:${at}`);
  await eventually(async () => {
    const { statuses } = await read<Answer>(one, 'console/feed?instance=all');
    return names.every((name) => statuses.some(({ instance }) => instance.endsWith(name)));
  });
  await relay.kill();
  const missing = async () => {
    const { causes } = await read<CausesReport>(one, 'causes');
    return causes.filter(({ id, severity }) => severity === 'failure' && names.some((name) => id.endsWith(name)))
      .length;
  };
  await eventually(async () => (await missing()) === 2);
  await start(redisUrlOf(), await freePort());
  await read(one, 'console/feed?instance=all');
  assert.equal(await missing(), 2);
  aheadMs += 61_000;
  await eventually(async () => (await missing()) === 1);
  await read(one, 'console/feed?instance=all');
  assert.equal(await missing(), 1);
  // The other one ends by itself.
  aheadMs += 3_600_000;
  await eventually(async () => (await missing()) === 0);
  const whys = await Promise.all([lost, lostToo].map(({ port: at }) => whyOf(one, at)));
  assert.ok(
    whys.includes('It has not answered for 60 minutes and counts as gone for good; it has not come back.'),
    String(whys),
  );
});

it('is told of one that no other instance has ever asked anything, nor heard of', async () => {
  const url = Object.assign(new URL(apartAt(redis.url)), { port: new URL(redis.url).port }).href;
  const redisAway = await startRelay(url);
  const fleetOf = (at: string, name: string) =>
    new Fleet({
      ...{ url: at, self: { name, version: '1', started_at: new Date().toISOString() }, isEnding: () => false },
      ...{
        answer: async () => ({}),
        clock: () => performance.now(),
        now: Date.now,
        // An instance whose beats are further apart than two of these reports none as lost.
        beatEveryMs: 300,
        lostAfterMs: 1000,
      },
    });
  const lost = fleetOf(redisAway.url, 'gw-1:8080');
  const ended = fleetOf(url, 'gw-2:8080');
  const client = await openRedis({ url });
  const names = async () =>
    (await client.hvals('{gateway}:instances')).map((text) => (JSON.parse(text) as FleetInstance).name).sort();
  await eventually(async () => (await names()).join() === 'gw-1:8080,gw-2:8080');
  ended.close();
  await redisAway.kill();
  const later = fleetOf(url, 'gw-3:8080');
  await eventually(async () => later.missing().length > 0);
  assert.deepEqual(
    later.missing().map(({ name }) => name),
    ['gw-1:8080'],
  );
  assert.deepEqual(later.others(), []);
  await redisAway.restart();
  await eventually(async () => later.missing().length === 0);
  assert.deepEqual(
    later.returned().map(({ name, why }) => `${name} ${why}`),
    ['gw-1:8080 It answers again.'],
  );
  for (const fleet of [lost, later]) fleet.close();
  client.disconnect();
  await redisAway.stop();
});

it('is not told of one that had begun to end, as a container that is killed after its grace period', async () => {
  await relay.restart();
  const ending = await start(relay.url, await freePort(), 3000);
  const isListed = async () => {
    const { instances } = await read<Answer>(one, 'console/feed?instance=all');
    return instances.some(({ name }) => name.endsWith(`:${ending.port}`));
  };
  await eventually(isListed);
  const stopped = ending.stop();
  await eventually(async () => !(await isListed()));
  await relay.kill();
  for (let rounds = 0; rounds < 2; rounds += 1) {
    const { causes } = await read<CausesReport>(one, 'causes');
    assert.deepEqual(
      causes.filter(({ id }) => id.endsWith(`:${ending.port}`)),
      [],
    );
  }
  await stopped;
});

function redisUrlOf(): string {
  return Object.assign(new URL(relay.url), { port: new URL(redis.url).port }).href;
}
