// `npm run bench:profile`: where the microseconds of a request go, by stage, by file and by function, from a CPU profile of the gateway
// with everything on at full load.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { path, pidsOf, stop } from './contestants.ts';
import { runLoad } from './load.ts';
import { cpuMicrosOf, describeMachine } from './machine.ts';
import { printTable, sentenceOf } from './print.ts';
import { type Attribution, attribute, type CpuProfile, type Share } from './profile/attribution.ts';
import { requestsOf, SCENARIOS, verify } from './scenarios.ts';
import { type Stand, withGateway } from './stand.ts';
import { round } from './statistics.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '64' },
    /** The beginning of a scenario's name. */
    scenario: { type: 'string', default: 'GET' },
    embedded: { type: 'boolean', default: false },
    /** Rows of the tables by file and by function. */
    rows: { type: 'string', default: '25' },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
});
const durationMs = Number(values.seconds) * 1000;
const rowsMax = Number(values.rows);
const scenario = SCENARIOS.find(({ name }) => name.startsWith(values.scenario));
if (scenario === undefined) throw new Error(`--scenario: there are ${SCENARIOS.map(({ name }) => name).join(', ')}.`);

const profiled = await withGateway(
  {
    embedded: values.embedded,
    environment: (directory) => ({ NODE_OPTIONS: `--cpu-prof --cpu-prof-interval=200 --cpu-prof-dir=${directory}` }),
  },
  async ({ gateway, directory }: Stand) => {
    const requests = requestsOf(scenario, gateway.port, scenario.keysOf(gateway));
    const load = { port: gateway.port, connections: Number(values.connections), requests };
    await runLoad({ ...load, durationMs: 3000 });
    const pids = pidsOf(gateway);
    const [fromMicros, cpuBefore] = [monotonicMicros(), cpuMicrosOf(pids)];
    const result = await runLoad({ ...load, durationMs });
    const [toMicros, cpuAfter] = [monotonicMicros(), cpuMicrosOf(pids)];
    verify(gateway.name, scenario, result, undefined);
    // The profile is written at the end.
    await stop(gateway.process);
    const attribution = attribute(profileIn(directory, pids[0] as number), rootUrl(), { fromMicros, toMicros });
    return { attribution, cpuPerRequest: (cpuAfter - cpuBefore) / result.answers };
  },
);

if (values.json) {
  process.stdout.write(`${JSON.stringify({ ...describeMachine(), scenario: scenario.name, ...profiled })}\n`);
} else print(profiled);

/** The clock of the profile. */
function monotonicMicros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** That of the main thread. */
function profileIn(directory: string, pid: number): CpuProfile {
  const file = readdirSync(directory).find((name) => name.includes(`.${pid}.0.`));
  if (file === undefined) throw new Error('The gateway left no profile.');
  return JSON.parse(readFileSync(join(directory, file), 'utf8'));
}

function rootUrl(): string {
  return pathToFileURL(path('../')).href;
}

function print({ attribution, cpuPerRequest }: { attribution: Attribution; cpuPerRequest: number }): void {
  process.stdout.write(
    `${scenario?.name}: ${round(cpuPerRequest, 1)} µs of CPU per request while profiled, which costs some itself. ` +
      `${sentenceOf(describeMachine())}; ${values.seconds} s, ${values.connections} connections.\n\n`,
  );
  const { stages, files, functions, total } = attribution;
  // Shares of the CPU time that the system has counted: the profile sees one thread only, and only at its samples.
  const toRows = (what: string, shares: readonly Share[]) =>
    shares.map(({ name, amount }) => ({
      [what]: name,
      'µs/request': round((amount / total) * cpuPerRequest, 2),
      '%': round((amount / total) * 100, 1),
    }));
  const worthMentioning = stages.filter(({ amount }) => amount > total / 1000);
  printTable(toRows('stage', worthMentioning), values.markdown);
  printTable(toRows('file', files.slice(0, rowsMax)), values.markdown);
  printTable(toRows('stage: function', functions.slice(0, rowsMax)), values.markdown);
}
