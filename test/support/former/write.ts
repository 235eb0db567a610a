// Has a version of the gateway write the fixtures that the next one is tried with: `node test/support/former/write.ts TREE NAME`, where
// TREE is a checkout of that version with its packages. Writes test/support/former/NAME/.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { orderingConfiguration } from '../../flow/acme/acme-gateway.ts';
import { temporaryDirectory } from '../directory.ts';
import { startPebble } from '../pebble.ts';
import { lookInside, startServer } from '../redis.ts';
import { dumpRedis, dumpSqlite } from './dump.ts';
import type { Facts } from './fixture.ts';
import { createKey, type Environment, issueIn, runVersion, startVersion } from './run.ts';
import { askShop, sendWrite, startShopService, USED, WRITES, writeShop } from './shop.ts';

const encoded = (text: string) => Buffer.from(text).toString('base64');

/** Organizations and keys in every state that they can have. */
async function fillKeyStore(tree: string, environment: Environment): Promise<Record<string, string>> {
  const command = (...args: string[]) => runVersion(tree, environment, ...args);
  const { key: good } = await issueIn(tree, environment, { tier: 'exact' });
  const { key: suspended } = await issueIn(tree, environment, { organization: 'org_suspended' });
  const [revoked, rotated] = [
    await createKey(tree, environment, 'org_acme'),
    await createKey(tree, environment, 'org_acme'),
  ];
  await command('orgs', 'suspend', 'org_suspended');
  await command('keys', 'revoke', revoked.id, '--reason', "a customer's laptop");
  const successor = JSON.parse(await command('keys', 'rotate', rotated.id, '--overlap', '300d', '--json'))
    .key as string;
  const keys = { good, suspended, revoked: revoked.key, rotated: rotated.key, successor };
  return Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, encoded(key)]));
}

/** Every kind of stored answer, counters and uses. The last gateway is killed while a write runs. */
async function fillTraffic(tree: string, environment: Environment, keys: Facts['keys']): Promise<Facts['answers']> {
  const key = Buffer.from(keys.good ?? '', 'base64').toString();
  const answers: Record<string, { status: number; text: string }> = {};
  const first = await startVersion(tree, environment);
  for (const name of Object.keys(WRITES) as (keyof typeof WRITES)[]) {
    if (name === 'running') continue;
    const { status, text } = await sendWrite(first.port, key, name);
    answers[name] = { status, text: name === 'long' ? '' : text };
  }
  const json = { 'content-type': 'application/json' };
  for (let i = 0; i < USED.listOld; i++) await askShop(first.port, key, 'GET /v1/old');
  for (let i = 0; i < USED.exports; i++)
    await askShop(first.port, key, 'POST /v1/exports', { body: '{}', headers: json });
  await askShop(first.port, key.replace(/.$/, 'x'), 'GET /v1/items');
  await sleep(2500);
  await first.stop();
  const second = await startVersion(tree, environment);
  const running = sendWrite(second.port, key, 'running').catch(() => undefined);
  await sleep(500);
  await second.kill();
  await running;
  return answers;
}

/** Files in the data directory that are no database. */
function filesIn(directory: string, below = ''): Record<string, string> {
  return Object.fromEntries(
    readdirSync(join(directory, below)).flatMap((name): [string, string][] => {
      const path = join(below, name);
      if (statSync(join(directory, path)).isDirectory()) return Object.entries(filesIn(directory, path));
      if (/\.(db|sqlite)(-\w+)?$|console-history|running\.lock/.test(name)) return [];
      return [[path, readFileSync(join(directory, path)).toString('base64')]];
    }),
  );
}

/** The counts of the history are mostly zero: only the other four-byte words are written. */
function historyIn(bytes: Buffer): string {
  const end = bytes.indexOf(10) + 1;
  const words: Record<number, number> = {};
  for (let at = end; at < bytes.length; at += 4) {
    const word = bytes.readUInt32LE(at);
    if (word !== 0) words[(at - end) / 4] = word;
  }
  return `${bytes.subarray(0, end - 1)}\n${JSON.stringify({ words: (bytes.length - end) / 4, counts: words })}\n`;
}

/** Adds certificates that the version ordered, if it can. */
async function orderCertificate(tree: string, environment: Environment, upstream: string, directory: string) {
  const pebble = await startPebble();
  try {
    const { gateway, files } = orderingConfiguration({ pebble, certificates: [['api.example.com']] });
    writeShop(directory, upstream, { gateway, files });
    const running = await startVersion(tree, environment);
    pebble.validateAt({ tls: [running.port] });
    for (let i = 0; i < 200; i++) {
      const status = await (await fetch(`http://127.0.0.1:${running.adminPort}/status`)).json();
      if ((status as { certificates: { state: string }[] }).certificates[0]?.state === 'valid') break;
      await sleep(100);
    }
    await running.kill();
  } finally {
    await pebble.close();
  }
}

async function write(tree: string, name: string): Promise<void> {
  const target = fileURLToPath(new URL(`./${name}/`, import.meta.url));
  const work = temporaryDirectory();
  const service = await startShopService();
  const redis = await startServer();
  const client = lookInside(redis.url);
  const canOrder = name !== '67ad2c9';
  mkdirSync(target, { recursive: true });
  const facts: Record<string, Facts> = {};
  for (const [kind, more] of Object.entries({ embedded: {}, redis: { REDIS_URL: redis.url } })) {
    const directory = join(work, kind);
    const data = join(directory, 'data');
    const environment = { ...writeShop(directory, service.url), GATEWAY_DATA: data, ...more };
    const keys = await fillKeyStore(tree, environment);
    if (canOrder) await orderCertificate(tree, environment, service.url, directory);
    writeShop(directory, service.url);
    const answers = await fillTraffic(tree, environment, keys);
    const nowMs = Date.now();
    facts[kind] = { keys, answers };
    writeFileSync(join(target, `${kind}-files.json`), `${JSON.stringify(filesIn(data), null, 2)}\n`);
    if (kind === 'redis') {
      writeFileSync(join(target, 'redis.jsonl'), await dumpRedis(client, nowMs));
      continue;
    }
    for (const file of readdirSync(data).filter((one) => /\.(db|sqlite)$/.test(one)))
      writeFileSync(join(target, `${file}.sql`), dumpSqlite(join(data, file), nowMs));
    const history = join(data, 'console-history');
    if (existsSync(history)) writeFileSync(join(target, 'console-history.jsonl'), historyIn(readFileSync(history)));
  }
  writeFileSync(join(target, 'facts.json'), `${JSON.stringify(facts, null, 2)}\n`);
  client.disconnect();
  await Promise.all([redis.stop(), service.close()]);
  rmSync(work, { recursive: true });
}

const [, , tree = '', name = ''] = process.argv;
await write(tree, name);
process.exit(0);
