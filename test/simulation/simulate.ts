// Simulates the protocols of the gateway under random seeds, or one seed again. `--help` says how.

import { randomInt } from 'node:crypto';
import { shownTime } from './engine/trace.ts';
import { shownFault } from './faults.ts';
import { optionsOf } from './options.ts';
import type { Protocol } from './protocol.ts';
import { PROTOCOLS } from './protocols/all.ts';
import { type Outcome, type Spec, simulate } from './run.ts';
import { seedText } from './seed.ts';
import { shrink } from './shrink.ts';
import { readOptions, type Search } from './simulate-options.ts';

const USAGE = `npm run simulate -- [options]

Runs protocols of the gateway in simulated processes under random seeds. Exits with 1 if a checker finds a fault.

  --minutes <number>    for so long, default 1
  --protocol <name>     only this one: ${PROTOCOLS.map(({ name }) => name).join(', ')}
  --hours <number>      simulated hours with faults of each seed, default 2; a calm follows

  --seed <text>         runs one seed again, such as keys/1002/3: makes it smaller if it fails, and shows its trace
  --no-calm             ends that seed without the calm

  --help                shows this`;

const HOUR_MS = 3_600_000;
const SEEDS = 2 ** 40;
const SHOWN_EVERY_MS = 30_000;
const TRACE_LINES = 200;

const options = optionsOf('simulate', () => readOptions(process.argv.slice(2)));
if (options?.isHelp) console.log(USAGE);
else if (options !== undefined)
  process.exitCode = options.seed === undefined ? await search(options) : await repeat(options.seed);

/** Runs one seed after another. Returns 1 if one has failed. */
async function search({ protocols, minutes, hours }: Search): Promise<number> {
  const startedAt = performance.now();
  const sum = { runs: 0, simulatedMs: 0, events: 0, faults: 0, failures: 0 };
  let shownAt = startedAt;
  while (performance.now() - startedAt < minutes * 60_000) {
    const protocol = protocols[sum.runs % protocols.length] as Protocol;
    const spec: Spec = { protocol, seed: String(randomInt(SEEDS)), hours };
    const outcome = await simulate(spec);
    sum.runs += 1;
    sum.simulatedMs += outcome.simulatedMs;
    sum.events += outcome.events;
    sum.faults += outcome.faults.length;
    if (outcome.violation !== undefined) {
      sum.failures += 1;
      console.log(`${seedText(spec)}  ${sentenceOf(outcome)}`);
    }
    if (performance.now() - shownAt < SHOWN_EVERY_MS) continue;
    shownAt = performance.now();
    console.log(summaryOf(sum));
  }
  console.log(summaryOf(sum));
  console.log(`${sum.runs - sum.failures} passed, ${sum.failures} failed`);
  return sum.failures > 0 ? 1 : 0;
}

/** Runs one seed, and makes it smaller if it fails. */
async function repeat(spec: Spec): Promise<number> {
  const outcome = await simulate(spec);
  console.log(
    `${seedText(spec)}: ${outcome.processes} processes, ${outcome.faults.length} faults, ${outcome.events} events`,
  );
  console.log(`hash of the trace: ${outcome.hash}`);
  if (outcome.violation === undefined) {
    console.log(`${shownTime(outcome.simulatedMs)} without a fault of the gateway`);
    return 0;
  }
  console.log(sentenceOf(outcome));
  const smallest = await shrink(spec, outcome);
  const shown = await simulate({ ...smallest.spec, keepsTrace: true });
  console.log(`\nThe smallest that fails in the same way has ${shown.processes} processes and these faults:`);
  for (const [, fault] of shown.faults) console.log(`  ${shownFault(fault)}`);
  console.log(`\n${shown.trace.slice(-TRACE_LINES).join('\n')}`);
  return 1;
}

function sentenceOf({ violation }: Outcome): string {
  return `${violation?.checker} at ${shownTime(violation?.atMs ?? 0)}: ${violation?.message}`;
}

function summaryOf({ runs, simulatedMs, events, faults, failures }: Record<string, number>): string {
  const hours = ((simulatedMs ?? 0) / HOUR_MS).toFixed(1);
  const { user, system } = process.cpuUsage();
  const spent = `${((user + system) / 60e6).toFixed(1)} minutes of a core`;
  return `${runs} seeds, ${hours} simulated hours, ${events} events, ${faults} faults, ${failures} failures, ${spent}`;
}
