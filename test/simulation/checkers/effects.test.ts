// What the checker of idempotent writes takes for a fault of the gateway, and what it excuses.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { World } from '../engine/world.ts';
import { EffectChecker } from './effects.ts';

const MINUTE_MS = 60_000;
const WRITE = { key: 'key-1', body: '{}' };

/**
 * The sentence on a second effect that comes after a second.
 *
 * @param bytesMax how much may be stored
 * @param aheadMs how far the clock of the store was set ahead meanwhile
 */
async function onSecondEffect(bytesMax: number, aheadMs: number): Promise<string | undefined> {
  const world = new World({ seed: 'effects' });
  const checker = new EffectChecker(world, {
    ...{ retainMs: 60 * MINUTE_MS, bytesMax },
    repeatsUnknown: () => 'never',
    ageMs: (begunMs) => world.now() - begunMs + aheadMs,
    mayBeLost: () => false,
  });
  checker.executed(WRITE, 'effect-1', 0, 0);
  await world.run(1000);
  checker.executed(WRITE, 'effect-2', 1000, 1000);
  return world.violation()?.message;
}

const [ROOM, NO_ROOM] = [100_000_000, 1000];

it('a key that is kept for an hour has a second effect a quarter of an hour later: a fault', async () => {
  assert.equal(await onSecondEffect(ROOM, 15 * MINUTE_MS), 'key-1 has effects effect-1 and effect-2');
});

it('a key whose answer there is no room for is kept for ten minutes', async () => {
  assert.equal(await onSecondEffect(NO_ROOM, 5 * MINUTE_MS), 'key-1 has effects effect-1 and effect-2');
  assert.equal(await onSecondEffect(NO_ROOM, 15 * MINUTE_MS), undefined);
});
