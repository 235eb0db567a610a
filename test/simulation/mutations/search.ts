// Searches one protocol under the seeds 1, 2, 3 … until a checker finds a fault, and prints how long that took as JSON.
//
//   node test/simulation/mutations/search.ts <protocol> <simulated hours at most>

import { protocolNamed } from '../protocols/all.ts';
import { simulate } from '../run.ts';

/** One seed is simulated for so long: many short runs meet more beginnings and more mixes of faults. */
const HOURS = 1;
const HOUR_MS = 3_600_000;

const [name = '', hoursMax = '1'] = process.argv.slice(2);
const protocol = protocolNamed(name);
let simulatedMs = 0;
let found: { readonly seed: string; readonly checker: string; readonly sentence: string } | undefined;
for (let seed = 1; found === undefined && simulatedMs < Number(hoursMax) * HOUR_MS; seed += 1) {
  const outcome = await simulate({ protocol, seed: String(seed), hours: HOURS });
  simulatedMs += outcome.simulatedMs;
  const { violation } = outcome;
  if (violation)
    found = {
      seed: `${name}/${seed}/${HOURS}`,
      checker: violation.checker,
      sentence: violation.message.split('\n')[0] ?? '',
    };
}
console.log(JSON.stringify({ ...found, hours: simulatedMs / HOUR_MS }));
