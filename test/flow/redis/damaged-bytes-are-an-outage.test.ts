// Between Redis and a gateway, one byte in every few replies is another one. No client is blamed for that, nothing runs twice, the process
// lives, and nothing that was read meanwhile stays: with the damage ends its effect.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createSecretsInRedis } from '../../../gateway/config/secrets/secrets-redis.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { type GarbledRedis, startGarbledRedis } from '../../support/garbled-redis.ts';
import { eventually, keysStatusOf } from '../../support/instances.ts';
import { startServer, type TestRedis } from '../../support/redis.ts';
import { headersOf } from '../../support/scripted-upstream.ts';
import { createKeyedWorld, type KeyedWorld, newKey } from '../replay/keyed.ts';

const KEYS = Number(process.env.GARBLED_KEYS ?? 24);

interface Outcome {
  readonly status: number;
  readonly code: string;
}

/** For a good key and a first request; this upstream creates a record for each request. */
const isBlame = ({ status, code }: Outcome) => status !== 201 && !(status === 503 && code in RIGHT);
const EVERY = [1, 2, 3, 7] as const;
const RIGHT = { auth_unavailable: true, gateway_overloaded: true };

/** Of the same length, or with its own: what the library reads is a reply. */
function replacing(right: string, wrong: string): (reply: Buffer) => Buffer {
  return (reply) => Buffer.from(reply.toString('latin1').replaceAll(right, wrong), 'latin1');
}

const isKey = (reply: Buffer) => reply.includes('"digest"');

/** The column behind the record, which is the time at which the key ends, is one second after 1970 in place of nothing. */
function afterRecord(reply: Buffer): Buffer {
  return Buffer.from(reply.toString('latin1').replace(/(\}\r\n\*1\r\n)(_|\$-1)\r\n/, '$1+1000\r\n'), 'latin1');
}

/** The third figure of the first limit of a verdict, doubles behind the head of a text: milliseconds to wait. */
function withWait(reply: Buffer): Buffer {
  const start = reply.indexOf('\r\n') + 2;
  const isVerdict = reply[0] === 0x24 && start < 10 && reply.length > start + 56 && reply[start + 7] !== 0x22;
  if (!isVerdict || reply.includes('{') || reply.includes(':')) return reply;
  const spoiled = Buffer.from(reply);
  spoiled.writeDoubleLE(5000, start + 40);
  return spoiled;
}

/** One byte, or a few, in a reply that decides; the former reading of it in brackets. */
const DAMAGES: Readonly<Record<string, (reply: Buffer) => Buffer>> = {
  'a scope (403)': replacing('"*"', '"?"'),
  'a mode (403)': replacing('"live"', '"test"'),
  'an id of an organization (401)': replacing('org_', 'orgx'),
  'an expiry (401)': (reply) => (isKey(reply) ? afterRecord(reply) : reply),
  'a beginning (409)': replacing('started', 'running'),
  'a beginning (422)': replacing('$7\r\nstarted', '$9\r\ndifferent'),
  'a wait (429)': withWait,
};

describe('bytes that are damaged on the way from Redis', () => {
  let redis: TestRedis;
  let garbled: GarbledRedis;
  let world: KeyedWorld;
  /**
   * Keys that the gateway has not seen yet. They are made before there is damage: the connection for commands is given up after 10 s only.
   */
  const fresh: string[] = [];
  before(async () => {
    redis = await startServer();
    garbled = await startGarbledRedis(redis.port);
    const limits = { tiers: { standard: { requests: 1000 } }, addresses: { failures: 50 } };
    world = await createKeyedWorld({ environment: { REDIS_URL: garbled.url }, limits });
  });
  before(async () => {
    const count = EVERY.length * KEYS + Object.keys(DAMAGES).length;
    for (let made = 0; made < count; made += 1) fresh.push((await world.gateway.issueKey()).key);
  });
  after(async () => {
    garbled.flipEvery(0);
    await world.close();
    garbled.stop();
    await redis.stop();
  });

  const send = async (line: string, key: string, headers = {}, body?: string): Promise<Outcome> => {
    const answer = await ask(world.gateway.port, requestOf(line, { Authorization: `Bearer ${key}`, ...headers }, body));
    const { error } = JSON.parse(answer.body.toString() || '{}') as { error?: { code: string } };
    return { status: answer.status, code: error?.code ?? '' };
  };
  const read = (key: string) => send('GET /v1/things', key);
  const write = (key: string, idempotencyKey: string) =>
    send(
      'POST /v1/things',
      key,
      { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
      '{"name":"a"}',
    );
  const executions = (idempotencyKey: string) =>
    world.upstream.received.filter((request) => headersOf(request).get('idempotency-key') === idempotencyKey).length;

  for (const every of EVERY) {
    it(`of 1 in ${every} replies: no refusal blames a client, and nothing runs twice`, async () => {
      await eventually(async () => (await keysStatusOf(world.gateway)).store === 'reachable');
      const keys = fresh.splice(0, KEYS);
      garbled.flipEvery(every);
      const outcomes: Outcome[] = [];
      const writes = keys.map((key) => ({ key, idempotencyKey: newKey() }));
      for (const { key, idempotencyKey } of writes) {
        outcomes.push(...(await Promise.all([read(key), write(key, idempotencyKey)])), await read(key));
      }
      garbled.flipEvery(0);
      assert.deepEqual(outcomes.filter(isBlame), []);
      for (const { key, idempotencyKey } of writes) {
        // A key whose first write was refused may be locked until the gateway has freed it.
        await eventually(async () => (await write(key, idempotencyKey)).status === 201);
        assert.equal((await read(key)).status, 201);
        assert.equal(executions(idempotencyKey), 1);
      }
    });
  }

  for (const [what, spoil] of Object.entries(DAMAGES)) {
    it(`${what}: no refusal blames a client, and nothing stays`, async () => {
      await eventually(async () => (await keysStatusOf(world.gateway)).store === 'reachable');
      const [key = ''] = fresh.splice(0, 1);
      const idempotencyKey = newKey();
      let spoilt = 0;
      garbled.spoil((reply) => {
        const spoiled = spoil(reply);
        if (!spoiled.equals(reply)) spoilt += 1;
        return spoiled;
      });
      const outcomes = [await write(key, idempotencyKey), await read(key)];
      await eventually(async () => {
        outcomes.push(await write(key, newKey()));
        return spoilt > 0;
      });
      garbled.spoil(undefined);
      assert.deepEqual(outcomes.filter(isBlame), []);
      await eventually(async () => (await write(key, idempotencyKey)).status === 201);
      assert.equal(executions(idempotencyKey), 1);
      assert.equal((await read(key)).status, 201);
    });
  }

  it('a secret: none is better than a wrong one', async () => {
    const secrets = createSecretsInRedis({ url: garbled.url, patienceMs: 200 });
    const value = await secrets.make('cursor_secret', 'a secret of twenty c');
    garbled.spoil(replacing('of twenty', 'of_twenty'));
    await assert.rejects(async () => secrets.read('cursor_secret'), /damaged/);
    garbled.spoil(undefined);
    assert.equal(await secrets.read('cursor_secret'), value);
  });

  it('logs this at most once a minute, and not as a fault of the gateway', async () => {
    const lines = world.gateway.logLines();
    const drops = lines.filter(({ msg }) => /^a connection to Redis was dropped/.test(String(msg)));
    assert.ok(drops.length >= 1 && drops.length <= 10, `${drops.length}`);
    assert.ok(drops.every(({ level, reason }) => level === 40 && typeof reason === 'string'));
    assert.deepEqual(
      lines.filter(({ level, code }) => Number(level) >= 50 && code === 'internal_error'),
      [],
    );
    assert.deepEqual(
      lines.filter(({ msg }) => /an error outside a request/.test(String(msg))),
      [],
    );
    const metrics = await (await fetch(`${world.gateway.adminUrl}/metrics`)).text();
    const [, dropped = '0'] = /^gateway_redis_connections_dropped_total (\d+)$/m.exec(metrics) ?? [];
    assert.ok(Number(dropped) > 1, dropped);
    assert.match(metrics, /^gateway_faults_total 0$/m);
  });
});
