// How long nothing is started in the place of a worker that died: replacements that die young wait longer and longer, but only while
// other workers serve.

import assert from 'node:assert/strict';
import { afterEach, it, mock } from 'node:test';
import type { Ready } from '../../../gateway/workers/messages.ts';
import type { WorkerEnd, WorkerProcess } from '../../../gateway/workers/process.ts';
import { WorkerPool } from '../../../gateway/workers/worker-pool.ts';

const backOff = { steadyMs: 10_000, firstMs: 500, longestMs: 30_000 };

interface FakeWorker extends WorkerProcess {
  die(servedMs?: number): Promise<void>;
}

function fakeWorker(number: number): FakeWorker {
  const ended = Promise.withResolvers<WorkerEnd>();
  let isOver = false;
  return {
    number,
    pid: 0,
    state: () => (isOver ? 'ended' : 'serving'),
    sinceMs: () => 0,
    heardAtMs: () => 0,
    isLate: () => false,
    ready: Promise.resolve({} as Ready),
    ended: ended.promise,
    output: undefined,
    metrics: { note: () => undefined, end: async () => undefined },
    ask: () => Promise.resolve(undefined),
    reload: () => undefined,
    stop: () => ended.promise,
    kill: () => undefined,
    async die(servedMs = 0) {
      isOver = true;
      ended.resolve({ servedMs, code: 1, signal: null });
      await settled();
    },
  };
}

/** The reactions to resolved promises have run. */
async function settled(): Promise<void> {
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
}

async function crewOf(size: number) {
  mock.timers.enable({ apis: ['setTimeout'] });
  const delays: number[] = [];
  const latest = new Map<number, FakeWorker>();
  const crew = new WorkerPool({
    size,
    backOff,
    now: () => 0,
    start(number) {
      const worker = fakeWorker(number);
      latest.set(number, worker);
      return worker;
    },
    onDeath: (_worker, _how, delayMs) => delays.push(delayMs),
    onStartFailure: () => undefined,
    onReplaced: () => undefined,
  });
  await crew.begin();
  return { crew, delays, worker: (number: number) => latest.get(number) as FakeWorker };
}

afterEach(() => mock.timers.reset());

it('while others serve, replacements that die young wait longer each time', async () => {
  const { delays, worker } = await crewOf(2);
  for (const waitMs of [0, 500, 1000, 2000]) {
    await worker(1).die();
    mock.timers.tick(waitMs);
  }
  assert.deepEqual(delays, [0, 500, 1000, 2000]);
});

it('the last one is replaced soon, however often that happens', async () => {
  const { crew, delays, worker } = await crewOf(2);
  for (const waitMs of [0, 500, 1000]) {
    await worker(1).die();
    mock.timers.tick(waitMs);
  }
  await worker(1).die();
  assert.equal(delays.at(-1), 2000);
  await worker(2).die();
  assert.equal(delays.at(-1), 0);
  mock.timers.tick(0);
  await worker(2).die();
  assert.equal(delays.at(-1), 500);
  assert.equal(crew.places()[1]?.waitsUntilMs, 500);
  const [first, second] = [worker(1), worker(2)];
  mock.timers.tick(500);
  assert.notEqual(worker(2), second);
  assert.equal(worker(1), first, 'the other place goes on waiting');
  await worker(2).die();
  assert.equal(delays.at(-1), 500);
});

it('a single worker waits for half a second at most', async () => {
  const { delays, worker } = await crewOf(1);
  for (let time = 0; time < 8; time += 1) {
    await worker(1).die();
    mock.timers.tick(500);
  }
  assert.deepEqual(delays, [0, ...new Array(7).fill(500)]);
});
