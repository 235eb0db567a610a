// Stores as text that a person can read, and back. Moments are written as distances from now, so that a text stays as fresh as it was:
// what had a minute left has a minute left whenever it is read.

import { DatabaseSync } from 'node:sqlite';
import type { Redis } from 'ioredis';

const NEAR_MS = 400 * 86_400_000;
/** Thirteen digits are milliseconds of these years. */
const MILLISECONDS = /(?<![\d.<+-])1[5-9]\d{11}(?!\d)/g;

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

function withDistances(text: string, nowMs: number): string {
  return text
    .replaceAll(`{${dayOf(nowMs)}}`, '{<today>}')
    .replaceAll(`'${dayOf(nowMs)}'`, "'<today>'")
    .replace(MILLISECONDS, (digits) => {
      const distance = Number(digits) - nowMs;
      return Math.abs(distance) > NEAR_MS ? digits : `<now${distance < 0 ? '' : '+'}${distance}>`;
    });
}

function withMoments(text: string, nowMs: number): string {
  return text
    .replaceAll('<today>', dayOf(nowMs))
    .replace(/<now([+-]\d+)>/g, (_, distance) => String(nowMs + Number(distance)));
}

/** A database as SQL. */
export function dumpSqlite(path: string, nowMs: number): string {
  const database = new DatabaseSync(path);
  const version = database.prepare('PRAGMA user_version').get()?.user_version;
  const schema = database
    .prepare('SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid')
    .all();
  const own = schema.filter(({ name }) => !String(name).startsWith('sqlite_'));
  const tables = schema.filter(({ type }) => type === 'table');
  const rows = tables.flatMap(({ name }) =>
    database
      .prepare(`SELECT * FROM ${name}`)
      .all()
      .map((row) => `INSERT INTO ${name} VALUES (${Object.values(row).map(literalOf).join(', ')});`),
  );
  database.close();
  const statements = [...own.map(({ sql }) => `${String(sql).replace(/\s+/g, ' ')};`), ...rows];
  return withDistances(`${[...statements, `PRAGMA user_version = ${version};`].join('\n')}\n`, nowMs);
}

function literalOf(value: unknown): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return `CAST(${literalOf(Buffer.from(value).toString())} AS BLOB)`;
  const pieces = String(value)
    .split('\n')
    .map((line) => `'${line.replaceAll("'", "''")}'`);
  return pieces.join(' || char(10) || ');
}

export function restoreSqlite(path: string, sql: string, nowMs: number): void {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; ${withMoments(sql, nowMs)}`);
  database.close();
}

/**
 * Entries of a counter: latest admission in milliseconds, units before, units in it, halvings (gateway/limits/counters/redis/window.lua).
 */
const ENTRY_BYTES = 17;

/** A Redis as commands, one JSON array a line. */
export async function dumpRedis(client: Redis, nowMs: number): Promise<string> {
  const lines: string[][] = [];
  for (const name of (await client.keys('*')).sort()) {
    lines.push(...(await commandsFor(client, name)).map(([command = '', ...args]) => [command, name, ...args]));
    const ttl = await client.pttl(name);
    if (ttl > 0) lines.push(['PEXPIRE', name, String(ttl)]);
  }
  return withDistances(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`, nowMs);
}

/** The commands that make a value, without its name. */
async function commandsFor(client: Redis, name: string): Promise<string[][]> {
  switch (await client.type(name)) {
    case 'string':
      return [['SET', (await client.get(name)) ?? '']];
    case 'hash':
      return Object.entries(await client.hgetall(name)).map(([field, value]) => ['HSET', field, shown(name, value)]);
    case 'list':
      return (await client.lrangeBuffer(name, 0, -1)).map((item) => ['RPUSH', entryOf(item)]);
    case 'zset': {
      const members = await client.zrange(name, '0', '-1', 'WITHSCORES');
      return members.flatMap((member, at) => (at % 2 === 0 ? [['ZADD', members[at + 1] ?? '', member]] : []));
    }
    case 'stream':
      return (await client.xrange(name, '-', '+')).map(([id, fields]) => ['XADD', id, ...fields]);
    default:
      throw new Error(`${name} is of a kind that is not known here`);
  }
}

/** No secret may look like one in a repository. */
function shown(name: string, value: string): string {
  return name.endsWith('{gateway}:secrets') ? `<base64 ${Buffer.from(value).toString('base64')}>` : value;
}

function entryOf(item: Buffer): string {
  if (item.length !== ENTRY_BYTES || item.every((byte) => byte >= 32 && byte < 127)) return item.toString();
  return `<entry ${item.readUIntLE(0, 6)} ${item.readUIntLE(6, 6)} ${item.readUInt32LE(12)} ${item[16]}>`;
}

function bytesOf(text: string): string | Buffer {
  const [, encoded] = /^<base64 (\S+)>$/.exec(text) ?? [];
  if (encoded !== undefined) return Buffer.from(encoded, 'base64');
  const [, last, before, units, halvings] = /^<entry (\d+) (\d+) (\d+) (\d+)>$/.exec(text) ?? [];
  if (last === undefined) return text;
  const bytes = Buffer.alloc(ENTRY_BYTES);
  bytes.writeUIntLE(Number(last), 0, 6);
  bytes.writeUIntLE(Number(before), 6, 6);
  bytes.writeUInt32LE(Number(units), 12);
  bytes[16] = Number(halvings);
  return bytes;
}

/** @param agedMs how long ago the text was written, in place of a moment ago */
export async function restoreRedis(client: Redis, text: string, nowMs: number, agedMs: number): Promise<void> {
  for (const line of withMoments(text, nowMs - agedMs)
    .trimEnd()
    .split('\n')) {
    const [command = '', name = '', ...args] = JSON.parse(line) as string[];
    if (command === 'PEXPIRE') await client.pexpire(name, Number(args[0]) - agedMs);
    else await client.call(command, [name, ...args.map(bytesOf)]);
  }
}
