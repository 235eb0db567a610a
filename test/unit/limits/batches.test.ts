import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Charge, type ChargeMemory, uncountedDecision } from '../../../gateway/limits/counters/counter-store.ts';
import { createBatches } from '../../../gateway/limits/counters/redis/batches.ts';
import type { RedisLink } from '../../../gateway/limits/counters/redis/link.ts';
import { createRefusalCache } from '../../../gateway/limits/counters/refusal-cache.ts';
import { REAL_MACHINE } from '../../../gateway/shared/machine.ts';

const WAIT_MS = 5;
const NOW = 1_795_190_400_000;

interface Command {
  readonly requests: number;
  /** Admits all of its requests, or refuses them with a wait. */
  answer(waitMs?: number): Promise<void>;
  fail(): Promise<void>;
}

/** Servers that answer when the test says so, on a clock that stands. */
function setUp() {
  const commands: Command[] = [];
  let turns: (() => void)[] = [];
  const timers = new Map<object, { dueMs: number; run: () => void }>();
  let nowMs = 0;
  const machine = {
    ...REAL_MACHINE,
    performance: { now: () => nowMs },
    setImmediate: <Args extends unknown[]>(run: (...args: Args) => void, ...args: Args) =>
      turns.push(() => run(...args)),
    setTimeout<Args extends unknown[]>(run: (...args: Args) => void, ms: number, ...args: Args) {
      const timer = { unref: () => timer, refresh: () => timer };
      timers.set(timer, { dueMs: nowMs + ms, run: () => run(...args) });
      return timer;
    },
    clearTimeout: (timer: object | undefined) => void timers.delete(timer ?? {}),
  };
  const refusals = createRefusalCache(machine.performance.now);
  const decide = createBatches({
    decideByFallback: () => uncountedDecision('admitted', NOW, 'allow'),
    refusals,
    machine,
  });
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  function createServer(): RedisLink {
    const run = (_clockMs: number, encodedCharges: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
      const requests = encodedCharges.split('"counter"').length - 1;
      commands.push({
        requests,
        async answer(waitMs = 0) {
          const figures = [0, waitMs > 0 ? 0 : 9, waitMs, waitMs];
          resolve([NOW, ...Array.from({ length: requests }, () => figures).flat()]);
          await settled();
        },
        async fail() {
          reject(new Error('away'));
          await settled();
        },
      });
      return promise;
    };
    return { run } as unknown as RedisLink;
  }

  return {
    createServer,
    decide,
    refusals,
    commands,
    timers,
    ask(server: RedisLink, count: number): Promise<string>[] {
      return Array.from({ length: count }, async () => (await decide(server, [charge], undefined)).source);
    },
    endTurn() {
      const ended = turns;
      turns = [];
      for (const run of ended) run();
    },
    advance(ms: number) {
      nowMs += ms;
      for (const [timer, { dueMs, run }] of timers) {
        if (dueMs > nowMs) continue;
        timers.delete(timer);
        run();
      }
    },
  };
}

const charge: Charge = {
  counter: 'counter',
  policy: 'requests',
  requests: 10,
  windowSeconds: 60,
  windowMs: 60_000,
  cost: 1,
  enforce: true,
};

test('requests of one turn share a command, each server has its own', async () => {
  const { createServer, commands, ask, endTurn } = setUp();
  const [first, second] = [createServer(), createServer()];
  const answers = [...ask(first, 3), ...ask(second, 2)];
  assert.equal(commands.length, 0);
  endTurn();
  assert.deepEqual(
    commands.map(({ requests }) => requests),
    [3, 2],
  );
  for (const command of commands) await command.answer();
  assert.deepEqual(await Promise.all(answers), Array(5).fill('redis'));
});

test('while a command is in progress, the requests of later turns share the next one', async () => {
  const { createServer, commands, timers, ask, endTurn } = setUp();
  const server = createServer();
  const answers = ask(server, 1);
  endTurn();
  for (let turn = 0; turn < 3; turn += 1) {
    answers.push(...ask(server, 2));
    endTurn();
  }
  assert.equal(commands.length, 1);
  await commands[0]?.answer();
  assert.equal(timers.size, 0, 'no timer is left of the wait');
  // What arrives in the turn of the reply goes with it, too.
  answers.push(...ask(server, 1));
  assert.equal(commands.length, 1);
  endTurn();
  assert.deepEqual(
    commands.map(({ requests }) => requests),
    [1, 7],
  );
  await commands[1]?.answer();
  assert.deepEqual(await Promise.all(answers), Array(8).fill('redis'));
  endTurn();
  assert.equal(commands.length, 2, 'nothing is sent without requests');
});

test('a slow server gets the next command after a short wait', async () => {
  const { createServer, commands, ask, endTurn, advance } = setUp();
  const server = createServer();
  const answers = ask(server, 1);
  endTurn();
  answers.push(...ask(server, 2));
  endTurn();
  advance(WAIT_MS - 1);
  assert.equal(commands.length, 1);
  advance(1);
  assert.equal(commands.length, 2);
  answers.push(...ask(server, 3));
  // Still one command in progress: the third batch waits for it.
  await commands[1]?.answer();
  endTurn();
  assert.equal(commands.length, 2);
  await commands[0]?.answer();
  endTurn();
  assert.equal(commands.length, 3);
  await commands[2]?.answer();
  assert.deepEqual(await Promise.all(answers), Array(6).fill('redis'));
});

test('requests that wait for a command are decided at once when it fails', async () => {
  const { createServer, commands, ask, endTurn } = setUp();
  const server = createServer();
  const answers = ask(server, 1);
  endTurn();
  answers.push(...ask(server, 2));
  await commands[0]?.fail();
  endTurn();
  assert.equal(commands.length, 2);
  await commands[1]?.fail();
  assert.deepEqual(await Promise.all(answers), Array(3).fill('allow'));
});

test('a full batch waits for nothing', async () => {
  const { createServer, commands, ask, endTurn } = setUp();
  const server = createServer();
  const answers = ask(server, 1);
  endTurn();
  answers.push(...ask(server, 300));
  assert.deepEqual(
    commands.map(({ requests }) => requests),
    [1, 256],
  );
  await commands[0]?.answer();
  await commands[1]?.answer();
  endTurn();
  assert.equal(commands[2]?.requests, 44);
  await commands[2]?.answer();
  assert.deepEqual(await Promise.all(answers), Array(301).fill('redis'));
});

test('a refusal that was decided before a reset, and arrives after it, is not remembered', async () => {
  const { createServer, decide, refusals, commands, endTurn } = setUp();
  const memory: ChargeMemory = { sharedCharges: [charge], encoded: '', refusal: undefined };
  const server = createServer();
  for (const isReset of [true, false]) {
    const decided = decide(server, [charge], memory);
    endTurn();
    if (isReset) refusals.clear();
    await commands.at(-1)?.answer(5000);
    assert.equal((await decided).outcome, 'refused');
    assert.equal(refusals.get(memory) === undefined, isReset);
  }
});
