// One measurement of one contestant: the cost of a request at full load, and the additional wait over that of the upstream itself at half
// of it.

import { type Contestant, pidsOf } from './contestants.ts';
import { runLoad } from './load.ts';
import { cpuMicrosOf } from './machine.ts';
import { runPaced } from './paced.ts';
import { requestsOf, type Scenario, verify } from './scenarios.ts';
import { percentile } from './statistics.ts';

export interface Cost {
  /** User and system time per request. */
  readonly cpuMicros: number;
  readonly perSecond: number;
  /** Share of the measured time in which the contestant ran; much less than 1 means that something else was the bottleneck. */
  readonly busy: number;
}

export interface Sample extends Cost {
  /** At half of its own load, minus the direct request to the upstream at the same rate; undefined where it is not measured. */
  readonly added: { readonly p50Ms: number; readonly p99Ms: number } | undefined;
}

export interface Settings {
  readonly connections: number;
  readonly durationMs: number;
  readonly upstreamPort: number;
  /** Length of the upstream's answer to this scenario; undefined for scenarios without an upstream. */
  readonly bodyBytes: number | undefined;
}

/** Full load whose answers do not count. */
export async function warmUp(
  contestant: Contestant,
  scenario: Scenario,
  load: Pick<Settings, 'connections' | 'durationMs'>,
): Promise<void> {
  const { port } = contestant;
  await runLoad({ ...load, port, requests: requestsOf(scenario, port, scenario.keysOf(contestant)) });
}

/** The measurement of a contestant that is warm. Throws on any wrong answer. */
export async function measure(contestant: Contestant, scenario: Scenario, settings: Settings): Promise<Sample> {
  const cost = await measureCost(contestant, scenario, settings);
  const asksUpstream = settings.bodyBytes !== undefined;
  return { ...cost, added: asksUpstream ? await added(contestant, scenario, settings, cost.perSecond / 2) : undefined };
}

/** The CPU per request at full load of a contestant that is awake. Throws on any answer that is not as it should be. */
export async function measureCost(contestant: Contestant, scenario: Scenario, settings: Settings): Promise<Cost> {
  const { connections, durationMs, bodyBytes } = settings;
  const requests = requestsOf(scenario, contestant.port, scenario.keysOf(contestant));
  const load = { port: contestant.port, connections, requests };
  // It has been held still: first its timers catch up and its caches fill.
  await runLoad({ ...load, durationMs: durationMs / 4 });
  const pids = pidsOf(contestant);
  const cpuBefore = cpuMicrosOf(pids);
  const result = await runLoad({ ...load, durationMs });
  const cpuMicros = cpuMicrosOf(pids) - cpuBefore;
  verify(contestant.name, scenario, result, bodyBytes);
  return {
    cpuMicros: cpuMicros / result.answers,
    perSecond: result.answers / result.seconds,
    busy: cpuMicros / (result.seconds * 1e6),
  };
}

async function added(contestant: Contestant, scenario: Scenario, settings: Settings, perSecond: number) {
  const through = await waits(contestant.name, contestant.port, perSecond);
  const direct = await waits('the upstream', settings.upstreamPort, perSecond);
  return { p50Ms: through.p50Ms - direct.p50Ms, p99Ms: through.p99Ms - direct.p99Ms };

  async function waits(who: string, port: number, rate: number) {
    const requests = requestsOf(scenario, port, scenario.keysOf(contestant));
    const result = await runPaced({ ...settings, port, requests, perSecond: rate });
    verify(who, scenario, result, settings.bodyBytes);
    return { p50Ms: percentile(result.latencies, 0.5), p99Ms: percentile(result.latencies, 0.99) };
  }
}
