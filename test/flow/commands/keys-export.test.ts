import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { exportPieces } from '../../../gateway/commands/keys/export.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { issue, organization } from '../../unit/auth/samples.ts';
import { commandLine } from './command-line.ts';

const { record: lateKey } = issue({ organization: 'org_late' });
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

async function withKeys() {
  const line = commandLine();
  await line.run(
    'orgs',
    'create',
    '--id',
    'org_a',
    '--name',
    'A\u2028"A"',
    '--tier',
    'premium',
    '--contact',
    'a@example.com',
  );
  await line.run('orgs', 'create', '--id', 'org_b', '--name', 'B', '--tier', 'standard', '--operator');
  await line.run('orgs', 'suspend', 'org_b');
  const create = (id: string, ...flags: string[]) =>
    line.json('keys', 'create', '--org', id, '--mode', 'live', '--scopes', '*', ...flags);
  const first = await create('org_a', '--expires', '30d', '--allow', '192.0.2.0/24', '--name', 'first');
  const second = await line.json('keys', 'rotate', first.id);
  const third = await create('org_b');
  await line.run('keys', 'revoke', third.id, '--reason', 'leaked');
  await line.openStore().keys.noteUses(new Map([[second.id, line.clock.nowMs + 1]]));
  return { ...line, keys: [first, second, third] };
}

test('keys export is a header, the organizations, the keys as digests, and how many there are', async () => {
  const { run, openStore, keys } = await withKeys();
  const { out, err } = await run('keys', 'export');
  const [header, a, b, first, second, third, end, ...rest] = linesOf(out);
  const { pepperFingerprint } = openStore();
  const exportedAt = '2026-11-20T12:00:00.000Z';
  const about = { format: 'gateway-keys', version: 1, pepper_fingerprint: pepperFingerprint, exported_at: exportedAt };
  assert.deepEqual(header, about);
  assert.deepEqual([a.name, a.contacts, a.operator], ['A\u2028"A"', ['a@example.com'], false]);
  assert.deepEqual(b, { kind: 'organization', ...(await openStore().organizations.get('org_b')) });
  assert.deepEqual(
    [first, second, third].map(({ kind, id }) => [kind, id]),
    keys.map(({ id }) => ['key', id]),
  );
  assert.deepEqual([first.replaced_by, first.expires_at], [second.id, '2026-11-21T12:00:00.000Z']);
  assert.deepEqual([first.allowed_cidrs, first.mode, first.name], [['192.0.2.0/24'], 'live', 'first']);
  assert.deepEqual([third.revoked_by, third.revoked_reason, third.revoked_at], ['tests', 'leaked', exportedAt]);
  assert.equal(second.last_used_at, '2026-11-20T12:00:00.001Z');
  assert.deepEqual([end, rest], [{ kind: 'end', organizations: 2, keys: 3 }, []]);
  for (const { key } of keys) assert.ok(!out.includes(key.slice(12, -4)));
  assert.equal(err, 'Exported 2 organizations and 3 keys.\n');
  assert.equal((await run('keys', 'export', '--json')).err, '');
});

test('keys export --file writes the same bytes as standard output, readable by the owner only', async () => {
  const { run, json } = await withKeys();
  const directory = temporaryDirectory();
  const file = join(directory, 'keys.jsonl');
  writeFileSync(file, 'of an earlier day');
  assert.equal((await run('keys', 'export', '--file', file)).out, `Exported 2 organizations and 3 keys to ${file}.\n`);
  assert.equal(readFileSync(file, 'utf8'), (await run('keys', 'export')).out);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(await json('keys', 'export', '--file', file), { file, organizations: 2, keys: 3 });
  assert.deepEqual(readdirSync(directory), ['keys.jsonl']);
});

test('an export that cannot be written leaves no file behind', async () => {
  const { run } = await withKeys();
  const directory = temporaryDirectory();
  const file = join(directory, 'taken');
  mkdirSync(file);
  const exportTo = async (path: string) => (await run('keys', 'export', '--file', path)).err;
  assert.match(await exportTo(file), /taken is no plain file\. Leave --file out/);
  assert.match(await exportTo(join(file, 'no', 'file')), /cannot be written \(ENOENT\)\.$/);
  const link = join(directory, 'link');
  symlinkSync(join(directory, 'elsewhere'), link);
  assert.match(await exportTo(link), /link is no plain file/);
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.deepEqual(readdirSync(directory).sort(), ['link', 'taken']);
});

test('records made during an export may be missing, but never the organization of an exported key', async () => {
  const { run, openStore, clock } = commandLine();
  await run('seed', '--organizations', '1', '--tier', 'standard');
  const store = openStore();
  const pieces: string[] = [];
  for await (const piece of exportPieces(store, clock.nowMs, () => undefined)) {
    pieces.push(piece);
    // The organizations have been read, the keys have not.
    if (pieces.length === 2) await store.seed([organization({ id: 'org_late' })], [lateKey], 'tests');
  }
  const kinds = linesOf(pieces.join('')).map(({ kind, id }) => (id === 'org_late' || id === lateKey.id ? id : kind));
  assert.deepEqual(kinds, [undefined, 'organization', 'org_late', 'key', lateKey.id, 'end']);
  assert.deepEqual(linesOf(pieces.join('')).at(-1), { kind: 'end', organizations: 2, keys: 2 });
});
