// Pure: compares the promised speed of the gateway with the results of one run.

import type { Manner, Result } from './results.ts';
import { round } from './statistics.ts';

interface Goal {
  readonly manner: Manner;
  readonly goal: string;
  readonly bound: string;
  readonly measured: number;
  readonly holds: boolean;
}

const GATEWAY = 'gateway-redis';

interface Promised {
  readonly goal: string;
  readonly unit: string;
  readonly atMost: number;
  /** Nothing if a contestant or a scenario that it takes is not there. */
  measure(find: (scenario: string, id: string) => Result | undefined): number | undefined;
}

const ofFloor = (scenario: string, atMost: number, id = GATEWAY): Promised => ({
  goal: `${scenario}, CPU of the floor${id === GATEWAY ? '' : ` (${id})`}`,
  unit: '×',
  atMost,
  measure: (find) => find(scenario, id)?.timesFloor,
});

/** By way of the floor, which each is compared with round by round. */
const ofPeer = (peer: string, atMost: number): Promised => ({
  goal: `GET list, CPU of ${peer}`,
  unit: '×',
  atMost,
  measure: (find) => ratio(find('GET list', GATEWAY)?.timesFloor, find('GET list', peer)?.timesFloor),
});

const PROMISED_FIGURES: readonly Promised[] = [
  ofFloor('GET list', 1.3),
  ofFloor('GET list', 1.15, 'gateway-embedded'),
  ofPeer('nginx-lua', 1.25),
  ofPeer('express', 0.6),
  ofPeer('fastify', 1),
  ofFloor('POST 1 kB', 1.5),
  ofFloor('404 no such route', 0.5),
  ofFloor('401 wrong checksum', 0.5),
  ofFloor('401 unknown key', 0.5),
  ofFloor('429 blocked caller', 0.5),
  ofFloor('429 blocked address', 0.5),
  ofFloor('429 decided anew', 0.5),
  { goal: 'GET list, added p50', unit: 'ms', atMost: 0.5, measure: (find) => find('GET list', GATEWAY)?.addedP50Ms },
];

/** The goals that this run can judge, for each manner of measuring. */
export function goalsOf(results: readonly Result[]): Goal[] {
  const manners = [...new Set(results.map(({ manner }) => manner))];
  return manners.flatMap((manner) => {
    const own = results.filter((result) => result.manner === manner);
    const find = (scenario: string, id: string) => own.find((one) => one.scenario === scenario && one.id === id);
    return PROMISED_FIGURES.flatMap(({ goal, unit, atMost, measure }) => {
      const measured = measure(find);
      if (measured === undefined) return [];
      const bound = `at most ${atMost} ${unit}`;
      return [{ manner, goal, bound, measured: round(measured, 2), holds: measured <= atMost }];
    });
  });
}

function ratio(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other;
}
