// Idempotent writes: clients send and repeat writes with an Idempotency-Key through any gateway, the stage `replay` recognises them, and a
// service behind executes them. The answers are in Redis, or in SQLite files of one machine.

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
import { createService, type KeyedWrite, type Service } from './idempotent-service.ts';

const TIMEOUT_MS = 8000;
const RETAIN_SECONDS = 3600;
const RETAIN_MS = RETAIN_SECONDS * 1000;
const WRITE_GAP_MS = 2000;
/** Clients give up waiting for an answer after so long. */
const PATIENCE_MS = 15_000;
/** This share of clients takes a key for another body, too. */
const CARELESS = 0.1;
const BODIES = ['{"a":1}', '{"b":2}'] as const;
const ANSWER_BYTES = 1000;
/** Some organizations may store ten answers or so, most of them all. */
const BYTES_MAX = [100_000_000, 100_000_000, 10 * ANSWER_BYTES] as const;

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
      reaction: 'refuses',
      replicas: 1,
      bytesMax: BYTES_MAX[0],
      isInRedis: true,
    }),
};

/** What happens to a repetition whose outcome is unknown. */
type Reaction = 'refuses' | 'runs again' | 'honours keys';

/** What a simulation is about. */
interface Setting {
  readonly reaction: Reaction;
  readonly replicas: number;
  /** What the organization may store. */
  readonly bytesMax: number;
  readonly isInRedis: boolean;
}

function drawnSetting(random: Random): Setting {
  const reaction: Reaction = random.pick(['refuses', 'refuses', 'runs again', 'honours keys']);
  const bytesMax = random.pick(BYTES_MAX);
  return { reaction, bytesMax, replicas: random.pick([0, 1]), isInRedis: !random.chance(0.3) };
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
  { reaction, replicas, bytesMax, isInRedis }: Setting,
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
        honoursKey: () => reaction === 'honours keys',
        runsUnknown: () => reaction === 'runs again',
        retainSeconds: RETAIN_SECONDS,
        answerBytesMax: 100_000,
        organizationBytesMax: bytesMax,
        replicas: directory === undefined ? replicas : 0,
        replicasTimeoutMs: 100,
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
    bytesMax,
    repeatsUnknown(begunMs) {
      if (reaction !== 'runs again') return 'never';
      return deployment.disturbances.isCalmSince(begunMs) ? 'unless it was told' : 'always';
    },
    ageMs(begunMs) {
      const jumps = directory === undefined ? deployment.redis.jumps() : [];
      const ahead = jumps.filter(({ atMs, byMs }) => atMs >= begunMs && byMs > 0);
      return ahead.reduce((sum, { byMs }) => sum + byMs, world.now() - begunMs);
    },
    mayBeLost(begunMs, sentMs) {
      // What a replica has confirmed is lost only with everything else.
      const untilMs = replicas > 0 ? 0 : sentMs;
      const losses = directory === undefined ? deployment.redis.losses() : [];
      return losses.some(({ atMs, sinceMs }) => atMs >= begunMs && sinceMs <= untilMs);
    },
  });
  const honoursKeys = reaction === 'honours keys';
  const service = createService({ world, checker, honoursKeys, slowestMs: 2 * TIMEOUT_MS });

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
    const bodies = random.chance(CARELESS) ? BODIES : ([BODIES[0]] as const);
    const tried = new Set<string>();

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
      const write = { key, body: random.pick(bodies) };
      tried.add(write.body);
      const sentMs = world.now();
      lastSentMs = sentMs;
      sends += 1;
      let isWaiting = true;
      world.after(PATIENCE_MS, () => {
        isWaiting = false;
      });
      process.enter('message', () => {
        const handled = handle(place, process, idempotency, write, service);
        underWay.add(handled);
        void handled.then((result) => {
          const { outcome, isLost } = result;
          underWay.delete(handled);
          world.note(place.name, `${outcome} for ${key}`);
          if (isLost) isSound = false;
          if (isWaiting) note(write, result, sentMs);
        });
      });
    }

    function note(write: KeyedWrite, { outcome, isReplayed = false }: Handled, sentMs: number): void {
      outcomes.push(outcome);
      if (outcome.startsWith('effect')) checker.answered(write, outcome, isReplayed ? ANSWER_BYTES : 0);
      if (outcome === 'idempotency_result_not_retained') checker.notRetained(write);
      if (outcome === 'idempotency_key_reused' && tried.size === 1)
        world.violate('effects', `${key} is refused for another body, and there was none`);
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

/** What a request came to; `isLost`: the answer of the service was late or lost. */
interface Handled {
  readonly outcome: string;
  readonly isLost: boolean;
  /** It was the stored answer. */
  readonly isReplayed?: boolean;
}

/** One request through the stages that matter here: `replay`, then what `forward` does with the recording. */
async function handle(
  place: Place,
  process: SimulatedProcess,
  idempotency: Replay,
  write: KeyedWrite,
  service: Service,
): Promise<Handled> {
  const { world, machine } = process;
  const begunMs = world.now();
  const replayed: Buffer[] = [];
  try {
    const fresh = await idempotency.replay(requestWith(write, `req-${machine.randomUUID().slice(0, 12)}`, replayed));
    if (fresh === undefined) return { outcome: String(replayed[0]).trimEnd(), isLost: false, isReplayed: true };
    return await forward(fresh, process, write, service, begunMs);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    world.note(place.name, error.code);
    return { outcome: error.code, isLost: false };
  }
}

async function forward(
  { recording }: Fresh,
  process: SimulatedProcess,
  write: KeyedWrite,
  service: Service,
  begunMs: number,
): Promise<Handled> {
  const { machine } = process;
  try {
    if (machine.random() < 0.1) await machine.sleep(machine.random() * 3000);
    if (!service.isThere()) throw new GatewayError('upstream_unreachable');
    recording?.sent();
    const answer = await answerInTime(machine, service.send(process, write, begunMs));
    if (answer === undefined) throw new GatewayError('upstream_timeout');
    await recording?.keep({ status: 201, headers: [], body: Buffer.from(answer.padEnd(ANSWER_BYTES)) });
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
function requestWith({ key, body }: KeyedWrite, id: string, replayed: Buffer[]): Checked {
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
    rawBody: Buffer.from(body),
    commonHeaders: [],
    state: {},
    trail: { note: () => undefined },
  } as unknown as Checked;
}
