// Limits: several gateways charge the requests of some organizations to counters in one Redis, by the stage `limit` with its store, refusal
// cache and outage policies. In some simulations, an operator resets limits meanwhile.

import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import type { OutagePolicy } from '../../../gateway/limits/counters/counter-store.ts';
import { createRedisCounterStore } from '../../../gateway/limits/counters/redis/redis-counter-store.ts';
import { createLimit } from '../../../gateway/limits/limit.ts';
import type { LimitRules } from '../../../gateway/limits/limit-rules.ts';
import type { ConnectRedis } from '../../../gateway/redis/client.ts';
import { createForwardClock } from '../../../gateway/shared/machine.ts';
import { caller, operation, organization, permitted, rule, rules } from '../../unit/limits/parties.ts';
import { type Answered, WindowChecker } from '../checkers/window.ts';
import { Deployment, type Place } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { World } from '../engine/world.ts';
import type { Protocol, Running } from '../protocol.ts';
import { beginOperator, followResets } from './limit-operator.ts';

const SHAPES = [
  { limit: 5, windowSeconds: 10 },
  { limit: 30, windowSeconds: 60 },
  { limit: 250, windowSeconds: 60 },
  { limit: 60, windowSeconds: 3600 },
] as const;
const POLICIES = ['local', 'local', 'refuse', 'allow'] as const;
const ORGANIZATIONS = 3;
const COST_MAX = 3;
const OPERATED = 0.3;
/** Requests of a burst come within such a time: at once, or so that they share pieces of a window. */
const BURSTS_MS = [0, 200, 2000] as const;

export const limitsProtocol: Protocol = {
  name: 'limits',
  processesMax: 4,
  calmMs: 20 * 60_000,
  faults: {
    pause: 2,
    suspend: 1,
    hesitate: 2,
    kill: 2,
    clock: 1,
    cut: 3,
    break: 2,
    slow: 1,
    'redis pause': 2,
    'redis restart': 1,
    'redis restart without the tail': 1,
    'redis restart empty': 1,
    'redis failover': 2,
    'redis lag': 1,
    'redis clock': 1,
    'redis clock for a while': 2,
    'redis full': 1,
    'redis evict': 1,
  },
  start: startLimits,
};

type Stage = ReturnType<typeof createLimit>;

function startLimits(world: World, processes: number): Running {
  const random = world.random.named('limits');
  const whenStoreIsAway: OutagePolicy = random.pick(POLICIES);
  const customers = Array.from({ length: ORGANIZATIONS }, (_, index) => ({
    ...random.pick(SHAPES),
    id: `org-${index + 1}`,
    load: random.pick([0.5, 1, 3]),
    random: random.named(`org-${index + 1}`),
  }));
  const limitRules: LimitRules = rules({
    whenStoreIsAway,
    tiers: { standard: rule(1) },
    organizations: Object.fromEntries(
      customers.map(({ id, limit, windowSeconds }) => [id, rule(limit, { windowSeconds })]),
    ),
  });
  const stages = new Map<Place, { process: SimulatedProcess; stage: Stage; callerOf: ReturnType<typeof callers> }>();
  const kills: number[] = [];
  const isOperated = random.chance(OPERATED);
  const checkers = new Map<string, WindowChecker>();

  const deployment = new Deployment(world, processes, (place, process, connect) => {
    if (place.starts > 1) kills.push(world.now());
    const now = createForwardClock(process.machine.now);
    const store = openCounters(process, connect, now);
    if (isOperated) void followResets(process, connect, store);
    stages.set(place, { process, stage: createLimit({ store, rules: limitRules, now }), callerOf: callers() });
  });

  function openCounters({ machine }: SimulatedProcess, connect: ConnectRedis, now = machine.now) {
    return createRedisCounterStore({
      url: 'redis://simulated',
      whenStoreIsAway: () => whenStoreIsAway,
      now,
      instances: () => processes,
      connect,
      machine,
    });
  }

  for (const customer of customers) {
    const { id, limit, windowSeconds, load, random } = customer;
    const windowMs = windowSeconds * 1000;
    const losses = () => [
      ...[...deployment.redis.losses(), ...deployment.redis.jumps()].map(({ atMs }) => atMs),
      ...kills,
      ...deployment.clockJumpsMs,
    ];
    const isBounded = whenStoreIsAway !== 'allow';
    const localLimit = processes * Math.min(limit, Math.max(COST_MAX, Math.floor(limit / processes)));
    const checker = new WindowChecker(deployment, id, { limit, localLimit, windowMs, isBounded }, losses);
    checkers.set(id, checker);
    const usualGapMs = windowMs / limit / load;
    const send = () => {
      const isBurst = random.chance(0.05);
      const withinMs = isBurst ? random.pick(BURSTS_MS) : 0;
      for (let count = isBurst ? 1 + random.below(limit) : 1; count > 0; count -= 1) {
        const [place, cost] = [random.pick(deployment.places), random.chance(0.1) ? 1 + random.below(COST_MAX) : 1];
        world.after(random.between(0, withinMs), () => void request(id, place, cost, checker));
      }
      world.after(random.between(0, 2 * usualGapMs) * (isBurst ? limit / 2 : 1), send);
    };
    world.after(random.between(1000, 5000), send);
  }
  if (isOperated) beginOperator({ deployment, rules: limitRules, checkers, openCounters });

  async function request(id: string, place: Place, cost: number, checker: WindowChecker): Promise<void> {
    const { process, stage, callerOf } = stages.get(place) as NonNullable<ReturnType<typeof stages.get>>;
    if (!process.isRunning()) return;
    const sentMs = world.now();
    const answered = (): Answered => ({ sentMs, answeredMs: world.now(), cost });
    const exchange = permitted(callerOf(id), operationOf(cost));
    try {
      await stage(exchange);
      world.note(place.name, `admits ${cost} of ${id}, by ${exchange.trail.limitSource}`);
      checker.admitted(answered());
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      world.note(place.name, `refuses ${cost} of ${id}: ${error.code}`);
      if (error.code === 'rate_limited') checker.refused(answered(), 1000 * (error.details.retryAfterSeconds ?? 0));
      else if (error.code !== 'gateway_overloaded')
        world.violate('catalogue', `${error.code} from the stage of limits`);
      else if (whenStoreIsAway !== 'refuse' || deployment.disturbances.isCalmSince(sentMs))
        world.violate('progress', `${place.name} refused a request, although Redis counts`);
    }
  }

  return { deployment, finish: () => undefined };
}

const operations = Array.from({ length: COST_MAX }, (_, index) => operation(`costs-${index + 1}`, { cost: index + 1 }));
const operationOf = (cost: number) => operations[cost - 1] as (typeof operations)[number];

/** One object for each organization, as the cache of identities has it. */
function callers() {
  const known = new Map<string, ReturnType<typeof caller>>();
  return (id: string) => {
    const found = known.get(id) ?? caller(`key of ${id}`, organization(id));
    known.set(id, found);
    return found;
  };
}
