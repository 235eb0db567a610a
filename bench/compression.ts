// The cost of compressing one answer: CPU per answer and its size, for JSON lists of 1, 10 and 100 kB, at once and as a stream. No sockets:
// node:zlib alone. All threads count, because streams are compressed in the thread pool.

import { once } from 'node:events';
import zlib, { constants } from 'node:zlib';
import { describeMachine } from './machine.ts';
import { printTable, type Row, sentenceOf } from './print.ts';
import { median } from './statistics.ts';

const ROUNDS = 5;
/** Input of one round, so that large and small bodies take equally long. */
const BYTES_PER_ROUND = 4_000_000;

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT, ZSTD_c_compressionLevel } = constants;
const brotli = (quality: number) => ({ params: { [BROTLI_PARAM_QUALITY]: quality } });
const zstd = (level: number) => ({ params: { [ZSTD_c_compressionLevel]: level } });

interface Contestant {
  readonly name: string;
  once(body: Buffer): Buffer;
  stream(): zlib.Gzip | zlib.BrotliCompress | zlib.ZstdCompress;
}

const CONTESTANTS: readonly Contestant[] = [
  ...[1, 6].map((level) => ({
    name: `gzip ${level}`,
    once: (body: Buffer) => zlib.gzipSync(body, { level }),
    stream: () => zlib.createGzip({ level }),
  })),
  ...[1, 4].map((quality) => ({
    name: `br ${quality}`,
    once: (body: Buffer) =>
      zlib.brotliCompressSync(body, { params: { ...brotli(quality).params, [BROTLI_PARAM_SIZE_HINT]: body.length } }),
    stream: () => zlib.createBrotliCompress(brotli(quality)),
  })),
  ...[1, 3].map((level) => ({
    name: `zstd ${level}`,
    once: (body: Buffer) => zlib.zstdCompressSync(body, zstd(level)),
    stream: () => zlib.createZstdCompress(zstd(level)),
  })),
];

/** A page of a list, as an API gives it: names repeat, ids and times do not. */
function pageOf(bytes: number): Buffer {
  const items: object[] = [];
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed;
  };
  let text = '';
  while (text.length < bytes) {
    items.push({
      id: `job_${random().toString(36)}${random().toString(36)}`,
      status: ['queued', 'running', 'succeeded', 'failed'][random() % 4],
      created_at: new Date(1_760_000_000_000 + (random() % 1_000_000_000)).toISOString(),
      owner: { id: random() % 10_000, name: `Owner ${random() % 100}` },
      amount: random() % 100_000,
      labels: ['nightly', 'export'].slice(0, random() % 3),
    });
    text = JSON.stringify({ data: items, has_more: true });
  }
  return Buffer.from(text);
}

async function streamed(make: Contestant['stream'], body: Buffer): Promise<void> {
  const stream = make();
  stream.resume();
  stream.end(body);
  await once(stream, 'close');
}

/** Microseconds of CPU per body. */
async function measured(count: number, work: () => unknown): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const before = process.cpuUsage();
    for (let index = 0; index < count; index += 1) await work();
    const { user, system } = process.cpuUsage(before);
    // The first one warms up.
    if (round > 0) rounds.push((user + system) / count);
  }
  return median(rounds);
}

const rows: Row[] = [];
for (const kilobytes of [1, 10, 100]) {
  const body = pageOf(kilobytes * 1000);
  const count = Math.ceil(BYTES_PER_ROUND / body.length);
  for (const { name, once: atOnce, stream } of CONTESTANTS) {
    const bytes = atOnce(body).length;
    rows.push({
      coding: name,
      body: `${kilobytes} kB`,
      bytes,
      'of the body %': Math.round((bytes / body.length) * 100),
      'at once µs': Math.round(await measured(count, () => atOnce(body))),
      'as a stream µs': Math.round(await measured(Math.min(count, 500), () => streamed(stream, body))),
    });
  }
}
process.stdout.write(`${sentenceOf(describeMachine())}\n\n`);
printTable(rows, process.argv.includes('--markdown'));
