// Everything that is broken on purpose. Each fault begins, lasts, and ends; some are over as soon as they have begun.

import { setTimeout as sleep } from 'node:timers/promises';
import { createDoor } from '../attack/door.ts';
import { follow } from '../attack/fuzz/fuzz.ts';
import { planOf } from '../attack/fuzz/plan.ts';
import { damageEvery, garbageOf, noConfirmationOf, unaskedAnswer } from './garbage.ts';
import type { Random } from './random.ts';
import type { Stand, WorkerStatus } from './stand.ts';
import type { Target } from './targets.ts';

export interface Fault {
  readonly name: string;
  /** Two faults of one lane are never there at the same time. */
  readonly lane: 'targets' | 'platform';
  /** How long it lasts, milliseconds. */
  readonly lasts: readonly [least: number, most: number];
  /** Whether processes take the place of others because of it. */
  readonly replacesWorkers?: boolean;
  readonly breaksConnections?: boolean;
  readonly endsStreams?: boolean;
  readonly losesKeys?: boolean;
  /** Whether nothing may fail because of it. */
  readonly explainsNothing?: boolean;
  /** Resolves with the function that ends it. */
  begin(stand: Stand, random: Random): Promise<() => unknown>;
}

const nothing = () => undefined;
const PATIENCE_MS = 30_000;
const HOSTILE_CLIENTS = 6;

/** Of one of the targets. */
function ofTarget(
  name: string,
  lasts: Fault['lasts'],
  act: (target: Target, random: Random) => unknown,
  undo: (target: Target) => unknown,
): Fault {
  return {
    name,
    lane: 'targets',
    lasts,
    // An answer of which the client has seen the beginning. That it was sent does not mean that it was seen.
    breaksConnections: true,
    async begin({ targets }, random) {
      const target = random.pick(targets);
      await act(target, random);
      return () => undo(target);
    },
  };
}

/** Of the Redis. */
function ofRedis(
  name: string,
  lasts: Fault['lasts'],
  act: (stand: Stand, random: Random) => unknown,
  undo: (stand: Stand) => unknown,
  more = {},
): Fault {
  return {
    name,
    lane: 'platform',
    lasts,
    ...more,
    async begin(stand, random) {
      await act(stand, random);
      return () => undo(stand);
    },
  };
}

/** An idle connection sends bytes every so often. */
const INTERJECT_MS = 100;

const unaskedOnIdleConnections: Fault = {
  name: 'unasked answers on idle connections',
  lane: 'targets',
  lasts: [2000, 4000],
  breaksConnections: true,
  async begin({ targets }, random) {
    const { relay } = random.pick(targets);
    const timer = setInterval(() => relay.interject(unaskedAnswer), INTERJECT_MS);
    return () => clearInterval(timer);
  },
};

/** Other clients must not notice: failures meanwhile have to have another reason. */
const hostileClients: Fault = {
  name: 'clients that reset and send garbage',
  lane: 'platform',
  lasts: [2000, 4000],
  explainsNothing: true,
  async begin({ gateway, mailKey }, random) {
    const door = createDoor(gateway.port);
    let over = false;
    const attack = async () => {
      while (!over) await follow(planOf(random.between(0, 2 ** 31)), door, mailKey);
    };
    const attacks = Array.from({ length: HOSTILE_CLIENTS }, attack);
    return () => {
      over = true;
      return Promise.all(attacks);
    };
  },
};

export const FAULTS: readonly Fault[] = [
  ofTarget(
    'target killed',
    [1000, 3000],
    (target) => target.kill(),
    (target) => target.restart(),
  ),
  ofTarget(
    'target frozen',
    [1000, 3000],
    (target) => target.freeze(),
    (target) => target.thaw(),
  ),
  ofTarget(
    'target slow',
    [2000, 4000],
    ({ relay }, random) => relay.delay(random.between(100, 800)),
    ({ relay }) => relay.delay(0),
  ),
  ofTarget(
    'answers cut in the middle',
    [1500, 3000],
    ({ relay }, random) => relay.cutAfter(random.between(20, 6000)),
    ({ relay }) => relay.cutAfter(undefined),
  ),
  ofTarget(
    'answers reset in the middle',
    [1500, 3000],
    ({ relay }, random) => relay.cutAfter(random.between(20, 6000), 'reset'),
    ({ relay }) => relay.cutAfter(undefined),
  ),
  ofTarget(
    'garbage instead of answers',
    [1500, 3000],
    ({ relay }, random) => relay.garble(() => garbageOf(random)),
    ({ relay }) => relay.garble(undefined),
  ),
  ofTarget(
    'answers with another one behind them',
    [1500, 3000],
    ({ relay }) => relay.addBehind(unaskedAnswer),
    ({ relay }) => relay.addBehind(undefined),
  ),
  unaskedOnIdleConnections,
  ofTarget(
    'connections reset',
    [1500, 3000],
    ({ relay }) => relay.reset(true),
    ({ relay }) => relay.reset(false),
  ),
  ofRedis(
    'Redis killed, comes back with its memory',
    [1000, 3000],
    ({ redis }) => redis.kill(),
    ({ redis }) => redis.restart('kept'),
  ),
  ofRedis(
    'Redis killed, comes back empty, keys imported',
    [1000, 2000],
    ({ redis }) => redis.kill(),
    async ({ redis, importKeys }) => {
      await redis.restart('lost');
      await importKeys();
    },
    { losesKeys: true },
  ),
  ofRedis(
    'Redis slow by 500 ms',
    [2000, 4000],
    ({ redis }) => redis.relay.delay(500),
    ({ redis }) => redis.relay.delay(0),
  ),
  ofRedis(
    'Redis frozen',
    [1000, 2500],
    ({ redis }) => redis.freeze(),
    ({ redis }) => redis.thaw(),
  ),
  ofRedis(
    'replies of Redis damaged, one byte in every few',
    [2000, 4000],
    ({ redis }, random) => redis.relay.spoil(damageEvery(random.between(1, 40), random)),
    ({ redis }) => redis.relay.spoil(undefined),
  ),
  ofRedis(
    'wrong replies to SUBSCRIBE',
    [2000, 4000],
    ({ redis }, random) => {
      redis.relay.answerFor((question) => noConfirmationOf(question, random));
      redis.relay.breakAll();
    },
    ({ redis }) => redis.relay.answerFor(undefined),
  ),
  ofRedis('connections to Redis broken', [0, 0], ({ redis }) => redis.relay.breakAll(), nothing),
  {
    name: 'worker killed',
    lane: 'platform',
    lasts: [2000, 3000],
    replacesWorkers: true,
    breaksConnections: true,
    endsStreams: true,
    async begin(stand, random) {
      const serving = (await stand.workers()).filter(({ state }) => state === 'serving');
      process.kill(random.pick(serving).pid as number, 'SIGKILL');
      return () => untilTwoServe(stand, () => true);
    },
  },
  {
    name: 'every worker replaced (SIGUSR2)',
    lane: 'platform',
    lasts: [0, 0],
    replacesWorkers: true,
    endsStreams: true,
    async begin(stand) {
      const before = (await stand.workers()).map(({ pid }) => pid);
      stand.gateway.child.kill('SIGUSR2');
      return () => untilTwoServe(stand, ({ pid }) => !before.includes(pid));
    },
  },
  hostileClients,
  ofRedis('configuration saved', [500, 1500], ({ save }) => save('another'), nothing),
  ofRedis(
    'wrong configuration saved, then a good one',
    [1000, 2000],
    ({ save }) => save('a wrong one'),
    ({ save }) => save('another'),
  ),
  {
    name: 'sandbox killed',
    lane: 'platform',
    lasts: [2000, 3000],
    endsStreams: true,
    async begin(stand) {
      process.kill(stand.sandboxPid(), 'SIGKILL');
      return nothing;
    },
  },
];

/** Resolves when two workers serve of which this holds, and there are no others. */
export async function untilTwoServe(stand: Stand, holds: (worker: WorkerStatus) => boolean): Promise<void> {
  let workers: readonly WorkerStatus[] = [];
  for (const endsAt = Date.now() + PATIENCE_MS; Date.now() < endsAt; await sleep(100)) {
    workers = await stand.workers();
    if (workers.length === 2 && workers.every((worker) => worker.state === 'serving' && holds(worker))) return;
  }
  throw new Error(`There are no two workers that serve: ${JSON.stringify(workers)}`);
}
