// Runs contestants in turn, round after round, before one upstream and one Redis. All but the one that is measured are held still.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../test/support/redis.ts';
import { type Entry, FLOOR } from './contestants/list.ts';
import { type Contestant, pidsOf, rest, startPinned, stop, wake } from './contestants.ts';
import { runLoad } from './load.ts';
import { cores, peakBytesOf, pin } from './machine.ts';
import { measure, type Sample } from './measure.ts';
import { startPinnedRedis } from './pinned-redis.ts';
import { type Result, resultsOf } from './results.ts';
import { strangeKey } from './sample-keys.ts';
import { ask, requestsOf, type Scenario, scenarios } from './scenarios.ts';

export interface CompareOptions {
  readonly rounds: number;
  readonly durationMs: number;
  /** Before the first round of each scenario, per contestant. */
  readonly warmUpMs: number;
  readonly connections: number;
  /** Gets the progress of the run. */
  progress(text: string): void;
}

interface Started {
  readonly entry: Entry;
  readonly contestant: Contestant;
}

const ORGANIZATIONS = 1000;

export async function compare(taking: readonly Entry[], options: CompareOptions): Promise<Result[]> {
  pin(process.pid, cores.client);
  const directory = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const redis = await startPinnedRedis();
  const upstreamPort = await freePort();
  const upstream = await startPinned('upstream.ts', [String(upstreamPort)], cores.upstream, upstreamPort);
  const started: Started[] = [];
  try {
    const shared = { upstreamUrl: `http://127.0.0.1:${upstreamPort}`, redisUrl: redis.url };
    const keys = Array.from({ length: ORGANIZATIONS }, strangeKey);
    for (const entry of taking) {
      options.progress(`starting ${entry.id}`);
      const port = await freePort();
      const contestant = await entry.start({ ...shared, directory: join(directory, entry.id), port, keys });
      rest(contestant);
      started.push({ entry, contestant });
    }
    const results: Result[] = [];
    for (const scenario of scenarios) results.push(...(await compareIn(scenario, started, upstreamPort, options)));
    return results;
  } finally {
    await Promise.all([...started.map(({ contestant }) => stop(contestant.process)), stop(upstream), redis.stop()]);
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function compareIn(
  scenario: Scenario,
  started: readonly Started[],
  upstreamPort: number,
  options: CompareOptions,
): Promise<Result[]> {
  const taking = started.filter(({ entry }) => entry.isGateway || !scenario.ofGatewayOnly);
  const reachesUpstream = scenario.status < 400;
  const asked = reachesUpstream
    ? await ask(upstreamPort, requestsOf(scenario, upstreamPort, ['a-caller'])[0] as Buffer)
    : undefined;
  const settings = { ...options, upstreamPort, bodyBytes: asked?.bodyBytes };

  async function awake<T>(contestant: Contestant, act: () => Promise<T>): Promise<T> {
    wake(contestant);
    const done = await act();
    rest(contestant);
    return done;
  }

  for (const { contestant } of taking) {
    const requests = requestsOf(scenario, contestant.port, scenario.keysOf(contestant));
    const { port } = contestant;
    await awake(contestant, () => runLoad({ ...settings, port, requests, durationMs: options.warmUpMs }));
  }
  const samples = new Map(taking.map(({ contestant }) => [contestant, [] as Sample[]]));
  for (let round = 0; round < options.rounds; round++) {
    for (const [contestant, own] of samples) {
      options.progress(`${scenario.name}, round ${round + 1} of ${options.rounds}: ${contestant.name}`);
      own.push(await awake(contestant, () => measure(contestant, scenario, settings)));
    }
  }
  const taken = [...samples].map(([contestant, own]) => ({
    contestant: contestant.name,
    samples: own,
    peakBytes: peakBytesOf(pidsOf(contestant)),
  }));
  return resultsOf(scenario.name, taken, taking[0]?.entry.id === FLOOR && taking.length > 1);
}
