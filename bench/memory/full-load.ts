// Memory under full load for a long time: every kind of request in turn, admitted and refused.

import { pidsOf } from '../contestants.ts';
import { runLoad } from '../load.ts';
import { residentBytesOf } from '../machine.ts';
import { requestsOf, SCENARIOS } from '../scenarios.ts';
import { withGateway } from '../stand.ts';
import { isFlat, megabytes, type Verdict } from './verdict.ts';

const CONNECTIONS = 64;
/** Short, so that there are some samples in a short run too. */
const SLICE_MS = 2000;
/** A machine that is busy elsewhere makes Redis answer late now and then, and the gateway decide on its own. */
const OTHER_ANSWERS_MAX = 0.01;

export function fullLoad(minutes: number, progress: (text: string) => void): Promise<Verdict> {
  return withGateway({}, async ({ gateway }) => {
    const { port } = gateway;
    const pids = pidsOf(gateway);
    const samples: number[] = [];
    const endsAt = performance.now() + minutes * 60_000;
    while (performance.now() < endsAt) {
      // Sampled at the same point of each turn, since different requests need different memory.
      for (const scenario of SCENARIOS) {
        const requests = requestsOf(scenario, port, scenario.keysOf(gateway));
        const result = await runLoad({ port, connections: CONNECTIONS, durationMs: SLICE_MS, requests });
        const expected = result.statuses[scenario.status] ?? 0;
        if (expected < result.answers * (1 - OTHER_ANSWERS_MAX))
          throw new Error(`${scenario.name}: answered ${JSON.stringify(result.statuses)}`);
      }
      const bytes = residentBytesOf(pids);
      samples.push(bytes);
      progress(`full load: ${Math.ceil((endsAt - performance.now()) / 1000)} s to go, ${megabytes(bytes)}`);
    }
    return isFlat(`full load, ${minutes} minutes`, samples);
  });
}
