// Over a limit, the answer says how long to wait; behind a shared address, a good key does not pay for the guesses of others.

import { after, before, describe } from 'node:test';
import { runCases } from '../../support/errors.ts';
import { unusedPort } from '../../support/upstream.ts';
import { createWorld, type World } from '../../support/world.ts';
import { awayCases, limitCases, tightLimits } from './limit.cases.ts';

describe('limits', () => {
  let world: World;
  before(async () => {
    world = await createWorld(tightLimits);
  });
  after(() => world.close());

  runCases(limitCases, () => world);
});

describe('counters that are away', () => {
  let world: World;
  before(async () => {
    world = await createWorld({
      environment: { REDIS_URL: `redis://127.0.0.1:${await unusedPort()}` },
      limits: { whenStoreIsAway: 'refuse' },
    });
  });
  after(() => world.close());

  runCases(awayCases, () => world);
});
