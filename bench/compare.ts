// Measures contestants round after round, before one upstream and one Redis, in one of two manners: all are started at once and warmed up,
// and take turns while the others are held still; or each is started anew for each of its measurements, alone, and is warm after seconds.

import { join } from 'node:path';
import { freePort } from '../test/support/free-port.ts';
import { type Entry, FLOOR } from './contestants/list.ts';
import { awake, type Contestant, type Prepared, pidsOf, rest, stop } from './contestants.ts';
import { withGround } from './ground.ts';
import { peakBytesOf } from './machine.ts';
import { measure, measureCost, type Sample, type Settings, warmUp } from './measure.ts';
import { type Manner, type Result, resultsOf, type Taken } from './results.ts';
import { strangeKey } from './sample-keys.ts';
import { askUpstream, LIST, type Scenario } from './scenarios.ts';

interface CompareOptions {
  readonly manners: readonly Manner[];
  readonly scenarios: readonly Scenario[];
  readonly rounds: number;
  readonly durationMs: number;
  /** In turn: before the first round of each scenario, per contestant. Anew: after each start. */
  readonly warmUpMs: number;
  readonly connections: number;
  /** Gets the progress of the run. */
  progress(text: string): void;
}

interface Ready extends Prepared {
  readonly entry: Entry;
}

/** Gives samples of the contestants in one scenario, in their order. */
type Measuring<T> = (scenario: Scenario, taking: readonly T[], settings: Settings) => Promise<Taken[]>;

const ORGANIZATIONS = 1000;

export function compare(taking: readonly Entry[], options: CompareOptions): Promise<Result[]> {
  return withGround({}, async (ground) => {
    const shared = { ...ground, redisUrl: await ground.startRedis() };
    const keys = Array.from({ length: ORGANIZATIONS }, strangeKey);
    const ready: Ready[] = [];
    for (const entry of taking) {
      options.progress(`preparing ${entry.id}`);
      const directory = join(ground.directory, entry.id);
      ready.push({ entry, ...entry.prepare({ ...shared, directory, port: await freePort(), keys }) });
    }
    const results: Result[] = [];
    for (const manner of options.manners) {
      const each = <T extends Ready>(contestants: readonly T[], measuring: Measuring<T>) =>
        eachScenario(manner, contestants, ground.upstreamPort, options, measuring);
      if (manner === 'anew') results.push(...(await each(ready, anewWith(options))));
      else results.push(...(await withStarted(ready, (started) => each(started, inTurnWith(options)))));
    }
    return results;
  });
}

async function eachScenario<T extends Ready>(
  manner: Manner,
  ready: readonly T[],
  upstreamPort: number,
  { scenarios, connections, durationMs }: CompareOptions,
  measuring: Measuring<T>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const scenario of scenarios) {
    const taking = ready.filter(({ entry }) => !scenario.isRefusal || entry.isGateway || entry.id === FLOOR);
    // A refusal of the floor alone would be the list once more.
    if (scenario.isRefusal && !taking.some(({ entry }) => entry.isGateway)) continue;
    const bodyBytes = scenario.isRefusal ? undefined : (await askUpstream(scenario, upstreamPort)).bodyBytes;
    const taken = await measuring(scenario, taking, { connections, durationMs, upstreamPort, bodyBytes });
    results.push(...resultsOf(manner, scenario.name, taken, taking[0]?.entry.id === FLOOR && taking.length > 1));
  }
  return results;
}

/** The floor refuses nothing: beside a refusal it forwards the list. */
const sentTo = ({ entry }: Ready, scenario: Scenario): Scenario =>
  scenario.isRefusal && !entry.isGateway ? LIST : scenario;

interface Started extends Ready {
  readonly contestant: Contestant;
}

async function withStarted<T>(ready: readonly Ready[], act: (started: readonly Started[]) => Promise<T>): Promise<T> {
  const started: Started[] = [];
  try {
    for (const one of ready) {
      const contestant = await one.start();
      started.push({ ...one, contestant });
      rest(contestant);
    }
    return await act(started);
  } finally {
    await Promise.all(started.map(({ contestant }) => stop(contestant.process)));
  }
}

function inTurnWith({ rounds, warmUpMs, progress }: CompareOptions): Measuring<Started> {
  return async (scenario, taking, settings) => {
    for (const one of taking) {
      const { contestant } = one;
      await awake(contestant, () => warmUp(contestant, sentTo(one, scenario), { ...settings, durationMs: warmUpMs }));
    }
    const samples = taking.map(() => [] as Sample[]);
    for (let round = 0; round < rounds; round++) {
      for (const [index, one] of taking.entries()) {
        const { contestant } = one;
        progress(`${scenario.name}, round ${round + 1} of ${rounds}, in turn: ${contestant.name}`);
        samples[index]?.push(await awake(contestant, () => measure(contestant, sentTo(one, scenario), settings)));
      }
    }
    return taking.map(({ entry, contestant }, index) => ({
      id: entry.id,
      contestant: contestant.name,
      samples: samples[index] ?? [],
      peakBytes: peakBytesOf(pidsOf(contestant)),
    }));
  };
}

function anewWith({ rounds, warmUpMs, progress }: CompareOptions): Measuring<Ready> {
  return async (scenario, taking, settings) => {
    const taken = taking.map(({ entry }) => ({ id: entry.id, contestant: '', samples: [] as Sample[], peakBytes: 0 }));
    for (let round = 0; round < rounds; round++) {
      for (const [index, one] of taking.entries()) {
        progress(`${scenario.name}, round ${round + 1} of ${rounds}, anew: ${one.entry.id}`);
        const own = taken[index] as (typeof taken)[number];
        const contestant = await one.start();
        try {
          await warmUp(contestant, sentTo(one, scenario), { ...settings, durationMs: warmUpMs });
          own.samples.push({ ...(await measureCost(contestant, sentTo(one, scenario), settings)), added: undefined });
          own.peakBytes = Math.max(own.peakBytes, peakBytesOf(pidsOf(contestant)));
          own.contestant = contestant.name;
        } finally {
          await stop(contestant.process);
        }
      }
    }
    return taken;
  };
}
