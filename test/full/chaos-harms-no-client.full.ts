// Half a minute of chaos by a fixed seed: `npm run chaos` lists its faults, and runs longer and by other seeds.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { chaosTrial, type TrialResult } from '../chaos/trial.ts';

const SEED = 7;
const DURATION_MS = 45_000;

describe('while targets, Redis, workers, the sandbox and the configuration are broken at random', () => {
  let result: TrialResult;
  before(async () => {
    result = await chaosTrial({ seed: SEED, durationMs: DURATION_MS, clients: 16, tell: () => undefined });
  });

  it('every answer is right, or an error of the catalogue for a reason that there is', () => {
    assert.deepEqual(result.wrong, []);
    assert.deepEqual(result.lost, []);
  });

  it('nothing hangs', () => {
    assert.deepEqual(result.hanging, []);
  });

  it('no write is executed twice', () => {
    assert.deepEqual(result.doubled, []);
  });

  it('a lot was broken, and much was done', () => {
    assert.ok(Object.keys(result.faults).length >= 10, JSON.stringify(result.faults));
    assert.ok(result.writesDone > 500, `${result.writesDone} writes`);
    assert.ok(result.writesRepeated > 10, `${result.writesRepeated} repeated`);
    assert.ok(result.mail.echoes > 20, `${result.mail.echoes} echoes`);
  });
});
