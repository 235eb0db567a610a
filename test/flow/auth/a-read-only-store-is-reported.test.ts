// A Redis that can be read and not written, as a replica or a full one: keys work, and operators see the reason.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connectRedis } from '../../../gateway/redis/client.ts';
import { askWith, eventually, keysStatusOf, startInstances } from '../../support/instances.ts';
import { startServer } from '../../support/redis.ts';

const redis = await startServer();
const instances = await startInstances([redis.url]);
const ready = Promise.withResolvers<void>();
const operator = connectRedis({ url: redis.url, onReady: ready.resolve });
await ready.promise;
after(async () => {
  await instances.close();
  operator.disconnect();
  await redis.stop();
});

test('the status shows the reason while it lasts, and keys still work', async () => {
  const [gateway] = instances.gateways as [(typeof instances.gateways)[0] & object];
  const { id, key } = await gateway.issueKey();
  assert.equal((await askWith(key, gateway)).status, 200);
  assert.equal((await keysStatusOf(gateway)).writeFailure, undefined);

  await operator.call('CONFIG', 'SET', 'min-replicas-to-write', '1');
  await eventually(async () => /NOREPLICAS/.test((await keysStatusOf(gateway)).writeFailure ?? ''));
  await assert.rejects(async () => gateway.store.keys.revoke(id, 'test', undefined), /NOREPLICAS/);
  assert.equal((await askWith(key, gateway)).status, 200);

  await operator.call('CONFIG', 'SET', 'min-replicas-to-write', '0');
  await eventually(async () => (await keysStatusOf(gateway)).writeFailure === undefined);
});
