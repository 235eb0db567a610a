// `npm run bench:slow`: where the slowest of a thousand requests through the gateway wait, at a fixed rate: in the client, in sockets, in the
// gateway, for the upstream, and how much of that time the gateway collects garbage.

import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { path, stop } from './contestants.ts';
import { runLoad } from './load.ts';
import { CORES, describeMachine, pin } from './machine.ts';
import { runPaced } from './paced.ts';
import { printTable, sentenceOf } from './print.ts';
import { LIST, requestsOf, verify } from './scenarios.ts';
import { monotonicMs } from './slow/clock.ts';
import { type Collection, type Logged, type Row, rowsOf, type Wait } from './slow/parts.ts';
import { withGateway } from './stand.ts';
import { round } from './statistics.ts';

const { values } = parseArgs({
  options: {
    /** Default: half of the gateway's maximum. */
    'per-second': { type: 'string' },
    seconds: { type: 'string', default: '20' },
    connections: { type: 'string', default: '64' },
    /** With its own stores in place of Redis. */
    embedded: { type: 'boolean', default: false },
    /** Puts the client on the gateway's core, away from upstream and Redis. */
    'client-beside-gateway': { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
});
const durationMs = Number(values.seconds) * 1000;
const connections = Number(values.connections);
const LOG = 'log.jsonl';
const COLLECTIONS = 'collections.json';

const stand = {
  isPrompt: true,
  embedded: values.embedded,
  output: LOG,
  environment: (directory: string) => ({
    NODE_OPTIONS: `--import=${pathToFileURL(path('slow/observer.ts')).href}`,
    COLLECTIONS_FILE: join(directory, COLLECTIONS),
  }),
};
const { rows, perSecond } = await withGateway(stand, async ({ gateway, directory }) => {
  const { port } = gateway;
  const requests = requestsOf(LIST, port, LIST.keysOf(gateway));
  const fullLoad = { port, connections, requests };
  await runLoad({ ...fullLoad, durationMs: 3000 });
  const full = await runLoad({ ...fullLoad, durationMs: 2000 });
  const rate = Math.round(Number(values['per-second'] ?? full.answers / full.seconds / 2));
  if (values['client-beside-gateway']) pin(process.pid, CORES.contestant);
  await runPaced({ ...fullLoad, durationMs: 1000, perSecond: rate });
  const waits: Wait[] = [];
  const sinceMs = monotonicMs() - performance.now();
  const result = await runPaced({
    ...fullLoad,
    requests: numbered(requests, Math.ceil((rate * durationMs * 1.1) / 1000)),
    durationMs,
    perSecond: rate,
    onAnswer: (index, dueAt, sentAt, answeredAt) => {
      waits[index] = { dueMs: sinceMs + dueAt, sentMs: sinceMs + sentAt, answeredMs: sinceMs + answeredAt };
    },
  });
  verify(gateway.name, LIST, result, undefined);
  // Log and collections are complete at the end.
  await stop(gateway.process);
  const logged = await readLog(join(directory, LOG));
  const collections = JSON.parse(readFileSync(join(directory, COLLECTIONS), 'utf8')) as Collection[];
  const found = waits.flatMap((wait, index) => {
    const line = logged.get(index);
    return line === undefined ? [] : [{ ...wait, ...line }];
  });
  return { rows: rowsOf(found, collections), perSecond: rate };
});

process.stdout.write(
  `${sentenceOf(describeMachine())}; ${perSecond} requests a second for ${values.seconds} s, ${values.embedded ? 'embedded stores' : 'Redis'}, ` +
    `client on the core of ${values['client-beside-gateway'] ? 'the gateway' : 'upstream and Redis'}; medians in milliseconds\n\n`,
);
printTable(rows.map(toCells), values.markdown);

/** Requests that say their number, which the log line repeats. */
function numbered(requests: readonly Buffer[], count: number): Buffer[] {
  const heads = requests.map((request) => request.toString('latin1').slice(0, -2));
  return Array.from({ length: count }, (_, index) =>
    Buffer.from(`${heads[index % heads.length]}X-Request-Id: ${index}\r\n\r\n`, 'latin1'),
  );
}

/** The times of all numbered requests. */
async function readLog(file: string): Promise<ReadonlyMap<number, Logged>> {
  const logged = new Map<number, Logged>();
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (!line.includes('"client_request_id"')) continue;
    const { client_request_id: id, duration_ms: ms, upstream_ms: upstreamMs } = JSON.parse(line);
    logged.set(Number(id), { durationMs: ms, upstreamMs: upstreamMs ?? 0 });
  }
  return logged;
}

function toCells({ of, requests, waitMs, parts, collecting, collected, moments }: Row) {
  return {
    of,
    requests,
    moments,
    wait: round(waitMs, 2),
    'in the client': round(parts.client, 2),
    sockets: round(parts.outside, 2),
    gateway: round(parts.gateway, 2),
    upstream: round(parts.upstream, 2),
    collecting: round(collecting, 2),
    'with a collection ≥ 1 ms': `${round(collected * 100, 0)} %`,
  };
}
