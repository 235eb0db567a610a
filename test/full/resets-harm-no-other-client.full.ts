// The table of known attacks with resets, as test/attack plays it, row by row instead of side by side, and at listeners with TLS: each row
// meets an otherwise idle process, so that no other connection hides its effect.

import { after, describe, it } from 'node:test';
import { createBoundedSiege } from '../attack/bounded-siege.ts';
import { allCases } from '../attack/cases/all.ts';
import { moments, playResets } from '../attack/cases/resets.ts';

describe('the table of attacks, row by row, with a reset', () => {
  const siege = createBoundedSiege();
  after(() => siege.close());
  for (const moment of moments) it(moment.name, () => playResets(allCases, moment, siege, { atOnce: 1 }));
});

describe('the table of attacks against a gateway with TLS, with a reset', () => {
  const siege = createBoundedSiege({ tls: true });
  after(() => siege.close());
  for (const moment of moments) {
    it(`by TLS, ${moment.name}`, () => playResets(allCases, moment, siege));
    it(`at the plain listener beside it, ${moment.name}`, () => playResets(allCases, moment, siege, { door: 1 }));
  }
});
