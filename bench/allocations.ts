// `npm run bench:allocations`: the bytes that a request allocates in the engine's heap, of the gateway and of the floor, and the functions
// that allocate them. They depend less than CPU time on what else the machine does: on a busy one, batches are smaller.

import { parseArgs } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { inspectFlag, openInspector } from './allocations/inspector.ts';
import { EMBEDDED_GATEWAY, entryOf, FLOOR, GATEWAY } from './contestants/list.ts';
import { type Contestant, path, stop } from './contestants.ts';
import { type Ground, withGround } from './ground.ts';
import { runLoad } from './load.ts';
import { describeMachine } from './machine.ts';
import { printTable, type Row, sentenceOf } from './print.ts';
import { type Attribution, attributeBytes, type HeapProfile } from './profile/attribution.ts';
import { strangeKey } from './sample-keys.ts';
import { requestsOf, type Scenario, scenarioOf, verify } from './scenarios.ts';
import { round } from './statistics.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    scenarios: { type: 'string', default: 'GET list,POST 1 kB' },
    only: { type: 'string', default: [FLOOR, GATEWAY, EMBEDDED_GATEWAY].join(',') },
    /** The contestant whose functions are listed. */
    sites: { type: 'string', default: GATEWAY },
    /** Functions in the list. */
    rows: { type: 'string', default: '20' },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
});

/** The engine takes a sample of the allocated objects, on average one in so many bytes. */
const SAMPLED_BYTES = 512;
const WARM_UP_REQUESTS = 20_000;
/**
 * Few, because the gateway signs an assertion and writes the use of each caller at intervals: on a slow machine that is more per request.
 */
const CALLERS = 20;

interface Allocated {
  readonly contestant: string;
  readonly scenario: string;
  /** Sums over all requests. */
  readonly attribution: Attribution;
  readonly answers: number;
}

const load = { connections: Number(values.connections), durationMs: Number(values.seconds) * 1000 };
const scenarios = values.scenarios.split(',').map(scenarioOf);
const allocated = await withGround({}, async (ground) => {
  const taken: Allocated[] = [];
  for (const id of values.only.split(',')) taken.push(...(await allocationsOf(id, scenarios, ground, '')));
  return taken;
});
const [first] = scenarios as [Scenario];
const [sites] = await withGround({}, (ground) =>
  allocationsOf(values.sites, [first], ground, ` --import ${path('allocations/without-inlining.ts')}`),
);

const rows = allocated.map(({ contestant, scenario, ...one }) => ({
  contestant,
  scenario,
  'kB/request': round(perRequest(one.attribution.total, one) / 1000, 2),
}));
const siteRows = sites === undefined ? [] : rowsOfSites(sites);
if (values.json) process.stdout.write(`${JSON.stringify({ ...describeMachine(), rows, sites: siteRows })}\n`);
else {
  process.stdout.write(`${sentenceOf(describeMachine())}; kB of the engine's heap per request\n\n`);
  printTable(rows, values.markdown);
  process.stdout.write(
    `\n${values.sites}, ${first.name}, by function of the gateway, without inlining; bytes per request\n\n`,
  );
  printTable(siteRows, values.markdown);
}

async function allocationsOf(
  id: string,
  asked: readonly Scenario[],
  ground: Ground,
  moreOptions: string,
): Promise<Allocated[]> {
  const debugPort = await freePort();
  const redisUrl = await ground.startRedis();
  const environment = { NODE_OPTIONS: `${inspectFlag(debugPort)}${moreOptions}` };
  const port = await freePort();
  const directory = `${ground.directory}/${port}`;
  const prepared = entryOf(id).prepare({ ...ground, directory, redisUrl, port, keys: [strangeKey()], environment });
  const contestant = await prepared.start();
  try {
    const taken: Allocated[] = [];
    for (const scenario of asked) {
      await warmUp(contestant, scenario);
      taken.push(await sample(contestant, scenario, debugPort));
    }
    return taken;
  } finally {
    await stop(contestant.process);
  }
}

/** Until the gateway remembers every caller, and has prepared itself and been optimized by the engine. */
async function warmUp(contestant: Contestant, scenario: Scenario): Promise<void> {
  const { port } = contestant;
  const requests = fewRequestsOf(contestant, scenario);
  for (let answers = 0; answers < WARM_UP_REQUESTS; ) answers += (await runLoad({ ...load, port, requests })).answers;
}

function fewRequestsOf(contestant: Contestant, scenario: Scenario): Buffer[] {
  return requestsOf(scenario, contestant.port, scenario.keysOf(contestant).slice(0, CALLERS));
}

async function sample(contestant: Contestant, scenario: Scenario, debugPort: number): Promise<Allocated> {
  const requests = fewRequestsOf(contestant, scenario);
  const inspector = await openInspector(debugPort);
  await inspector.call('HeapProfiler.startSampling', {
    samplingInterval: SAMPLED_BYTES,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  const result = await runLoad({ ...load, port: contestant.port, requests });
  const { profile } = (await inspector.call('HeapProfiler.stopSampling')) as { profile: HeapProfile };
  inspector.close();
  verify(contestant.name, scenario, result, undefined);
  const attribution = attributeBytes(profile, new URL('../', import.meta.url).href);
  return { contestant: contestant.name, scenario: scenario.name, attribution, answers: result.answers };
}

function perRequest(bytes: number, { answers }: Pick<Allocated, 'answers'>): number {
  return bytes / answers;
}

function rowsOfSites(one: Allocated): Row[] {
  return one.attribution.callers.slice(0, Number(values.rows)).map(({ name, amount }) => ({
    'stage: function': name,
    bytes: Math.round(perRequest(amount, one)),
  }));
}
