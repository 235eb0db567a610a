// Idempotent writes: clients send and repeat writes with an Idempotency-Key through any gateway, the stage `replay` recognises them, and a service
// behind executes them. The answers are in Redis, or in SQLite files of one machine.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import type { Checked, Forwardable as Fresh } from '../../../gateway/exchange/exchange.ts';
import type { ConnectRedis } from '../../../gateway/redis/client.ts';
import { createRedisReplayStore } from '../../../gateway/replay/redis-store.ts';
import { createReplay, LEASE_MARGIN_MS, type Replay } from '../../../gateway/replay/replay.ts';
import type { ReplayStore } from '../../../gateway/replay/replay-store.ts';
import { createSqliteReplayStore } from '../../../gateway/replay/sqlite-store.ts';
import { EffectChecker } from '../checkers/effects.ts';
import { Deployment, type Place } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { Random } from '../engine/random.ts';
import type { World } from '../engine/world.ts';
import type { Protocol, Running } from '../protocol.ts';

const TIMEOUT_MS = 8000;
const RETAIN_SECONDS = 3600;
const RETAIN_MS = RETAIN_SECONDS * 1000;
const WRITE_GAP_MS = 2000;
/** Clients give up waiting for an answer after so long. */
const PATIENCE_MS = 15_000;

export const idempotencyProtocol: Protocol = {
  name: 'idempotency',
  processesMax: 3,
  calmMs: 10 * 60_000,
  faults: {
    pause: 3,
    suspend: 1,
    hesitate: 2,
    kill: 3,
    stop: 3,
    cut: 3,
    break: 3,
    slow: 1,
    'redis pause': 2,
    'redis restart': 1,
    'redis restart without the tail': 1,
    'redis restart empty': 1,
    'redis failover': 3,
    'redis failover to a late replica': 5,
    'redis lag': 2,
    'redis clock': 1,
    'redis full': 1,
    'redis evict': 1,
  },
  start(world, processes) {
    const random = world.random.named('idempotency');
    return startIdempotency(world, processes, random, drawnSetting(random));
  },
};

/** The same with one promise in view: what a replica has confirmed is lost only with everything else. */
export const replicasProtocol: Protocol = {
  name: 'replicas',
  processesMax: 3,
  calmMs: 2 * 60_000,
  faults: { pause: 1, kill: 1, break: 1, 'redis failover': 2, 'redis failover to a late replica': 8, 'redis lag': 2 },
  start: (world, processes) =>
    startIdempotency(world, processes, world.random.named('replicas'), {
      service: 'refuses',
      replicas: 1,
      isInRedis: true,
    }),
};

/** What happens to a repetition whose outcome is unknown. */
type Service = 'refuses' | 'runs again' | 'honours keys';

/** What a simulation is about. */
interface Setting {
  readonly service: Service;
  readonly replicas: number;
  readonly isInRedis: boolean;
}

function drawnSetting(random: Random): Setting {
  const service: Service = random.pick(['refuses', 'refuses', 'runs again', 'honours keys']);
  return { service, replicas: random.pick([0, 1]), isInRedis: !random.chance(0.3) };
}

interface Gateway {
  readonly process: SimulatedProcess;
  readonly idempotency: Replay;
  readonly underWay: Set<unknown>;
}

function startIdempotency(
  world: World,
  processes: number,
  random: Random,
  { service, replicas, isInRedis }: Setting,
): Running {
  const directory = isInRedis ? undefined : mkdtempSync(join(tmpdir(), 'simulated-answers-'));
  const gateways = new Map<Place, Gateway>();
  const stores: ReplayStore[] = [];

  const deployment = new Deployment(world, processes, (place, process, connect) => {
    void openStore(process, connect, directory).then((store) => {
      stores.push(store);
      const { machine } = process;
      const idempotency = createReplay({
        store,
        timeoutMs: () => TIMEOUT_MS,
        honoursKey: () => service === 'honours keys',
        runsUnknown: () => service === 'runs again',
        retainSeconds: RETAIN_SECONDS,
        answerBytesMax: 100_000,
        organizationBytesMax: 100_000_000,
        replicas: directory === undefined ? replicas : 0,
        replicasTimeoutMs: 100,
        onUnprotected: () => undefined,
        now: machine.now,
        machine,
      });
      const underWay = new Set<unknown>();
      gateways.set(place, { process, idempotency, underWay });
      place.stop = async () => {
        gateways.delete(place);
        await Promise.all(underWay);
        await idempotency.close();
      };
    });
  });

  const checker = new EffectChecker(world, {
    retainMs: RETAIN_MS,
    repeatsUnknown(begunMs) {
      if (service !== 'runs again') return 'never';
      return deployment.disturbances.isCalmSince(begunMs) ? 'unless it was told' : 'always';
    },
    mayBeForgotten(begunMs, sentMs) {
      if (directory !== undefined) return false;
      const { redis } = deployment;
      // What a replica has confirmed is lost only with everything else.
      const untilMs = replicas > 0 ? 0 : sentMs;
      const isLost = redis.losses().some(({ atMs, sinceMs }) => atMs >= begunMs && sinceMs <= untilMs);
      // By a clock that was set ahead, it has been kept for longer.
      const jumps = redis.jumps().filter(({ atMs, byMs }) => atMs >= begunMs && byMs > 0);
      const keptMs = jumps.reduce((sum, { byMs }) => sum + byMs, world.now() - begunMs);
      return isLost || keptMs > RETAIN_MS * 0.9;
    },
  });
  const upstream = createUpstream(world, checker, service === 'honours keys');

  let writes = 0;
  function begin(): void {
    writes += 1;
    const client = createClient(`key-${writes}`);
    client.repeat(random.pick([1, 1, 2, 4]));
    world.after(random.between(0, 2 * WRITE_GAP_MS), begin);
  }
  world.after(1500, begin);

  /** One write of one client, and its repetitions. */
  function createClient(key: string) {
    let isSound = true;
    let lastSentMs = 0;
    let sends = 0;
    const outcomes: string[] = [];

    /** Sends it so many times at once, through any gateways. */
    function repeat(times: number): void {
      for (let count = 0; count < times; count += 1) sendOnce();
      const isLater = random.chance(0.15);
      if (outcomes.length < 12 && random.chance(0.8))
        world.after(isLater ? random.between(60_000, 900_000) : random.between(0, 6000), () => repeat(1));
    }

    function sendOnce(): void {
      const place = random.pick(deployment.places);
      const gateway = gateways.get(place);
      if (gateway === undefined || gateway.process !== place.process || !gateway.process.isAlive()) return;
      const { process, idempotency, underWay } = gateway;
      const sentMs = world.now();
      lastSentMs = sentMs;
      sends += 1;
      let isWaiting = true;
      world.after(PATIENCE_MS, () => {
        isWaiting = false;
      });
      process.enter('message', () => {
        const handled = handle(place, process, idempotency, key, upstream);
        underWay.add(handled);
        void handled.then(({ outcome, isLost }) => {
          underWay.delete(handled);
          world.note(place.name, `${outcome} for ${key}`);
          if (isLost) isSound = false;
          if (isWaiting) note(outcome, sentMs);
        });
      });
    }

    function note(outcome: string, sentMs: number): void {
      outcomes.push(outcome);
      if (outcome.startsWith('effect')) checker.answered(key, outcome);
      const calm = deployment.disturbances.isCalmSince(sentMs - TIMEOUT_MS - LEASE_MARGIN_MS - 5000);
      if (outcome === 'gateway_overloaded' && calm)
        world.violate('progress', `${key}: nothing is out of order, and the answer is ${outcome}`);
      if (outcome === 'idempotency_outcome_unknown' && calm && isSound && sends === 1)
        world.violate('progress', `${key} is sent for the first time, and its outcome is unknown`);
      if (
        outcome === 'idempotency_key_in_use' &&
        calm &&
        world.now() - lastSentMs > TIMEOUT_MS + LEASE_MARGIN_MS + 5000
      )
        world.violate('progress', `${key} is in use, and no request is on its way`);
    }

    return { repeat };
  }

  return {
    deployment,
    finish: () => undefined,
    close() {
      for (const store of stores) void store.close();
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function openStore(
  process: SimulatedProcess,
  connect: ConnectRedis,
  directory: string | undefined,
): Promise<ReplayStore> {
  const { machine } = process;
  const onChange = () => undefined;
  if (directory !== undefined) return createSqliteReplayStore({ directory, now: machine.now, onChange, machine });
  return createRedisReplayStore({ url: 'redis://simulated', onChange, connect });
}

interface Upstream {
  /** Whether it can be connected to. */
  isThere(): boolean;
  /** Resolves with its answer; undefined: none comes. */
  send(process: SimulatedProcess, key: string, begunMs: number): Promise<string | undefined>;
}

/** A service that executes writes, sometimes slowly, and whose answers are sometimes lost. */
function createUpstream(world: World, checker: EffectChecker, honoursKeys: boolean): Upstream {
  const random = world.random.named('upstream');
  const executed = new Map<string, string>();
  let effects = 0;

  function execute(key: string, begunMs: number, sentMs: number): string {
    const known = honoursKeys ? executed.get(key) : undefined;
    if (known !== undefined) return known;
    effects += 1;
    const id = `effect-${effects}`;
    executed.set(key, id);
    world.note('service', `executes ${key} as ${id}`);
    checker.executed(key, id, begunMs, sentMs);
    return id;
  }

  return {
    isThere: () => random.chance(0.97),
    send(process, key, begunMs) {
      const sentMs = world.now();
      return new Promise((resolve) => {
        const isSlow = random.chance(0.05);
        world.after(isSlow ? random.between(100, 2 * TIMEOUT_MS) : random.between(1, 30), () => {
          const id = execute(key, begunMs, sentMs);
          const isLost = random.chance(0.04);
          const answer = () => process.enter('message', () => resolve(isLost ? undefined : id));
          world.after(isLost ? 10 * TIMEOUT_MS : random.between(1, 30), answer);
        });
      });
    },
  };
}

/** What a request came to; `isLost`: the answer of the service was late or lost. */
interface Handled {
  readonly outcome: string;
  readonly isLost: boolean;
}

/** One request through the stages that matter here: `replay`, then what `forward` does with the recording. */
async function handle(
  place: Place,
  process: SimulatedProcess,
  idempotency: Replay,
  key: string,
  upstream: Upstream,
): Promise<Handled> {
  const { world, machine } = process;
  const begunMs = world.now();
  const replayed: Buffer[] = [];
  try {
    const fresh = await idempotency.replay(requestWith(key, `req-${machine.randomUUID().slice(0, 12)}`, replayed));
    if (fresh === undefined) return { outcome: String(replayed[0]), isLost: false };
    return await forward(fresh, process, key, upstream, begunMs);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    world.note(place.name, error.code);
    return { outcome: error.code, isLost: false };
  }
}

async function forward(
  { recording }: Fresh,
  process: SimulatedProcess,
  key: string,
  upstream: Upstream,
  begunMs: number,
): Promise<Handled> {
  const { machine } = process;
  try {
    if (machine.random() < 0.1) await machine.sleep(machine.random() * 3000);
    if (!upstream.isThere()) throw new GatewayError('upstream_unreachable');
    recording?.sent();
    const answer = await answerInTime(machine, upstream.send(process, key, begunMs));
    if (answer === undefined) throw new GatewayError('upstream_timeout');
    await recording?.keep({ status: 201, headers: [], body: Buffer.from(answer) });
    return { outcome: answer, isLost: false };
  } catch (error) {
    await recording?.endWithoutAnswer(error);
    const { code } = error as GatewayError;
    return { outcome: code, isLost: code === 'upstream_timeout' };
  }
}

function answerInTime(
  machine: SimulatedProcess['machine'],
  answer: Promise<string | undefined>,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    machine.setTimeout(() => resolve(undefined), TIMEOUT_MS);
    void answer.then(resolve);
  });
}

/** A checked request, with the members that the stage reads. */
function requestWith(key: string, id: string, replayed: Buffer[]): Checked {
  const response = { destroyed: false, writeHead: () => undefined, end: (body: Buffer) => replayed.push(body) };
  return {
    id,
    request: {},
    response,
    operation: { id: 'create', upstream: 'service', idempotency: 'optional', body: 'buffer' },
    caller: { organization: { id: 'org_a' }, mode: 'live' },
    headers: { get: (name: string) => (name === 'idempotency-key' ? key : undefined) },
    path: '/v1/things',
    search: '',
    hasBody: true,
    rawBody: Buffer.from('{}'),
    commonHeaders: [],
    trail: { note: () => undefined },
  } as unknown as Checked;
}
