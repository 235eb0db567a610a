// The effect of Redis outages on an organization, for every kind of outage: each happens to real servers under steady traffic. Prints a
// table for docs/performance.md. Needs redis-server on the PATH, takes two minutes: node bench/outages.ts

import { setTimeout as sleep } from 'node:timers/promises';
import type { Charge, LimitDecision } from '../gateway/limits/counters/counter-store.ts';
import { createRedisCounterStore } from '../gateway/limits/counters/redis/redis-counter-store.ts';
import { slotOf } from '../gateway/redis/slot.ts';
import { temporaryDirectory } from '../test/support/directory.ts';
import { startRelay, startServer } from '../test/support/redis.ts';
import { askServer, startCluster, startWatched } from '../test/support/redis-topologies.ts';

const LIMIT = 50;
const WINDOW_MS = 2000;
const INSTANCES = 2;
/** Of each instance, between an answer and the next question: together about four times the limit. */
const PAUSE_MS = 20;
const HEALTHY_MS = 3000;

interface Outage {
  readonly name: string;
  readonly url: string;
  /** Resolves when the server is there again, as far as it was this outage's to end. */
  happen(): Promise<void>;
  stop(): Promise<void>;
}

interface Seen {
  readonly verdict: LimitDecision;
  /** The time of the request, on the clock of `performance.now()`. */
  readonly askedAt: number;
  readonly tookMs: number;
}

const CHARGES: readonly Charge[] = [
  {
    counter: 'rl:{org_outage}:organization',
    policy: 'organization',
    requests: LIMIT,
    windowSeconds: WINDOW_MS / 1000,
    windowMs: WINDOW_MS,
    cost: 1,
    enforce: true,
  },
];

async function standalone(
  name: string,
  happen: (server: Awaited<ReturnType<typeof startServer>>) => Promise<void>,
): Promise<Outage> {
  const server = await startServer();
  return { name, url: server.url, happen: () => happen(server), stop: () => server.stop() };
}

async function slow(): Promise<Outage> {
  const server = await startServer();
  const relay = await startRelay(server.url);
  return {
    name: 'answers after 500 ms',
    url: relay.url,
    async happen() {
      relay.slowDown(500);
      await sleep(1500);
      relay.slowDown(0);
    },
    async stop() {
      await relay.stop();
      await server.stop();
    },
  };
}

async function loading(): Promise<Outage> {
  const dir = temporaryDirectory();
  // A millisecond for each counter that it loads.
  const slowly = ['--key-load-delay', '1000', '--loading-process-events-interval-bytes', '1024'];
  const server = await startServer('--dir', dir, ...slowly);
  return {
    name: 'killed, and 1.5 s loading its data (`LOADING`)',
    url: server.url,
    async happen() {
      await askServer(server.port, 'MSET', ...Array.from({ length: 3000 }, (_, number) => `${number}`));
      await askServer(server.port, 'SAVE');
      await server.kill();
      await server.restart();
    },
    async stop() {
      await server.stop();
    },
  };
}

async function failover(name: string, how: 'kill' | 'replace'): Promise<Outage> {
  const watched = await startWatched();
  return {
    name,
    url: watched.url,
    happen: () => (how === 'kill' ? watched.master.kill() : watched.failOver()),
    stop: watched.stop,
  };
}

async function lostServer(): Promise<Outage> {
  const cluster = await startCluster();
  const slot = slotOf(CHARGES[0]?.counter ?? '');
  const server = cluster.servers[Math.floor((slot * cluster.servers.length) / 16_384)];
  return {
    name: 'its server of a Cluster killed, restarted empty 1.5 s later',
    url: cluster.url,
    async happen() {
      await server?.kill();
      await sleep(1500);
      await server?.restart();
    },
    stop: cluster.stop,
  };
}

const OUTAGES: readonly (() => Promise<Outage>)[] = [
  () =>
    standalone('killed, restarted empty 1.5 s later', async (server) => {
      await server.kill();
      await sleep(1500);
      await server.restart();
    }),
  () =>
    standalone('frozen for 1.5 s', async (server) => {
      server.pause();
      await sleep(1500);
      server.resume();
    }),
  slow,
  loading,
  () =>
    standalone('out of memory for 1.5 s (`OOM`)', async ({ port }) => {
      await askServer(port, 'CONFIG', 'SET', 'maxmemory', '1');
      await sleep(1500);
      await askServer(port, 'CONFIG', 'SET', 'maxmemory', '0');
    }),
  () =>
    standalone('a replica for 1.5 s (`READONLY`)', async ({ port }) => {
      await askServer(port, 'REPLICAOF', '127.0.0.1', '1');
      await sleep(1500);
      await askServer(port, 'REPLICAOF', 'NO', 'ONE');
    }),
  () =>
    standalone('scripts forgotten (`NOSCRIPT`)', async ({ port }) => void (await askServer(port, 'SCRIPT', 'FLUSH'))),
  () => failover('Sentinel: master killed', 'kill'),
  () => failover('Sentinel: master replaced while it lives', 'replace'),
  lostServer,
];

/** One instance under steady traffic until `goesOn` returns false. */
async function serve(url: string, seen: Seen[], goesOn: () => boolean): Promise<void> {
  const store = createRedisCounterStore({
    url,
    whenStoreIsAway: () => 'local',
    now: Date.now,
    instances: () => INSTANCES,
  });
  await store.firstAttempt;
  for (; goesOn(); await sleep(PAUSE_MS)) {
    const askedAt = performance.now();
    const verdict = await store.decide(CHARGES);
    seen.push({ verdict, askedAt, tookMs: performance.now() - askedAt });
  }
  await store.close();
}

async function measure(open: () => Promise<Outage>): Promise<string> {
  const outage = await open();
  const seen: Seen[] = [];
  let goesOn = true;
  const serving = Array.from({ length: INSTANCES }, () => serve(outage.url, seen, () => goesOn));
  await sleep(HEALTHY_MS);
  const beganAt = performance.now();
  await outage.happen();
  const endedAt = performance.now();
  // A failover ends by itself.
  await sleep(HEALTHY_MS + 2 * WINDOW_MS);
  goesOn = false;
  await Promise.all(serving);
  await outage.stop();
  return rowOf(outage.name, seen, beganAt, endedAt);
}

function rowOf(name: string, seen: readonly Seen[], beganAt: number, endedAt: number): string {
  const during = seen.filter(({ askedAt }) => askedAt >= beganAt);
  const away = during.filter(({ verdict }) => verdict.source === 'local');
  const last = away.at(-1)?.askedAt;
  const waits = away.map(({ tookMs }) => tookMs).sort((one, other) => one - other);
  const p99 = waits[Math.floor(waits.length * 0.99)] ?? 0;
  const back =
    last === undefined
      ? '0'
      : `${((last - beganAt) / 1000).toFixed(1)} s / ${Math.max(0, (last - endedAt) / 1000).toFixed(1)} s`;
  const over = Math.max(0, busiest(seen) - LIMIT);
  const local =
    away.length === 0
      ? 'nothing'
      : `${admissionsIn(away)} admitted, ${away.length - admissionsIn(away)} refused by \`local\``;
  return `| ${name} | ${local} | ${p99.toFixed(0)} ms | ${over} | ${back} |`;
}

const isAdmission = ({ verdict }: Seen) => verdict.outcome === 'admitted';
const admissionsIn = (seen: readonly Seen[]) => seen.filter(isAdmission).length;

/** The most admissions in any span as long as the window, by the clock of the clients. */
function busiest(seen: readonly Seen[]): number {
  const times = seen.filter(isAdmission).map(({ verdict }) => verdict.decidedAtMs);
  times.sort((one, other) => one - other);
  let most = 0;
  let first = 0;
  for (const [index, at] of times.entries()) {
    while ((times[first] ?? at) <= at - WINDOW_MS) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

// Nothing else keeps this process alive while a server is on its way out.
const alive = setInterval(() => undefined, 1000);
console.log(
  '| Redis is | Answers to clients meanwhile | Longest wait (p99) | Over-admitted | Redis decides again after its beginning / end |',
);
console.log('| --- | --- | --- | --- | --- |');
for (const outage of OUTAGES) console.log(await measure(outage));
clearInterval(alive);
