// Some minutes of each protocol under fixed seeds. `npm run simulate` runs random ones for as long as you like.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PROTOCOLS } from './protocols/all.ts';
import { simulate } from './run.ts';
import { seedText } from './seed.ts';

const SEEDS = ['1', '2', '3', '4', '5'];
const HOURS = 0.2;

describe('some simulated minutes', () => {
  for (const protocol of PROTOCOLS) {
    it(protocol.name, async () => {
      for (const [index, seed] of SEEDS.entries()) {
        const spec = { protocol, seed, hours: HOURS, hasCalm: index === 0 };
        const { violation } = await simulate(spec);
        assert.equal(violation, undefined, `npm run simulate -- --seed ${seedText(spec)}`);
      }
    });
  }
});
