// Measures the gateways of two trees in turn, before one upstream, each on a Redis of its own with everything on.

import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { prepareGateway } from '../contestants/gateway.ts';
import type { Prepared } from '../contestants.ts';
import { withGround } from '../ground.ts';
import { type Cost, measureCost, type Settings, warmUp } from '../measure.ts';
import { askUpstream, CREATION, LIST, type Scenario } from '../scenarios.ts';
import { type Both, slicesOf, withBoth } from './both.ts';
import { type Comparison, compared, costOf, type Pair, type Side } from './paired.ts';

interface PairsOptions {
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

const SIDES = ['baseline', 'candidate'] as const;
const MEASURED_SCENARIOS: readonly Scenario[] = [LIST, CREATION];

export function measurePairs(options: PairsOptions): Promise<Comparison[]> {
  return withGround({}, async (ground) => {
    const prepared = {} as Record<Side, Prepared>;
    for (const side of SIDES) {
      const redisUrl = await ground.startRedis();
      prepared[side] = prepareGateway(
        { ...ground, redisUrl, directory: join(ground.directory, side), port: await freePort(), keys: [] },
        // As all earlier pairs: with a trusted peer, this tree costs up to a tenth more than 0af7161.
        { name: side, tree: options.trees[side], redisUrl, gateway: { trustedProxies: [] } },
      );
    }
    const pairs = MEASURED_SCENARIOS.map(() => [] as Pair[]);
    for (let number = 0; number < options.pairs; number += 1) {
      await withBoth(number, prepared, async (contestants) => {
        for (const [index, scenario] of MEASURED_SCENARIOS.entries()) {
          const pair = await measureScenario(scenario, number, contestants, ground.upstreamPort, options);
          options.note(scenario.name, number, pair);
          pairs[index]?.push(pair);
        }
      });
    }
    return MEASURED_SCENARIOS.map(({ name }, index) => compared(name, pairs[index] ?? []));
  });
}

async function measureScenario(
  scenario: Scenario,
  number: number,
  contestants: Both,
  upstreamPort: number,
  { connections, durationMs, warmUpMs }: PairsOptions,
): Promise<Pair> {
  const { bodyBytes } = await askUpstream(scenario, upstreamPort);
  const settings: Settings = { connections, durationMs: durationMs / 2, upstreamPort, bodyBytes };
  const { baseline, candidate } = await slicesOf<Cost>(number, contestants, {
    warmUp: (contestant) => warmUp(contestant, scenario, { connections, durationMs: warmUpMs }),
    take: (contestant) => measureCost(contestant, scenario, settings),
  });
  return { baseline: costOf(baseline), candidate: costOf(candidate) };
}
