// Searches one protocol under the seeds 1, 2, 3 … until a checker finds a fault, and prints how long that took as JSON.
//
//   node test/simulation/mutations/search.ts <protocol> <simulated hours at most>

import { protocolNamed } from '../protocols/all.ts';
import { simulate } from '../run.ts';

export interface SearchResult {
  /** What was found; undefined: nothing. */
  readonly found: { readonly seed: string; readonly checker: string; readonly sentence: string } | undefined;
  /** Simulated hours. */
  readonly hours: number;
  /** Of a core. */
  readonly minutes: number;
}

/** One seed is simulated for so long: many short runs meet more beginnings and more mixes of faults. */
const HOURS = 1;
const HOUR_MS = 3_600_000;

async function search(name: string, hoursMax: number): Promise<SearchResult> {
  const protocol = protocolNamed(name);
  let simulatedMs = 0;
  let found: SearchResult['found'];
  for (let seed = 1; found === undefined && simulatedMs < hoursMax * HOUR_MS; seed += 1) {
    const { violation, ...outcome } = await simulate({ protocol, seed: String(seed), hours: HOURS });
    simulatedMs += outcome.simulatedMs;
    if (violation === undefined) continue;
    const [sentence = ''] = violation.message.split('\n');
    found = { seed: `${name}/${seed}/${HOURS}`, checker: violation.checker, sentence };
  }
  const { user, system } = process.cpuUsage();
  return { found, hours: simulatedMs / HOUR_MS, minutes: (user + system) / 60e6 };
}

const [name = '', hoursMax = '1'] = process.argv.slice(2);
console.log(JSON.stringify(await search(name, Number(hoursMax))));
