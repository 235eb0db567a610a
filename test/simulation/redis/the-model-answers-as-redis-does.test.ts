// The model of Redis gives the answers of a real server, command by command and script by script. `COMPARED=1000000` compares as many.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { startServer, type TestRedis } from '../../support/redis.ts';
import { type Comparison, openComparison } from './comparison.ts';
import { randomCommand } from './random-commands.ts';

const COMPARED = Number(process.env.COMPARED ?? 20_000);
const LENGTH = 100;

describe('the model of Redis', () => {
  let redis: TestRedis;
  let comparison: Comparison;
  before(async () => {
    redis = await startServer();
    comparison = openComparison(redis.port);
  });
  after(async () => {
    comparison.close();
    await redis.stop();
  });

  async function holds(commands: fc.Arbitrary<(readonly string[])[]>): Promise<void> {
    const property = fc.asyncProperty(commands, async (list) => {
      assert.equal(await comparison.compare(list), undefined);
    });
    const upTo = comparison.count() + COMPARED / 2;
    while (comparison.count() < upTo) await fc.assert(property, { numRuns: 50 });
  }

  it('answers random commands', () => holds(fc.array(randomCommand, { minLength: 1, maxLength: LENGTH, size: 'max' })));
});
