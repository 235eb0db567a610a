import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeReports } from '../../../gateway/console/stores.ts';

const NOW_MS = Date.parse('2026-11-20T12:00:00.000Z');
const SINCE = '2026-11-20T11:59:00.000Z';
const GRACE_END = '2026-11-20T12:14:00.000Z';

test('a store that is away says since when and why, what clients get meanwhile, and what comes back by itself', () => {
  const away = (policyInForce: string) =>
    storeReports(
      {
        keys: { store: 'failing', reason: 'Redis cannot be reached.', read_at: SINCE, grace_ends_at: GRACE_END },
        limits: { state: 'away', since_at: SINCE, reason: 'the connection was closed', policyInForce },
        idempotency: { state: 'away', kind: 'redis' },
        usage: { state: 'away', waiting: 3 },
      },
      NOW_MS,
    );
  const [keys, limits, answers, use] = away('local');
  assert.equal(keys?.details, `last read ${SINCE}, known keys are valid until ${GRACE_END}: Redis cannot be reached.`);
  assert.equal(keys?.lost, `known keys work until ${GRACE_END}, others get 503`);
  assert.match(keys?.back ?? '', /without a restart/);
  assert.equal(limits?.details, `whenStoreIsAway: local decides since ${SINCE}: the connection was closed`);
  assert.equal(limits?.lost, 'limits are counted per instance');
  assert.deepEqual(
    [answers?.details, answers?.lost],
    ['', 'writes with an Idempotency-Key get 503 gateway_overloaded, except to services that honour keys'],
  );
  assert.deepEqual([use?.details, use?.lost], ['waiting to be written: 3', 'they notice nothing']);
  assert.deepEqual(
    ['allow', 'refuse'].map((policy) => away(policy)[1]?.lost),
    ['no limit is enforced', 'requests under a limit get 503'],
  );
});

test('a store that can be used says neither', () => {
  assert.deepEqual(storeReports({ limits: { state: 'up', kind: 'redis' } }, NOW_MS), [
    { name: 'limit store', state: 'up', details: 'redis' },
  ]);
});

test('a key store that was wiped is empty, although it can be reached', () => {
  const [keys] = storeReports({ keys: { store: 'reachable', emptied_at: SINCE } }, NOW_MS);
  assert.equal(keys?.state, 'empty');
  assert.match(keys?.details ?? '', new RegExp(`^since ${SINCE}: every key gets 401`));
  assert.equal(storeReports({ keys: { store: 'away', emptied_at: SINCE } }, NOW_MS)[0]?.state, 'away');
});
