// A Redis below 6.2 stops the start and fails in doctor, with the sentence that names the minimum.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { openRedisStore } from '../../../gateway/auth/store/redis/redis-key-store.ts';
import { checkRedis } from '../../../gateway/commands/doctor/redis.ts';
import { startServer } from '../../support/redis.ts';

const SENTENCE = /Redis 6\.0\.\d+ is too old: Redis 6\.2 or newer is needed/;

/** The address of a Redis that reports version 6.0, in a reply of unchanged length. */
async function startOldRedis(t: TestContext): Promise<string> {
  const redis = await startServer();
  t.after(() => redis.stop());
  const door = createServer((client) => {
    const server = connect(redis.port, '127.0.0.1');
    client.pipe(server);
    server.on('data', (bytes) => {
      const told = bytes.toString('latin1');
      const aged = told.replace(/redis_version:\d+\.\d/, (version) => 'redis_version:6.0'.padEnd(version.length, '0'));
      client.write(Buffer.from(aged, 'latin1'));
    });
    for (const socket of [client, server]) socket.on('error', () => socket.destroy());
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
  });
  door.listen(0, '127.0.0.1').unref();
  t.after(() => door.close());
  await once(door, 'listening');
  return `redis://127.0.0.1:${(door.address() as { port: number }).port}`;
}

test('the start ends with the sentence', async (t) => {
  const url = await startOldRedis(t);
  await assert.rejects(openRedisStore({ url, pepperFingerprint: 'of a pepper', now: Date.now }), SENTENCE);
});

test('doctor fails with the sentence', async (t) => {
  const findings = await checkRedis(await startOldRedis(t), Date.now, () => undefined);
  const [finding] = findings.filter(({ verdict }) => verdict === 'fail');
  assert.match(finding?.says ?? '', SENTENCE);
});
