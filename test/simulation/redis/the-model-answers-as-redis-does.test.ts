// The model of Redis gives the answers of a real server, command by command and script by script. `COMPARED=1000000` compares so many, half
// of them random commands and half what the stores of the gateway send, and needs a longer `--test-timeout`.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { startServer, type TestRedis } from '../../support/redis.ts';
import { LIMIT_RUNS } from '../../unit/limits/scenarios.ts';
import { createComparingConnect } from './comparing-client.ts';
import { ageCommand, type Comparison, clockCommands, openComparison } from './comparison.ts';
import { randomCommand } from './random-commands.ts';
import { openStores, randomUses, timePasses, type Use } from './random-stores.ts';
import { RedisError } from './reply.ts';
import { digestOf } from './scripts.ts';

const COMPARED = Number(process.env.COMPARED ?? (LIMIT_RUNS > 1 ? 20_000 : 4000));
const LENGTH = 100;
/** Uses of one store, one after another. */
const USES = 60;
/** Longer than any case takes on a machine that does not stand still. */
const CASE_MS_MAX = 2000;

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

  /**
   * Runs a case that returns the first difference. One in which the machine stood still is left out: keys expire on one server between two
   * replies.
   */
  async function expectNone(run: () => Promise<string | undefined>): Promise<void> {
    const startedAt = performance.now();
    const difference = await run();
    if (difference !== undefined) fc.pre(performance.now() - startedAt < CASE_MS_MAX);
    assert.equal(difference, undefined);
  }

  it('answers random commands', async (t) => {
    const commands = fc.array(randomCommand, { minLength: 1, maxLength: LENGTH, size: 'max' });
    const property = fc.asyncProperty(commands, (list) => expectNone(() => comparison.compare(list)));
    while (comparison.count() < COMPARED / 2) await fc.assert(property, { numRuns: 50 });
    t.diagnostic(`${comparison.count()} commands`);
  });

  it('runs the scripts of all stores', async (t) => {
    const steps = fc.tuple(randomUses, fc.array(timePasses, { minLength: USES, maxLength: USES }));
    const property = fc.asyncProperty(steps, ([uses, spansMs]) =>
      expectNone(() => compareUses(comparison, uses, spansMs, calls)),
    );
    const calls = new Map<string, number>();
    const before = comparison.count();
    while (comparison.count() < before + COMPARED / 2) await fc.assert(property, { numRuns: 20 });
    const sum = [...calls.values()].reduce((one, other) => one + other, 0);
    t.diagnostic(`${comparison.count() - before} commands, ${sum} of them calls of ${calls.size} scripts`);
  });
});

/**
 * Uses the stores of the gateway on both servers. Returns the first difference as a sentence.
 *
 * @param calls takes how often each script was run, by its digest
 */
async function compareUses(
  comparison: Comparison,
  uses: readonly Use[],
  spansMs: readonly number[],
  calls: Map<string, number>,
): Promise<string | undefined> {
  await comparison.clear();
  const differences: string[] = [];
  const run = async (command: readonly string[]) => {
    const result = await comparison.run(command);
    const [name = '', script = ''] = command;
    const digest = name === 'eval' ? digestOf(script) : script;
    // A server that does not know the digest is sent the source.
    const isUnknown = result.reply instanceof RedisError && /^NOSCRIPT/.test(result.reply.message);
    if (name.startsWith('eval') && !isUnknown) calls.set(digest, (calls.get(digest) ?? 0) + 1);
    return result;
  };
  const connect = createComparingConnect({ run }, (sentence) => void differences.push(sentence));
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
    if (differences.length > 0) return differences[0];
  }
  for (const store of [stores.keys, stores.answers, stores.acme, stores.sessions]) await store.close();
  return undefined;
}
