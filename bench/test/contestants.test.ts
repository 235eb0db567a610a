// Every contestant does as the table says: it forwards, and those with keys, limits and validation really have them.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { temporaryDirectory } from '../../test/support/directory.ts';
import { freePort } from '../../test/support/free-port.ts';
import { lookInside } from '../../test/support/redis.ts';
import { CONTESTANTS, entryOf } from '../contestants/list.ts';
import { type Contestant, rest, startPinned, stop, wake } from '../contestants.ts';
import { runLoad } from '../load.ts';
import { startPinnedRedis } from '../pinned-redis.ts';
import { strangeKey } from '../sample-keys.ts';
import { ask, CREATION, LIST, requestsOf, SCENARIOS, verify } from '../scenarios.ts';

const directory = temporaryDirectory();
const redis = await startPinnedRedis();
const inside = lookInside(redis.url);
const upstreamPort = await freePort();
const upstream = await startPinned('upstream.ts', [String(upstreamPort)], 0, upstreamPort);
const keys = [strangeKey(), strangeKey()];
const started: Contestant[] = [];
after(async () => {
  await Promise.all(started.map(({ process: child }) => stop(child)));
  inside.disconnect();
  await Promise.all([stop(upstream), redis.stop()]);
});

async function start(id: string): Promise<Contestant | undefined> {
  const entry = entryOf(id);
  if (entry.missing() !== undefined) return undefined;
  const prepared = entry.prepare({
    upstreamUrl: `http://127.0.0.1:${upstreamPort}`,
    redisUrl: redis.url,
    directory: join(directory, id),
    port: await freePort(),
    keys,
  });
  const contestant = await prepared.start();
  started.push(contestant);
  return contestant;
}

const bytesOf = async (scenario: typeof LIST) =>
  (await ask(upstreamPort, requestsOf(scenario, upstreamPort, ['a-caller'])[0] as Buffer)).bodyBytes;

/** The number of commands to Redis since the last call, connections and their set-up left out. */
async function commandsSince(names: readonly string[]): Promise<number> {
  const stats = await inside.info('commandstats');
  await inside.config('RESETSTAT');
  return names.reduce((sum, name) => sum + Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0), 0);
}

for (const { id, missing } of CONTESTANTS) {
  test(`${id} passes the answers of the upstream`, { skip: missing() }, async () => {
    const contestant = (await start(id)) as Contestant;
    for (const scenario of [LIST, CREATION]) {
      const requests = requestsOf(scenario, contestant.port, contestant.keys);
      const result = await runLoad({ port: contestant.port, connections: 2, durationMs: 200, requests });
      verify(id, scenario, result, await bytesOf(scenario));
    }
  });
}

const running = (name: RegExp) => started.find((contestant) => name.test(contestant.name));

async function statusOf(contestant: Contestant, key: string, body?: string): Promise<number> {
  const scenario = body === undefined ? LIST : { ...CREATION, body };
  return (await ask(contestant.port, requestsOf(scenario, contestant.port, [key])[0] as Buffer)).status;
}

test('the naive composition checks its keys and bodies, and counts in Redis', async () => {
  const naive = running(/naive/) as Contestant;
  assert.equal(await statusOf(naive, strangeKey()), 401);
  assert.equal(await statusOf(naive, keys[0] as string, JSON.stringify({ name: 7 })), 400);
  await commandsSince([]);
  assert.equal(await statusOf(naive, keys[0] as string), 200);
  assert.equal(await commandsSince(['evalsha', 'eval']), 1);
});

const missingLua = () => CONTESTANTS.find(({ id }) => id === 'nginx-lua')?.missing();

test('nginx with Lua checks its keys and counts in Redis', {
  skip: missingLua(),
}, async () => {
  const lua = running(/Lua/) as Contestant;
  assert.equal(await statusOf(lua, strangeKey()), 401);
  await commandsSince([]);
  assert.equal(await statusOf(lua, keys[0] as string), 200);
  assert.equal(await commandsSince(['incr']), 1);
});

test('nginx with Lua refuses an organization that is over its limit', { skip: missingLua() }, async () => {
  const lua = running(/Lua/) as Contestant;
  const minute = Math.floor(Date.now() / 60_000);
  // Both minutes, in case the next one begins before the request arrives.
  for (const window of [minute, minute + 1]) await inside.set(`lua-limit:org_1:${window}`, 1_000_000);
  assert.equal(await statusOf(lua, keys[1] as string), 429);
  assert.equal(await statusOf(lua, keys[0] as string), 200);
});

test('the gateway refuses the requests that the scenarios refuse', async () => {
  const gateway = running(/all on, Redis/) as Contestant;
  for (const scenario of SCENARIOS.filter(({ isRefusal }) => isRefusal)) {
    const requests = requestsOf(scenario, gateway.port, scenario.keysOf(gateway));
    verify('gateway', scenario, await runLoad({ ...gateway, connections: 2, durationMs: 100, requests }), undefined);
  }
});

test('a gateway that has been stopped sends commands to Redis again as soon as it is measured', async () => {
  const gateway = running(/all on, Redis/) as Contestant;
  const load = { port: gateway.port, connections: 1, requests: requestsOf(LIST, gateway.port, gateway.keys) };
  rest(gateway);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  wake(gateway);
  await runLoad({ ...load, durationMs: 250 });
  await commandsSince([]);
  const { answers } = await runLoad({ ...load, durationMs: 250 });
  // One connection: no two decisions share a command. Some more commands are the key store's.
  const commands = await commandsSince(['evalsha', 'eval']);
  assert.ok(commands >= answers, `${commands} commands for ${answers} answers`);
});
