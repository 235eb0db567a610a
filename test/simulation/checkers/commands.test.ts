// What the checker of commands knows of a key that the authority does not take.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Deployment } from '../deployment.ts';
import { World } from '../engine/world.ts';
import { CommandChecker } from './commands.ts';

it('a wrong key is a lost one only if the store has lost data since the key was changed', async () => {
  const world = new World({ seed: 'commands' });
  const deployment = new Deployment(world, 1, () => undefined);
  const checker = new CommandChecker(() => deployment);
  const loseData = () => {
    deployment.redis.stop();
    deployment.redis.start('nothing');
  };
  assert.equal(checker.wrongKey(), false, 'no key was ever changed');
  loseData();
  await world.run(1000);
  checker.keyChanged();
  assert.equal(checker.wrongKey(), false, 'the loss was before the change');
  await world.run(2000);
  loseData();
  assert.equal(checker.wrongKey(), true);
});
