// The faults of a simulation, and how they are applied. A failure is made smaller by leaving single ones out.

import type { Deployment, Moment, Place } from './deployment.ts';
import type { SimulatedProcess } from './engine/process.ts';

const HOUR_MS = 3_600_000;

export type FaultKind =
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

export interface Aim {
  /** A question to a service outside, in the middle of the work; or the end of something that was confirmed. */
  readonly at: Moment;
  /** So many of these are left out before. */
  readonly leftOut: number;
  /** So long after it. */
  readonly delayMs: number;
}

/** How often each kind comes about, relative to the others. Kinds that a protocol does not name do not come about. */
export type FaultWeights = Partial<Record<FaultKind, number>>;

/** From one failover to the return of a gateway that has lost its connection. */
const HANDED_OVER_MS = 500;

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

/**
 * The gateway comes back, tells Redis so, and is away again with a failover that loses this. In a part of the cases the same happens with
 * the server that has taken over.
 */
function handOverAfterReturn(
  deployment: Deployment,
  process: SimulatedProcess,
  { forMs, amount }: Pick<Fault, 'forMs' | 'amount'>,
): void {
  const { redis, world } = deployment;
  const lagMs = 10_000 * Math.abs(amount);
  // Half of the time is left.
  const turns = amount > 0.5 && forMs > 4 * HANDED_OVER_MS ? 2 : 1;
  const staysMs = Math.min(0.9 * lagMs, (0.8 * (forMs / 2 - (turns - 1) * HANDED_OVER_MS)) / turns);
  const turn = (left: number) => {
    redis.heal(process);
    redis.lag(lagMs);
    world.after(staysMs, () => {
      redis.cut(process);
      redis.failOver(500 * amount);
      redis.lag(20);
      if (left > 1) world.after(HANDED_OVER_MS, () => turn(left - 1));
    });
  };
  turn(turns);
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
    case 'redis failover after a cut':
      redis.cut(process);
      deployment.world.after(forMs / 2, () => handOverAfterReturn(deployment, process, { forMs, amount }));
      return () => redis.heal(process);
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
export function lateMs(amount: number): number {
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
