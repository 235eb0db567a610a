// Measures the waits of callers through the floor and through the gateway in pairs, at one fixed rate: half of the gateway's maximum.

import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { entryOf, FLOOR, GATEWAY } from '../contestants/list.ts';
import type { Contestant, Prepared } from '../contestants.ts';
import { stop } from '../contestants.ts';
import { withGround } from '../ground.ts';
import { measureCost, warmUp } from '../measure.ts';
import { runPaced } from '../paced.ts';
import { strangeKey } from '../sample-keys.ts';
import { askUpstream, list, requestsOf, type Scenario, verify } from '../scenarios.ts';
import { percentile } from '../statistics.ts';
import { slicesOf, withBoth } from './both.ts';
import type { Pair, Side } from './paired.ts';

export interface TailsOptions {
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

/** Milliseconds that callers wait, of the floor (baseline) and the gateway (candidate). */
export interface Tails {
  readonly p50: Pair;
  readonly p99: Pair;
}

const scenario: Scenario = list;

export function measureTails(options: TailsOptions): Promise<Tails[]> {
  return withGround({ isPrompt: true }, async (ground) => {
    const surroundings = { ...ground, redisUrl: await ground.startRedis() };
    const keys = Array.from({ length: 1000 }, strangeKey);
    const prepare = async (id: string) =>
      entryOf(id).prepare({ ...surroundings, directory: join(ground.directory, id), port: await freePort(), keys });
    const prepared: Record<Side, Prepared> = { baseline: await prepare(FLOOR), candidate: await prepare(GATEWAY) };
    const { bodyBytes } = await askUpstream(scenario, ground.upstreamPort);
    const perSecond = options.perSecond ?? (await maximumOf(prepared.candidate, options)) / 2;
    options.noteRate(perSecond);
    const taken: Tails[] = [];
    for (let number = 0; number < options.pairs; number += 1) {
      const waits = await withBoth(number, prepared, (contestants) =>
        slicesOf(number, contestants, {
          warmUp: (contestant) => warmUp(contestant, scenario, { ...options, durationMs: options.warmUpMs }),
          take: (contestant) => waitsOf(contestant, perSecond, bodyBytes, options),
        }),
      );
      const tails = { p50: pairOf(waits, 0.5), p99: pairOf(waits, 0.99) };
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

/** The waits of one slice. A contestant that has been held still is behind with its timers: the first eighth of the time does not count. */
async function waitsOf(
  contestant: Contestant,
  perSecond: number,
  bodyBytes: number,
  { connections, durationMs }: TailsOptions,
): Promise<readonly number[]> {
  const { port } = contestant;
  const load = { port, connections, perSecond, requests: requestsOf(scenario, port, scenario.keysOf(contestant)) };
  await runPaced({ ...load, durationMs: durationMs / 8 });
  const result = await runPaced({ ...load, durationMs: durationMs / 2 });
  verify(contestant.name, scenario, result, bodyBytes);
  return result.latencies;
}

/** A percentile over all slices of each side. */
function pairOf(waits: Readonly<Record<Side, readonly (readonly number[])[]>>, share: number): Pair {
  const of = (side: Side) =>
    percentile(
      waits[side].flat().sort((a, b) => a - b),
      share,
    );
  return { baseline: of('baseline'), candidate: of('candidate') };
}
