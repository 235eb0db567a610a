// A write that carries an Idempotency-Key is refused when it must not run now, or not again.

import { after, before, describe } from 'node:test';
import { runCases } from '../../support/errors.ts';
import { createWorld, type World } from '../../support/world.ts';
import { keyedCases } from './keyed.cases.ts';

describe('a write with an Idempotency-Key', () => {
  let world: World;
  before(async () => {
    world = await createWorld({}, { timeoutMs: 1000 });
  });
  after(() => world.close());

  runCases(keyedCases, () => world);
});
