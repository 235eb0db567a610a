// Measures the gateways of two trees in turn, before one upstream, each on a Redis of its own with everything on.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/support/redis.ts';
import { type PreparedGateway, prepareGateway } from '../contestants/gateway.ts';
import { type Contestant, rest, startPinned, stop, wake } from '../contestants.ts';
import { runLoad } from '../load.ts';
import { cores, pin } from '../machine.ts';
import { type Cost, measureCost, type Settings } from '../measure.ts';
import { startPinnedRedis } from '../pinned-redis.ts';
import { ask, creation, list, requestsOf, type Scenario } from '../scenarios.ts';
import { type Comparison, compared, costOf, orderOf, type Pair, type Side } from './paired.ts';

export interface PairsOptions {
  /** Absolute. */
  readonly trees: Readonly<Record<Side, string>>;
  readonly pairs: number;
  /** Of each side in each pair, in two slices. */
  readonly durationMs: number;
  /** Before the first slice of each scenario, per side and pair. */
  readonly warmUpMs: number;
  readonly connections: number;
  /** Gets each pair. */
  note(scenario: string, number: number, pair: Pair): void;
}

const sides = ['baseline', 'candidate'] as const;
const measured: readonly Scenario[] = [list, creation];

export async function measurePairs(options: PairsOptions): Promise<Comparison[]> {
  pin(process.pid, cores.client);
  const directory = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const stores = await Promise.all(sides.map(startPinnedRedis));
  const upstreamPort = await freePort();
  const upstream = await startPinned('upstream.ts', [String(upstreamPort)], cores.upstream, upstreamPort);
  const upstreamUrl = `http://127.0.0.1:${upstreamPort}`;
  try {
    const prepared = {} as Record<Side, PreparedGateway>;
    for (const [index, side] of sides.entries()) {
      const redisUrl = stores[index]?.url as string;
      prepared[side] = prepareGateway(
        { upstreamUrl, redisUrl, directory: join(directory, side), port: await freePort(), keys: [] },
        { name: side, tree: options.trees[side], redisUrl },
      );
    }
    const pairs = measured.map(() => [] as Pair[]);
    for (let number = 0; number < options.pairs; number += 1) {
      for (const [index, pair] of (await measurePair(number, prepared, upstreamPort, options)).entries()) {
        options.note(measured[index]?.name as string, number, pair);
        pairs[index]?.push(pair);
      }
    }
    return measured.map(({ name }, index) => compared(name, pairs[index] ?? []));
  } finally {
    await Promise.all([stop(upstream), ...stores.map((redis) => redis.stop())]);
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * One pair for each scenario. Both sides are started anew: how dear a process is differs by chance from start to start, and an
 * interval over one process of each side would not know of that.
 */
async function measurePair(
  number: number,
  prepared: Readonly<Record<Side, PreparedGateway>>,
  upstreamPort: number,
  options: PairsOptions,
): Promise<Pair[]> {
  const running: Contestant[] = [];
  try {
    const contestants = {} as Record<Side, Contestant>;
    for (const side of orderOf(number).slice(0, 2)) {
      contestants[side] = await prepared[side].start();
      running.push(contestants[side]);
      rest(contestants[side]);
    }
    const pairs: Pair[] = [];
    for (const scenario of measured)
      pairs.push(await measureScenario(scenario, number, contestants, upstreamPort, options));
    return pairs;
  } finally {
    await Promise.all(running.map(({ process: child }) => stop(child)));
  }
}

async function measureScenario(
  scenario: Scenario,
  number: number,
  contestants: Readonly<Record<Side, Contestant>>,
  upstreamPort: number,
  { connections, durationMs, warmUpMs }: PairsOptions,
): Promise<Pair> {
  const { bodyBytes } = await ask(upstreamPort, requestsOf(scenario, upstreamPort, ['a-caller'])[0] as Buffer);
  const settings: Settings = { connections, durationMs: durationMs / 2, upstreamPort, bodyBytes };
  const slices: Record<Side, Cost[]> = { baseline: [], candidate: [] };
  for (const side of orderOf(number).slice(0, 2)) {
    const { port, keys } = contestants[side];
    const load = { port, connections, requests: requestsOf(scenario, port, keys) };
    await awake(contestants[side], () => runLoad({ ...load, durationMs: warmUpMs }));
  }
  for (const side of orderOf(number)) {
    slices[side].push(await awake(contestants[side], () => measureCost(contestants[side], scenario, settings)));
  }
  return { baseline: costOf(slices.baseline), candidate: costOf(slices.candidate) };
}

async function awake<T>(contestant: Contestant, act: () => Promise<T>): Promise<T> {
  wake(contestant);
  const done = await act();
  rest(contestant);
  return done;
}
