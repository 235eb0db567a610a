// What a former version stored: test/support/former/<commit>/, which write.ts had that version write.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lookInside } from '../redis.ts';
import { restoreRedis, restoreSqlite } from './dump.ts';
import type { WRITES } from './shop.ts';

/** The version before the present one, and the one before that. */
export const FORMER = ['0af7161', '67ad2c9'] as const;
export type Former = (typeof FORMER)[number];
type StoreKind = 'embedded' | 'redis';

/** What the tests know about a fixture. Keys are encoded: none may look like one in a repository. */
export interface Facts {
  readonly keys: Readonly<Record<string, string>>;
  readonly answers: Readonly<Record<string, { readonly status: number; readonly text: string }>>;
}

export interface Fixture {
  /** The text of a key, by what it is: `good`, `suspended`, `revoked`, `rotated`, `successor`. */
  key(name: string): string;
  /** The first answer to a write. */
  answerTo(name: keyof typeof WRITES): { readonly status: number; readonly text: string } | undefined;
  /** Bytes of the console's history; undefined for a version that keeps none. */
  readonly history: Buffer | undefined;
}

interface FixtureTarget {
  readonly dataDirectory: string;
  /** Takes what the version kept in Redis; without it, the data directory takes the embedded stores. */
  readonly redisUrl?: string | undefined;
  /** How long ago everything happened, in addition. Default 0: it has just happened. */
  readonly agedMs?: number;
}

const pathOf = (version: Former, file: string) => fileURLToPath(new URL(`./${version}/${file}`, import.meta.url));
const textOf = (version: Former, file: string) => readFileSync(pathOf(version, file), 'utf8');

/** Puts the stores of a version in place, as they were left when its gateway was killed. */
export async function restoreFixture(
  version: Former,
  { dataDirectory, redisUrl, agedMs = 0 }: FixtureTarget,
): Promise<Fixture> {
  const kind: StoreKind = redisUrl === undefined ? 'embedded' : 'redis';
  const nowMs = Date.now();
  const files = JSON.parse(textOf(version, `${kind}-files.json`)) as Record<string, string>;
  for (const [file, content] of Object.entries(files)) {
    const path = join(dataDirectory, file);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, Buffer.from(content, 'base64'), { mode: 0o600 });
  }
  if (redisUrl === undefined) {
    for (const file of readdirSync(pathOf(version, '')).filter((name) => name.endsWith('.sql')))
      restoreSqlite(join(dataDirectory, file.replace(/\.sql$/, '')), textOf(version, file), nowMs - agedMs);
  } else {
    const client = lookInside(redisUrl);
    await restoreRedis(client, textOf(version, 'redis.jsonl'), nowMs, agedMs);
    client.disconnect();
  }
  const { keys, answers } = (JSON.parse(textOf(version, 'facts.json')) as Record<StoreKind, Facts>)[kind];
  return {
    key: (name) => Buffer.from(keys[name] ?? '', 'base64').toString(),
    answerTo: (name) => answers[name],
    history: existsSync(pathOf(version, 'console-history.jsonl'))
      ? historyOf(textOf(version, 'console-history.jsonl'))
      : undefined,
  };
}

function historyOf(text: string): Buffer {
  const [head = '', rest = '{}'] = text.split('\n');
  const { words, counts } = JSON.parse(rest) as { words: number; counts: Record<string, number> };
  const cells = Buffer.alloc(4 * words);
  for (const [at, count] of Object.entries(counts)) cells.writeUInt32LE(count, 4 * Number(at));
  return Buffer.concat([Buffer.from(`${head}\n`), cells]);
}
