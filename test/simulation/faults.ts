// The faults of a simulation: a list that follows from the seed, so that single ones can be left out when a failure is made smaller.

import type { Deployment, Moment, Place } from './deployment.ts';
import type { World } from './engine/world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

type FaultKind =
  | 'pause'
  | 'stall'
  | 'suspend'
  | 'hesitate'
  | 'kill'
  | 'stop'
  | 'clock'
  | 'cut'
  | 'break'
  | 'slow'
  | 'far'
  | 'redis pause'
  | 'redis restart'
  | 'redis restart without the tail'
  | 'redis restart empty'
  | 'redis failover'
  | 'redis failover to a late replica'
  | 'redis failover behind a gateway'
  | 'redis failover after a cut'
  | 'redis failover after a write'
  | 'redis lag'
  | 'redis clock'
  | 'redis clock for a while'
  | 'redis full'
  | 'redis evict';

export interface Fault {
  readonly kind: FaultKind;
  readonly atMs: number;
  readonly forMs: number;
  /** Which process, counted from 0. */
  readonly place: number;
  /** From -1 to 1: how far a clock jumps, how much a replica lags. */
  readonly amount: number;
  /** It waits from its time on for its moment, and happens to the process whose moment it is. */
  readonly aim?: Aim | undefined;
}

interface Aim {
  /** A question to a service outside, in the middle of the work; or the end of something that was confirmed. */
  readonly at: Moment;
  /** So many of these are left out before. */
  readonly leftOut: number;
  /** So long after it. */
  readonly delayMs: number;
}

/** How often each kind comes about, relative to the others. Kinds that a protocol does not name do not come about. */
export type FaultWeights = Partial<Record<FaultKind, number>>;

interface FaultPlanOptions {
  readonly weights: FaultWeights;
  readonly processes: number;
  /** The share of those that wait for their moment. */
  readonly aimed?: number | undefined;
  /** From here on there are no more faults. */
  readonly untilMs: number;
}

/** Processes that are slow in some way: what makes a difference is what happens meanwhile. */
const LASTING: ReadonlySet<FaultKind> = new Set(['hesitate', 'far']);

/** Some simulations are calm, some stormy. */
const GAPS_MS = [20_000, MINUTE_MS, 5 * MINUTE_MS, 20 * MINUTE_MS] as const;

/**
 * A piece of work asks about so many questions, and a question takes about so long: a fault may come at any of them, before its answer or
 * after.
 */
const AIM = { questions: 20, delaysMs: [0, 50, 1000] } as const;

export function planFaults(world: World, options: FaultPlanOptions): readonly Fault[] {
  const { weights, processes, aimed = 0, untilMs } = options;
  const random = world.random.named('faults');
  const kinds = kindsOf(weights, random);
  const gapMs = random.pick(GAPS_MS);
  const faults: Fault[] = [];
  for (let atMs = random.between(0, 2 * gapMs); atMs < untilMs; atMs += random.between(0, 2 * gapMs)) {
    const kind = random.pick(kinds);
    const forMs = Math.min(durationOf(kind, random), untilMs - atMs);
    const [place, amount] = [random.below(processes), random.between(-1, 1)];
    const aim = kind === 'redis failover after a write' ? aimAtWrite(amount) : drawnAim(kind, aimed, random);
    faults.push({ kind, atMs, forMs, place, amount, aim });
  }
  return faults;
}

/** The replica lacks an end that was confirmed, or what a gateway wrote before it asked a service outside. */
function aimAtWrite(amount: number): Aim {
  return { at: amount < 0 ? 'question' : 'end', leftOut: 0, delayMs: 0.9 * lateMs(amount) };
}

function drawnAim(kind: FaultKind, aimed: number, random: World['random']): Aim | undefined {
  if (aimed === 0 || LASTING.has(kind) || !random.chance(aimed)) return undefined;
  const leftOut = random.below(AIM.questions);
  return { at: 'question', leftOut, delayMs: random.next() * random.pick(AIM.delaysMs) };
}

/** Each simulation leaves some kinds out: one kind can hide what another would show. */
function kindsOf(weights: FaultWeights, random: World['random']): readonly FaultKind[] {
  const all = Object.entries(weights) as [FaultKind, number][];
  const some = all.filter(() => random.chance(0.5));
  return (some.length > 0 ? some : all).flatMap(([kind, weight]) => Array.from({ length: weight }, () => kind));
}

/** Mostly short, sometimes minutes or longer: protocols have times of all these lengths. */
function durationOf(kind: FaultKind, random: World['random']): number {
  if (LASTING.has(kind)) return random.between(20_000, 10 * MINUTE_MS);
  // Longer than leases last, and no longer than others need to finish the work.
  if (kind === 'stall') return random.between(5000, 2 * MINUTE_MS);
  // Whoever has told it to end kills it then.
  if (kind === 'stop') return random.between(2000, MINUTE_MS);
  // Others need the time to write in place of what was lost, and a gateway may be away for longer than its grace.
  if (kind === 'redis failover behind a gateway' || kind === 'redis failover after a cut')
    return random.between(20_000, 5 * MINUTE_MS);
  if (kind === 'redis failover after a write') return 20;
  const length = random.pick(['moment', 'moment', 'seconds', 'seconds', 'minutes', 'long'] as const);
  if (length === 'moment') return random.between(20, 900);
  if (length === 'seconds') return random.between(900, 20_000);
  if (length === 'minutes') return random.between(20_000, 5 * MINUTE_MS);
  return kind === 'redis full' || kind === 'slow' ? MINUTE_MS : random.between(5 * MINUTE_MS, 30 * MINUTE_MS);
}

/** Lets the faults happen at their times, and none after their end. */
export function applyFaults(deployment: Deployment, faults: readonly Fault[], untilMs: number): void {
  const { world, redis } = deployment;
  for (const fault of faults) {
    const { aim } = fault;
    world.after(fault.atMs - world.now(), () => {
      if (aim === undefined) return begin(deployment, fault);
      if (fault.kind === 'redis failover after a write') redis.lag(lateMs(fault.amount));
      deployment.afterMoments(aim.at, aim.leftOut, ({ index }) => {
        world.after(aim.delayMs, () => {
          const forMs = Math.min(fault.forMs, untilMs - world.now());
          if (forMs > 0) begin(deployment, { ...fault, place: index, forMs });
        });
      });
    });
  }
}

/** Begins a fault, and ends it after its time. */
function begin(deployment: Deployment, fault: Fault): void {
  const { world, disturbances } = deployment;
  const recover = disturbances.begin();
  const end = faultOf(deployment, fault);
  if (end !== undefined) world.after(fault.forMs, end);
  world.after(fault.forMs, recover);
}

/** Returns what ends it, if it has a duration. */
function faultOf(deployment: Deployment, { kind, forMs, place: index, amount }: Fault): (() => void) | undefined {
  const { redis, places } = deployment;
  const place = places[index % places.length] as Place;
  const { process } = place;
  switch (kind) {
    case 'pause':
    case 'stall':
    case 'suspend':
      process.pause(kind === 'suspend');
      return () => process.resume();
    case 'hesitate':
      process.hesitate(0.2 * Math.abs(amount));
      return () => process.hesitate(0);
    case 'kill':
      process.kill();
      return () => deployment.startAgain(place);
    case 'stop':
      deployment.stop(place);
      return () => {
        process.kill();
        deployment.startAgain(place);
      };
    case 'clock':
      process.jump(jumpMs(amount));
      deployment.clockJumpsMs.push(deployment.world.now());
      return undefined;
    case 'cut':
      redis.cut(process);
      return () => redis.heal(process);
    case 'break':
      redis.breakConnections(process);
      return undefined;
    case 'slow':
      redis.network.slowness = 1 + 60 * amount * amount;
      return () => {
        redis.network.slowness = 1;
      };
    case 'far':
      // A question and its answer take up to a second: just less than commands wait.
      redis.network.slownessOf.set(process.name, 1 + 300 * Math.abs(amount));
      return () => redis.network.slownessOf.delete(process.name);
    case 'redis pause':
      redis.pause();
      return () => redis.resume();
    case 'redis restart':
      redis.stop();
      return () => redis.start('everything');
    case 'redis restart without the tail':
      redis.stop();
      return () => redis.start('all but the tail');
    case 'redis restart empty':
      redis.stop();
      return () => redis.start('nothing');
    case 'redis failover':
      redis.failOver(500 * amount);
      return undefined;
    case 'redis failover to a late replica':
      redis.lag(lateMs(amount));
      return () => {
        redis.failOver(500 * amount);
        redis.lag(20);
      };
    case 'redis failover after a write':
      redis.failOver(500 * amount);
      redis.lag(20);
      return undefined;
    case 'redis failover behind a gateway':
      // The gateway has read what the replica lacks, and is back when others have written in its place.
      redis.lag(10_000 * Math.abs(amount));
      deployment.world.after(forMs / 2, () => {
        redis.cut(process);
        redis.failOver(500 * amount);
        redis.lag(20);
      });
      return () => redis.heal(process);
    case 'redis failover after a cut': {
      // The gateway has just come back, and told Redis so, and is away again with a failover that loses this.
      const lagMs = 10_000 * Math.abs(amount);
      redis.cut(process);
      deployment.world.after(forMs / 2, () => {
        redis.heal(process);
        redis.lag(lagMs);
      });
      deployment.world.after(forMs / 2 + Math.min(0.9 * lagMs, 0.4 * forMs), () => {
        redis.cut(process);
        redis.failOver(500 * amount);
        redis.lag(20);
      });
      return () => redis.heal(process);
    }
    case 'redis lag':
      redis.lag(lateMs(amount));
      return () => redis.lag(20);
    case 'redis clock':
      redis.jump(jumpMs(amount));
      return undefined;
    case 'redis clock for a while':
      redis.jump(jumpMs(amount));
      return () => redis.jump(-jumpMs(amount));
    case 'redis full':
      redis.setFull(true);
      return () => redis.setFull(false);
    case 'redis evict':
      redis.evict();
      return undefined;
  }
}

/** How far a late replica lags. */
function lateMs(amount: number): number {
  return 3000 * Math.abs(amount);
}

/** Mostly seconds, at the ends two hours. */
function jumpMs(amount: number): number {
  return Math.round(Math.sign(amount) * Math.abs(amount) ** 5 * 2 * HOUR_MS);
}

/** What a fault was, for people. */
export function shownFault({ kind, atMs, forMs, place, amount, aim }: Fault): string {
  const whose = aim === undefined ? `process ${place + 1}` : `the process of ${aim.at} ${aim.leftOut + 1} from then on`;
  return `${(atMs / 1000).toFixed(1)} s: ${kind}, for ${(forMs / 1000).toFixed(1)} s, ${whose}, amount ${amount.toFixed(2)}`;
}
