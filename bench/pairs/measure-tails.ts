// Measures the waits of callers through the floor and through the gateway in pairs, at one fixed rate: half of the gateway's maximum.

import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { entryOf, FLOOR, GATEWAY } from '../contestants/list.ts';
import { type Contestant, type Prepared, pidsOf, stop } from '../contestants.ts';
import { withGround } from '../ground.ts';
import { cpuMicrosOf } from '../machine.ts';
import { measureCost, warmUp } from '../measure.ts';
import { runPaced } from '../paced.ts';
import { strangeKey } from '../sample-keys.ts';
import { askUpstream, LIST, requestsOf, type Scenario, verify } from '../scenarios.ts';
import { median, percentile } from '../statistics.ts';
import { slicesOf, withBoth } from './both.ts';
import type { Pair, Side } from './paired.ts';

interface TailsOptions {
  /** Name of the gateway in the list of contestants. Default: the one with Redis. */
  readonly candidate?: string;
  readonly pairs: number;
  /** Of each side in each pair, in two slices. */
  readonly durationMs: number;
  /** Full load after each start. */
  readonly warmUpMs: number;
  readonly connections: number;
  /** Default: half of the requests a second that a gateway answers at full load, measured before the first pair. */
  readonly perSecond?: number;
  /** Gets the rate once it is known. */
  noteRate(perSecond: number): void;
  /** Gets each pair. */
  note(number: number, tails: Tails): void;
}

/** Of the floor (baseline) and the gateway (candidate); p50 and p99: milliseconds that callers wait. */
export interface Tails {
  readonly p50: Pair;
  readonly p99: Pair;
  /**
   * Share of the time in which each ran. Both wait behind others of their own requests, the longer the busier they are: at 0.8 a
   * disturbance of the machine takes five times its own length until it is over.
   */
  readonly busy: Pair;
}

const scenario: Scenario = LIST;

export function measureTails(options: TailsOptions): Promise<Tails[]> {
  return withGround({ isPrompt: true }, async (ground) => {
    const surroundings = { ...ground, redisUrl: await ground.startRedis() };
    const keys = Array.from({ length: 1000 }, strangeKey);
    const prepare = async (id: string) =>
      entryOf(id).prepare({ ...surroundings, directory: join(ground.directory, id), port: await freePort(), keys });
    const prepared: Record<Side, Prepared> = {
      baseline: await prepare(FLOOR),
      candidate: await prepare(options.candidate ?? GATEWAY),
    };
    const { bodyBytes } = await askUpstream(scenario, ground.upstreamPort);
    const perSecond = options.perSecond ?? (await maximumOf(prepared.candidate, options)) / 2;
    options.noteRate(perSecond);
    const taken: Tails[] = [];
    for (let number = 0; number < options.pairs; number += 1) {
      const slices = await withBoth(number, prepared, (contestants) =>
        slicesOf(number, contestants, {
          warmUp: (contestant) => warmUp(contestant, scenario, { ...options, durationMs: options.warmUpMs }),
          take: (contestant) => sliceOf(contestant, perSecond, bodyBytes, options),
        }),
      );
      const waits = (share: number) => (of: readonly Slice[]) =>
        percentile(
          of.flatMap(({ latencies }) => latencies).sort((a, b) => a - b),
          share,
        );
      const busy = (of: readonly Slice[]) => median(of.map((slice) => slice.busy));
      const tails = { p50: pairOf(slices, waits(0.5)), p99: pairOf(slices, waits(0.99)), busy: pairOf(slices, busy) };
      options.note(number, tails);
      taken.push(tails);
    }
    return taken;
  });
}

async function maximumOf(prepared: Prepared, { connections, warmUpMs, durationMs }: TailsOptions): Promise<number> {
  const contestant = await prepared.start();
  try {
    await warmUp(contestant, scenario, { connections, durationMs: warmUpMs });
    const settings = { connections, durationMs, upstreamPort: 0, bodyBytes: undefined };
    return (await measureCost(contestant, scenario, settings)).perSecond;
  } finally {
    await stop(contestant.process);
  }
}

interface Slice {
  /** Milliseconds. */
  readonly latencies: readonly number[];
  readonly busy: number;
}

/** A contestant that has been held still is behind with its timers: the first eighth of the time does not count. */
async function sliceOf(
  contestant: Contestant,
  perSecond: number,
  bodyBytes: number,
  { connections, durationMs }: TailsOptions,
): Promise<Slice> {
  const { port } = contestant;
  const load = { port, connections, perSecond, requests: requestsOf(scenario, port, scenario.keysOf(contestant)) };
  await runPaced({ ...load, durationMs: durationMs / 8 });
  const pids = pidsOf(contestant);
  const cpuBefore = cpuMicrosOf(pids);
  const result = await runPaced({ ...load, durationMs: durationMs / 2 });
  const cpuMicros = cpuMicrosOf(pids) - cpuBefore;
  verify(contestant.name, scenario, result, bodyBytes);
  return { latencies: result.latencies, busy: cpuMicros / (result.seconds * 1e6) };
}

/** A figure over all slices of each side. */
function pairOf(slices: Readonly<Record<Side, readonly Slice[]>>, of: (slices: readonly Slice[]) => number): Pair {
  return { baseline: of(slices.baseline), candidate: of(slices.candidate) };
}
