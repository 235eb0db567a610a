// The charts of all instances keep what an instance has reported before it was killed, cut off or stopped, and count nothing twice when it
// comes back.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Feed } from '../../../gateway/console/feed/feed.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { freePort } from '../../support/free-port.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { askWith, eventually, untilRead } from '../../support/instances.ts';
import { apartAt, type Relay, startRedis, startRelay, type TestRedis } from '../../support/redis.ts';
import { startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';

interface Answer extends Feed {
  readonly without: readonly string[];
  readonly ended: readonly { readonly instance: string; readonly until: string }[];
}

const SLOT_MS = 15_000;

let redis: TestRedis;
let relay: Relay;
let upstream: Awaited<ReturnType<typeof startScriptedUpstream>>;
let one: TestGateway;
let other: TestGateway;
let port: number;
/** Time that is skipped. */
let aheadMs = 0;
before(async () => {
  redis = await startRedis();
  upstream = await startScriptedUpstream();
  const url = apartAt(redis.url);
  relay = await startRelay(url);
  port = await freePort();
  one = await start(url, await freePort());
  other = await start(relay.url, port);
  await eventually(async () => (await all()).statuses.length === 2);
  const { key } = await one.issueKey();
  await untilRead({ gateways: [one, other] });
  for (const gateway of [one, one, other]) assert.equal((await askWith(key, gateway)).status, 200);
});
after(async () => {
  await Promise.all([one?.stop(), other?.stop(), upstream?.close()]);
  await relay?.stop();
  await redis?.stop();
});

const start = (url: string, at: number, dataDirectory = temporaryDirectory()) =>
  startGateway({
    ...thingsAt(upstream.url),
    environment: { REDIS_URL: url, PORT: String(at) },
    now: () => Date.now() + aheadMs,
    dataDirectory,
  });

async function all(query = ''): Promise<Answer> {
  return (await (await fetch(`${one.adminUrl}/console/feed?instance=all${query}`)).json()) as Answer;
}

async function figures() {
  const [{ history }, { history: subject }] = [await all(), await all('&operation=GET+/v1/things')];
  return [history?.all.total.requests, subject?.subject && 'total' in subject.subject && subject.subject.total];
}

const isOut = async () => (await all()).without.some((name) => name.endsWith(`:${port}`));

it('while it cannot be reached, with the time up to which it is counted', async () => {
  const before = await figures();
  assert.equal(before[0], 3);
  aheadMs += SLOT_MS;
  // Each instance samples its counts when it is asked in the next slot, and stores those of the slot before.
  await all();
  await relay.kill();
  await eventually(isOut);
  assert.deepEqual(await figures(), before);
  const { ended } = await all();
  assert.ok(Math.abs(Date.parse(String(ended[0]?.until)) - Date.now() - aheadMs) < SLOT_MS, ended[0]?.until);
});

it('once when it answers again', async () => {
  await relay.restart();
  await eventually(async () => !(await isOut()));
  assert.equal((await figures())[0], 3);
});

it('after it was stopped, and once when it was started again on its data', async () => {
  const { dataDirectory } = other;
  const { key } = await one.issueKey();
  await untilRead({ gateways: [one, other] });
  assert.equal((await askWith(key, other)).status, 200);
  await other.stop();
  assert.equal((await figures())[0], 4);
  assert.deepEqual((await all()).without, []);
  other = await start(relay.url, port, dataDirectory);
  await eventually(async () => (await all()).statuses.length === 2);
  assert.equal((await figures())[0], 4);
});
