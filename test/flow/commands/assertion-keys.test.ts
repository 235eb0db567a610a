// The commands that show the assertion keys and rotate them.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newAssertionKey, printAssertionKeys } from '../../../gateway/config/secrets/assertion-keys.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { START_MS } from '../../unit/auth/samples.ts';
import { commandLine } from './command-line.ts';

const MINUTE = 60_000;

/** A command line in a directory with a key store. */
function lineWithData(...of: Parameters<typeof commandLine>) {
  const line = commandLine(...of);
  line.openStore().close();
  return line;
}

const iso = (atMs: number) => new Date(atMs).toISOString();

test('a rotation publishes a new key at once, which signs after the lead, and ends the former after the overlap', async () => {
  const { json, clock } = lineWithData();
  const [former] = await json('assertion-keys', 'list');
  assert.deepEqual(former, { kid: former.kid, state: 'signing', from: null, until: null });

  const { added, keys } = await json('assertion-keys', 'rotate');
  const until = iso(START_MS + 70 * MINUTE);
  const from = iso(START_MS + 10 * MINUTE);
  assert.deepEqual(keys, [
    { kid: former.kid, state: 'signing', from: null, until },
    { kid: added, state: 'next', from, until: null },
  ]);

  const states = async () => (await json('assertion-keys', 'list')).map(({ state }: { state: string }) => state);
  clock.nowMs += 10 * MINUTE;
  assert.deepEqual(await states(), ['retiring', 'signing']);
  clock.nowMs += 60 * MINUTE;
  assert.deepEqual(await states(), ['past', 'signing']);
});

test('lead and overlap can be set, and are refused where keys would be met before they are known', async () => {
  const { json, run } = lineWithData();
  const { keys } = await json('assertion-keys', 'rotate', '--lead', '30m', '--overlap', '2m');
  assert.equal(keys[1].from, iso(START_MS + 30 * MINUTE));
  assert.equal(keys[0].until, iso(START_MS + 32 * MINUTE));
  for (const flags of [
    ['--lead', '9s'],
    ['--lead', 'soon'],
    ['--overlap', '119s'],
  ]) {
    const { code, err } = await run('assertion-keys', 'rotate', ...flags);
    assert.deepEqual([code, /is not a duration of (10|120)s or more/.test(err)], [2, true]);
  }
});

test('a lead that upstreams may sleep through is a warning, beside the output', async () => {
  const { run } = lineWithData();
  const short = await run('assertion-keys', 'rotate', '--lead', '5m', '--print');
  assert.match(short.err, /^warning: an upstream that caches keys/);
  assert.equal(JSON.parse(short.out).keys.length, 2);
  assert.equal((await run('assertion-keys', 'rotate', '--lead', '6m')).err, '');
});

test('people see columns and a sentence, and no private key is shown', async () => {
  const { run, openSecrets } = lineWithData();
  const outputs = [
    await run('assertion-keys', 'rotate'),
    await run('assertion-keys', 'rotate', '--json'),
    await run('assertion-keys', 'list'),
    await run('audit', '--json'),
  ];
  assert.match(outputs[0]?.out ?? '', /^KID +STATE +SIGNS FROM +PUBLISHED UNTIL\n/);
  assert.match(outputs[0]?.out ?? '', /is published from now on and signs from 2026-11-20T12:10:00Z\.\n$/);
  for (const { d } of await openSecrets().assertionKeys()) {
    for (const { code, out } of outputs) assert.ok(code === 0 && !out.includes(d));
  }
});

test('the audit log records the actor of a rotation and both keys', async () => {
  const { json } = lineWithData();
  const { keys } = await json('assertion-keys', 'rotate');
  const [row] = await json('audit');
  assert.deepEqual([row.kind, row.by], ['configuration.changed', 'tests']);
  assert.deepEqual(row.details, { assertion_keys: 'rotated', keys });
});

test('rotations at once do not lose each other', async () => {
  const { json, openSecrets } = lineWithData();
  await json('assertion-keys', 'list');
  const rotations = await Promise.all(Array.from({ length: 4 }, () => json('assertion-keys', 'rotate')));
  const kids = (await json('assertion-keys', 'list')).map(({ kid }: { kid: string }) => kid);
  assert.equal(kids.length, 5);
  for (const { added } of rotations) assert.ok(kids.includes(added));
  const starts = (await openSecrets().assertionKeys()).map(({ signs_from }) => signs_from);
  assert.equal(new Set(starts).size, 5, 'each signs from a moment of its own');
});

test('a set of the secrets store is left alone, and the new one printed on request', async () => {
  const directory = join(temporaryDirectory(), 'secrets-store');
  const key = newAssertionKey();
  mkdirSync(directory);
  writeFileSync(join(directory, 'assertion_keys'), printAssertionKeys([key]));
  const { run, json } = lineWithData(undefined, { SECRETS_DIR: directory });
  assert.match((await run('assertion-keys', 'rotate')).err, /comes from SECRETS_DIR or the environment.*--print/);

  const { code, out } = await run('assertion-keys', 'rotate', '--print');
  assert.equal(code, 0);
  const { keys } = JSON.parse(out);
  assert.deepEqual(keys[0], { ...key, published_until: START_MS / 1000 + 70 * 60 });
  assert.equal(keys[1].signs_from, START_MS / 1000 + 10 * 60);
  assert.equal((await json('assertion-keys', 'list')).length, 1, 'nothing has changed yet');
  assert.deepEqual(await json('audit'), []);

  writeFileSync(join(directory, 'assertion_keys'), out);
  assert.equal((await json('assertion-keys', 'list'))[1].state, 'next');
});

test('a rotation that was cut off names the file that it left behind', async () => {
  const dataDirectory = temporaryDirectory();
  const { run, json } = lineWithData(dataDirectory);
  await json('assertion-keys', 'list');
  const lock = join(dataDirectory, 'secrets', '.assertion_keys.lock');
  writeFileSync(lock, '');
  const { err } = await run('assertion-keys', 'rotate');
  assert.ok(err.endsWith(`left behind: ${lock}`), err);
  assert.deepEqual(readdirSync(join(dataDirectory, 'secrets')).sort(), ['.assertion_keys.lock', 'assertion_keys']);
});
