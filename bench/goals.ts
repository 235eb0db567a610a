// Pure: compares the promised speed of the gateway with the results of one run.

import type { Result } from './results.ts';
import { round } from './statistics.ts';

export interface Goal {
  readonly goal: string;
  readonly bound: string;
  readonly measured: number;
  readonly holds: boolean;
}

const GATEWAY = 'gateway: all on, Redis';

interface Promised {
  readonly goal: string;
  readonly unit: string;
  readonly atMost?: number;
  readonly atLeast?: number;
  /** Nothing if a contestant or a scenario that it takes is not there. */
  measure(find: (scenario: string, contestant: string) => Result | undefined): number | undefined;
}

/** By way of the floor, which each is compared with round by round. */
const cpuRatio =
  (scenario: string, other: string): Promised['measure'] =>
  (find) =>
    ratio(find(scenario, GATEWAY)?.timesFloor, find(scenario, other)?.timesFloor);

const promised: readonly Promised[] = [
  {
    goal: 'GET, CPU of the floor',
    unit: '×',
    atMost: 1.75,
    measure: cpuRatio('GET list', 'floor: node:http + undici'),
  },
  {
    goal: 'GET, CPU of express + http-proxy-middleware',
    unit: '×',
    atMost: 0.6,
    measure: cpuRatio('GET list', 'express + http-proxy-middleware'),
  },
  {
    goal: 'GET, CPU of @fastify/http-proxy',
    unit: '×',
    atMost: 1,
    measure: cpuRatio('GET list', '@fastify/http-proxy'),
  },
  { goal: 'POST, CPU of the floor', unit: '×', atMost: 2, measure: cpuRatio('POST 1 kB', 'floor: node:http + undici') },
  { goal: 'GET, added p50', unit: 'ms', atMost: 0.5, measure: (find) => find('GET list', GATEWAY)?.addedP50Ms },
  { goal: 'GET, added p99', unit: 'ms', atMost: 3, measure: (find) => find('GET list', GATEWAY)?.addedP99Ms },
  {
    goal: '429 a second, of GET a second',
    unit: '×',
    atLeast: 2,
    measure: (find) => ratio(find('429 blocked caller', GATEWAY)?.perSecond, find('GET list', GATEWAY)?.perSecond),
  },
];

/** The goals that this run can judge. */
export function goalsOf(results: readonly Result[]): Goal[] {
  const find = (scenario: string, contestant: string) =>
    results.find((result) => result.scenario === scenario && result.contestant === contestant);
  return promised.flatMap(({ goal, unit, atMost = Infinity, atLeast = 0, measure }) => {
    const measured = measure(find);
    if (measured === undefined) return [];
    const bound = atLeast > 0 ? `at least ${atLeast} ${unit}` : `at most ${atMost} ${unit}`;
    return [{ goal, bound, measured: round(measured, 2), holds: measured <= atMost && measured >= atLeast }];
  });
}

function ratio(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other;
}
