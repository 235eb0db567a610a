// `npm run bench:keys`: the cost of a million keys for a key store and the gateway's memory of callers, and the cost of a flood of unknown
// keys for known ones. Absolute figures are those of one machine on one day; the ratio of the flood is measured in one run.

import { randomInt } from 'node:crypto';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Directory } from '../gateway/auth/directory.ts';
import type { KeyStore } from '../gateway/auth/store/key-store.ts';
import { digestOf, KEYS_PER_ORGANIZATION, keyAt, organizationAt, recordAt, strangeKey } from './sample-keys.ts';
import { type StoreInUse, useRedis, useSqlite } from './store-in-use.ts';

const { values } = parseArgs({
  options: {
    keys: { type: 'string', default: '1000000' },
    store: { type: 'string', default: 'sqlite' },
    'redis-url': { type: 'string', default: 'redis://127.0.0.1:6379' },
    rounds: { type: 'string', default: '7' },
    flood: { type: 'string', default: '1000000' },
  },
});
if (values.store !== 'sqlite' && values.store !== 'redis') throw new Error('--store is sqlite or redis.');
const total = Number(values.keys);
const rounds = Number(values.rounds);
const flood = Number(values.flood);

const BATCH = 2000;
const LOOK_UPS = 10_000;
const KNOWN = 1000;
/** Strange keys that are looked up at the same time. */
const AT_ONCE = 20;
/** As configured by default. */
const BOUNDS = { positiveMax: 100_000, negativeMax: 10_000 };

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

interface Measured {
  readonly what: string;
  readonly p50: string;
  readonly p99: string;
}

async function importAll(store: KeyStore): Promise<number> {
  let tookMs = 0;
  for (let first = 0; first < total; first += BATCH) {
    const count = Math.min(BATCH, total - first);
    const keys = Array.from({ length: count }, (_, index) => recordAt(first + index));
    const owners = Array.from({ length: Math.ceil(count / KEYS_PER_ORGANIZATION) }, (_, index) =>
      organizationAt(first / KEYS_PER_ORGANIZATION + index),
    );
    const startedAt = performance.now();
    await store.import(owners, keys, 'bench');
    tookMs += performance.now() - startedAt;
  }
  return tookMs / 1000;
}

/** One after the other, in microseconds. */
async function measure<T>(what: string, items: readonly T[], ask: (item: T) => unknown): Promise<Measured> {
  const times: number[] = [];
  for (const item of items) {
    const startedAt = performance.now();
    const answer = ask(item);
    if ((answer instanceof Promise ? await answer : answer) === undefined) throw new Error(`${what}: not found`);
    times.push((performance.now() - startedAt) * 1000);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => `${(times[Math.floor(times.length * share)] ?? 0).toFixed(1)} µs`;
  return { what, p50: at(0.5), p99: at(0.99) };
}

async function startDirectory(store: KeyStore): Promise<Directory> {
  const directory = new Directory({ store, digestOf, host: 'bench', pid: process.pid, now: Date.now, ...BOUNDS });
  // Its first reading of the change stream drops everything learned before.
  await sleep(300);
  return directory;
}

async function lookUps(store: KeyStore): Promise<Measured[]> {
  const keys = Array.from({ length: LOOK_UPS }, () => keyAt(randomInt(total)));
  const digests = keys.map(digestOf);
  const directory = await startDirectory(store);
  const measured = [
    await measure('findByDigest, first', digests, (digest) => store.keys.findByDigest(digest)),
    await measure('findByDigest, again', digests, (digest) => store.keys.findByDigest(digest)),
    await measure('callerOf, from the store', keys, (key) => directory.callerOf(key)),
    await measure('callerOf, remembered', keys, (key) => directory.callerOf(key)),
  ];
  await directory.close();
  return measured;
}

/** Mean microseconds of callerOf for known keys. Between two of them an invented key is made, and in a flood also looked up. */
async function knownDuring(directory: Directory, known: readonly string[], flooded: boolean): Promise<number> {
  let tookMs = 0;
  for (const key of known) {
    const strange = strangeKey();
    if (flooded) await directory.callerOf(strange);
    const startedAt = performance.now();
    const caller = directory.callerOf(key);
    tookMs += performance.now() - startedAt;
    if (caller === undefined || caller instanceof Promise) throw new Error('A known caller was forgotten.');
  }
  return (tookMs * 1000) / known.length;
}

async function floodKnown(directory: Directory, known: readonly string[]) {
  const calm: number[] = [];
  const flooded: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    calm.push(await knownDuring(directory, known, false));
    flooded.push(await knownDuring(directory, known, true));
  }
  return { calm: median(calm), flooded: median(flooded) };
}

/** Bytes by which the heap grew over the whole flood, garbage not counted. */
async function heapGrowth(directory: Directory, known: readonly string[]): Promise<number> {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let sent = 0; sent < flood; sent += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => directory.callerOf(strangeKey())));
    // Callers that keep calling stay remembered.
    directory.callerOf(known[(sent / AT_ONCE) % known.length] ?? '');
  }
  collectGarbage();
  return process.memoryUsage().heapUsed - before;
}

const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
const print = (text: string) => process.stdout.write(`${text}\n`);

function rss(): string {
  collectGarbage();
  return mebibytes(process.memoryUsage().rss);
}

async function run(inUse: StoreInUse): Promise<void> {
  const [emptyBytes, emptyRss] = [await inUse.bytes(), rss()];
  let store = await inUse.open();
  const seconds = await importAll(store);
  const importedRss = rss();
  await store.close();
  const bytes = (await inUse.bytes()) - emptyBytes;
  print(`import: ${seconds.toFixed(1)} s in batches of ${BATCH}, ${Math.round(total / seconds)} keys/s`);
  print(`store: ${mebibytes(bytes)}, ${Math.round(bytes / total)} bytes per key`);

  store = await inUse.open();
  console.table(await lookUps(store));
  print(`memory of this process: ${emptyRss} at first, ${importedRss} after the import, ${rss()} after the look-ups`);

  const directory = await startDirectory(store);
  const known = Array.from({ length: Math.min(KNOWN, total) }, (_, index) => keyAt(index));
  for (const key of known) await directory.callerOf(key);
  await floodKnown(directory, known);
  const { calm, flooded } = await floodKnown(directory, known);
  const ratio = (flooded / calm).toFixed(2);
  print(
    `known callers: ${calm.toFixed(2)} µs, ${flooded.toFixed(2)} µs during a flood of keys that do not exist, × ${ratio}`,
  );
  print(`heap: ${mebibytes(await heapGrowth(directory, known))} more after ${flood} keys that do not exist`);
  const { callers, absences } = directory.status();
  print(`remembered: ${callers} callers, ${absences} absences`);
  await directory.close();
  await store.close();
}

print(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}; ${total} keys in ${values.store}`);
const inUse = values.store === 'redis' ? await useRedis(values['redis-url']) : useSqlite();
try {
  await run(inUse);
} finally {
  await inUse.end();
}
