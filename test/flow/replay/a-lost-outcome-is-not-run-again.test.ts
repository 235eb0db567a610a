// A gateway is killed in the middle of keyed writes. Toward an upstream that does not honour keys, whether the write was executed is not
// known, so it is never sent again, neither after a restart nor by another instance. A new key is. Toward an upstream that honours keys,
// the write is sent on again after the lease with the same key, so that nothing is done twice.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startRedis } from '../../support/redis.ts';
import {
  isSentOnOnce,
  killInTheMiddle,
  neverRunsTwice,
  neverTakesTheKeyForAnother,
  RISKY_PATH,
  start,
} from './killed.ts';

describe('a write of a gateway that was killed before it answered is never executed twice', {
  concurrency: true,
}, () => {
  it('after a restart, unless the entry has whenOutcomeUnknown: run', async () => {
    const killed = await killInTheMiddle(undefined);
    await isSentOnOnce(killed);
    await neverRunsTwice(killed);
    await neverTakesTheKeyForAnother(killed);
    const { riskyKey, installed, second } = killed;
    assert.equal((await installed.post(second.port, riskyKey, RISKY_PATH)).headers['idempotent-replayed'], 'true');
  });

  it('by another instance on the same Redis', async () => {
    const redis = await start(startRedis());
    const killed = await killInTheMiddle(redis.url);
    await isSentOnOnce(killed);
    await neverRunsTwice(killed);
    await neverTakesTheKeyForAnother(killed);
  });
});
