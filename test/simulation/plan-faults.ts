// Draws the faults of a simulation: which, when, for how long, and to which process.

import type { World } from './engine/world.ts';
import { type Aim, type Fault, type FaultKind, type FaultWeights, lateMs } from './faults.ts';

const MINUTE_MS = 60_000;

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
