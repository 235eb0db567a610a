// The peak of a short run at full load, from the start of the process on, beside that of the floor.

import { pidsOf } from '../contestants.ts';
import { runLoad } from '../load.ts';
import { peakBytesOf } from '../machine.ts';
import { LIST, requestsOf, verify } from '../scenarios.ts';
import { besideFloor } from './beside-floor.ts';
import { isAtMostTimes, type Verdict } from './verdict.ts';

const CONNECTIONS = 64;
const ROUNDS = 3;
const TIMES_MAX = 1.15;

export async function peak(seconds: number, progress: (text: string) => void): Promise<Verdict> {
  const peaks = await besideFloor(ROUNDS, async (contestant) => {
    progress(`peak of ${seconds} s: ${contestant.name}`);
    const { port } = contestant;
    const requests = requestsOf(LIST, port, contestant.keys);
    const result = await runLoad({ port, connections: CONNECTIONS, durationMs: seconds * 1000, requests });
    verify(contestant.name, LIST, result, undefined);
    return peakBytesOf(pidsOf(contestant));
  });
  return isAtMostTimes(`peak of ${seconds} s of full load, beside the floor`, peaks, TIMES_MAX);
}
