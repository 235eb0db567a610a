// The model of Redis gives the answers of a real server, command by command and script by script. `COMPARED=1000000` compares so many, half of
// them random commands and half what the stores of the gateway send.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { startServer, type TestRedis } from '../../support/redis.ts';
import { createComparingConnect } from './comparing-client.ts';
import { ageCommand, type Comparison, clockCommands, openComparison } from './comparison.ts';
import { randomCommand } from './random-commands.ts';
import { openStores, randomUses, timePasses } from './random-stores.ts';

const COMPARED = Number(process.env.COMPARED ?? 10_000);
const LENGTH = 100;
/** Uses of one store, one after another. */
const USES = 60;

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

  it('answers random commands', async () => {
    const commands = fc.array(randomCommand, { minLength: 1, maxLength: LENGTH, size: 'max' });
    const property = fc.asyncProperty(commands, async (list) => {
      assert.equal(await comparison.compare(list), undefined);
    });
    while (comparison.count() < COMPARED / 2) await fc.assert(property, { numRuns: 50 });
  });

  it('runs the scripts of all stores', async () => {
    const steps = fc.tuple(randomUses, fc.array(timePasses, { minLength: USES, maxLength: USES }));
    const property = fc.asyncProperty(steps, async ([uses, spansMs]) => {
      await comparison.clear();
      const differences: string[] = [];
      const connect = createComparingConnect(comparison, (sentence) => void differences.push(sentence));
      let nowMs = 1_767_225_600_000;
      for (const command of clockCommands(nowMs)) await comparison.run(command);
      const stores = await openStores(connect);
      for (const [index, use] of uses.entries()) {
        const spanMs = spansMs[index] ?? 0;
        if (spanMs > 0) {
          nowMs += spanMs;
          for (const command of [...clockCommands(nowMs), ageCommand(spanMs)]) await comparison.run(command);
        }
        // A store may refuse what is asked of it.
        await Promise.resolve()
          .then(() => use(stores, index + 1))
          .catch(() => undefined);
        assert.deepEqual(differences, []);
      }
      for (const store of [stores.keys, stores.answers, stores.acme, stores.sessions]) await store.close();
    });
    const upTo = comparison.count() + COMPARED / 2;
    while (comparison.count() < upTo) await fc.assert(property, { numRuns: 20 });
  });
});
