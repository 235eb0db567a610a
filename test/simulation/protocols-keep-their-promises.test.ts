// Some minutes of each protocol under fixed seeds. `npm run simulate` runs random ones for as long as you like.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIMIT_RUNS } from '../unit/limits/scenarios.ts';
import { PROTOCOLS } from './protocols/all.ts';
import { simulate } from './run.ts';
import { seedText } from './seed.ts';

const SEEDS = LIMIT_RUNS > 1 ? ['1', '2', '3', '4', '5', '6'] : ['1'];
const HOURS = 0.1;

describe('some simulated minutes', () => {
  for (const protocol of PROTOCOLS) {
    it(protocol.name, async () => {
      for (const seed of SEEDS) {
        const spec = { protocol, seed, hours: HOURS, hasCalm: false };
        const { violation } = await simulate(spec);
        assert.equal(violation, undefined, `npm run simulate -- --seed ${seedText(spec)}`);
      }
    });
  }
});
