// An upstream gets several times its capacity, behind a gateway as operators run it: its throughput, the waits of callers, the memory of
// the gateway, the effect on others, and the time until all is over.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryDirectory } from '../../test/support/directory.ts';
import { createInstallation } from '../../test/support/process.ts';
import { runLoad } from '../load.ts';
import { residentBytesOf } from '../machine.ts';
import { percentile } from '../statistics.ts';
import { type Outcome, offer } from './offer.ts';
import { startSlowUpstream } from './slow-upstream.ts';

export interface TrialOptions {
  readonly durationMs: number;
  /** How long the upstream works on each of the five requests that it takes at once. */
  readonly eachMs: number;
  /** All busy organizations together. */
  readonly perSecond: number;
  readonly busyOrganizations: number;
  /** Further members of the entry of the upstream, for trying other rules. */
  readonly entry?: object;
}

export interface Figures {
  /** Served per second: the most the upstream can do, and under overload. */
  readonly peakPerSecond: number;
  readonly goodputPerSecond: number;
  readonly offeredPerSecond: number;
  /** Of served requests, and of refused ones. */
  readonly servedP50Ms: number;
  readonly servedP99Ms: number;
  readonly refusedP99Ms: number;
  /** Least and most that one of the busy organizations got, per second. */
  readonly leastOfOnePerSecond: number;
  readonly mostOfOnePerSecond: number;
  /** An organization with little load at the same upstream, and one at another upstream: before and meanwhile. */
  readonly quietServed: string;
  readonly quietP99Ms: string;
  readonly otherServed: string;
  readonly otherP99Ms: string;
  /** Refusals by the exhausted resource. */
  readonly shed: string;
  readonly grownMegabytes: number;
  /** From the end of the load until a request is served as before. */
  readonly recoveredAfterMs: number;
}

const AT_ONCE = 5;
/** The share of the offered load that comes from an organization with little load: well below its turn. */
const QUIET_PART = 1 / 125;

export async function overloadTrial(options: TrialOptions): Promise<Figures> {
  const capacity = { atOnce: AT_ONCE, eachMs: options.eachMs };
  const [slow, other] = await Promise.all([startSlowUpstream(capacity), startSlowUpstream(capacity)]);
  const directory = temporaryDirectory();
  writeConfiguration(directory, {
    slow: { contracts: ['slow.yaml'], live: slow.url, ...options.entry },
    other: { contracts: ['other.yaml'], live: other.url },
  });
  const installation = createInstallation({ GATEWAY_CONFIG: directory, GATEWAY_CONTRACTS: join(directory, 'openapi') });
  try {
    const keys = await seed(installation, options.busyOrganizations + 2);
    const gateway = await installation.start();
    const pid = gateway.child.pid as number;
    const request = (path: string, key: string) =>
      Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    const [quietKey = '', otherKey = '', ...busyKeys] = keys;
    const { port } = gateway;
    const little = (path: string, key: string, durationMs: number) =>
      offer({
        port,
        durationMs,
        perSecond: options.perSecond * QUIET_PART,
        connections: 50,
        requests: [request(path, key)],
      });
    const quietly = (durationMs: number) =>
      Promise.all([little('/v1/slow', quietKey, durationMs), little('/v1/other', otherKey, durationMs)]);

    await quietly(1000);
    const calm = await quietly(3000);
    const peak = await runLoad({
      port,
      connections: 16,
      durationMs: 3000,
      requests: busyKeys.map((key) => request('/v1/slow', key)),
    });
    const before = residentBytesOf([pid]);
    let most = before;
    const sampling = setInterval(() => {
      most = Math.max(most, residentBytesOf([pid]));
    }, 100);
    const { durationMs, perSecond, busyOrganizations } = options;
    const [meanwhile, ...busy] = await Promise.all([
      quietly(durationMs),
      ...busyKeys.map((key) =>
        offer({
          port,
          durationMs,
          perSecond: perSecond / busyOrganizations,
          connections: 400,
          requests: [request('/v1/slow', key)],
        }),
      ),
    ]);
    const recoveredAfterMs = await recovery(
      port,
      gateway.adminPort,
      request('/v1/slow', busyKeys[0] as string),
      options.eachMs,
    );
    clearInterval(sampling);
    const shed = await shedBy(gateway.adminPort);
    await gateway.stop();
    return {
      peakPerSecond: Math.round((peak.statuses[200] ?? 0) / peak.seconds),
      ...figuresOf(busy),
      quietServed: servedOf(meanwhile[0]),
      quietP99Ms: `${p99(calm[0].servedMs)} → ${p99(meanwhile[0].servedMs)}`,
      otherServed: servedOf(meanwhile[1]),
      otherP99Ms: `${p99(calm[1].servedMs)} → ${p99(meanwhile[1].servedMs)}`,
      shed,
      grownMegabytes: Math.round((most - before) / 2 ** 20),
      recoveredAfterMs,
    };
  } finally {
    installation.remove();
    await Promise.all([slow.close(), other.close()]);
  }
}

function writeConfiguration(directory: string, upstreams: object): void {
  mkdirSync(join(directory, 'openapi'));
  const write = (file: string, content: object) => writeFileSync(join(directory, file), JSON.stringify(content));
  write('gateway.yaml', { logLevel: 'warn', timeouts: { drainDelayMs: 0 }, connections: { perAddress: 10_000 } });
  write('upstreams.yaml', { upstreams });
  for (const name of Object.keys(upstreams)) write(`openapi/${name}.yaml`, contractOf(name));
  write('limits.yaml', { tiers: { premium: { requests: 1_000_000 } } });
}

/** One operation, that lists something. */
function contractOf(name: string): object {
  const answer = { description: 'done', content: { 'application/json': { schema: { type: 'object' } } } };
  const get = { operationId: `list_${name}`, security: [{ apiKey: [`${name}:read`] }], responses: { 200: answer } };
  return {
    openapi: '3.1.1',
    info: { title: name, version: '1' },
    servers: [{ url: '/' }],
    components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
    paths: { [`/v1/${name}`]: { get } },
  };
}

async function seed(installation: ReturnType<typeof createInstallation>, organizations: number): Promise<string[]> {
  const { stdout, stderr } = await installation.run(
    'seed',
    '--organizations',
    String(organizations),
    '--tier',
    'premium',
    '--json',
  );
  if (stdout === '') throw new Error(`No organization was made:\n${stderr}`);
  return stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { key: string }).key);
}

function figuresOf(busy: readonly Outcome[]) {
  const perSecondOf = ({ servedInTime, seconds }: Outcome) => Math.round(servedInTime / seconds);
  const sum = (numbers: readonly number[]) => numbers.reduce((one, another) => one + another, 0);
  const ascending = (lists: readonly (readonly number[])[]) => lists.flat().sort((one, another) => one - another);
  const served = ascending(busy.map(({ servedMs }) => servedMs));
  const refused = ascending(busy.map(({ refusedMs }) => refusedMs));
  const each = busy.map(perSecondOf);
  return {
    goodputPerSecond: sum(each),
    offeredPerSecond: Math.round(
      sum(busy.map(({ servedMs, refusedMs, seconds }) => (servedMs.length + refusedMs.length) / seconds)),
    ),
    servedP50Ms: Math.round(percentile(served, 0.5)),
    servedP99Ms: p99(served),
    refusedP99Ms: p99(refused),
    leastOfOnePerSecond: Math.min(...each),
    mostOfOnePerSecond: Math.max(...each),
  };
}

const p99 = (ascending: readonly number[]) => Math.round(percentile(ascending, 0.99));

function servedOf({ statuses, servedMs, refusedMs }: Outcome): string {
  return `${statuses[200] ?? 0} of ${servedMs.length + refusedMs.length}`;
}

async function shedBy(adminPort: number): Promise<string> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  return [...text.matchAll(/^gateway_shed_total\{reason="(\w+)"\} (\d+)$/gm)]
    .map(([, reason, count]) => `${reason} ${count}`)
    .join(', ');
}

/** Milliseconds until no request waits or is refused, and a request takes as long as without overload. */
async function recovery(port: number, adminPort: number, request: Buffer, eachMs: number): Promise<number> {
  const since = performance.now();
  for (;;) {
    const one = await offer({ port, perSecond: 50, durationMs: 100, connections: 20, requests: [request] });
    const { upstreams } = (await (await fetch(`http://127.0.0.1:${adminPort}/status`)).json()) as {
      upstreams: { slow: { waiting: number; shedding: boolean } };
    };
    const isServed = one.refusedMs.length === 0 && (one.servedMs.at(-1) ?? 0) < 10 * eachMs;
    if (isServed && upstreams.slow.waiting === 0 && !upstreams.slow.shedding)
      return Math.round(performance.now() - since);
    if (performance.now() - since > 60_000) return Number.POSITIVE_INFINITY;
    await sleep(50);
  }
}
