import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { endLine, headerLine, keyLine, organizationLine } from '../../../gateway/commands/keys/export-form.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { issue, organization, pepperFingerprint, START_MS } from '../../unit/auth/samples.ts';
import { commandLine } from './command-line.ts';

const keys = [issue().record, issue().record];
/** Line 1 is the header, 2 an organization, 3 and 4 its keys, 5 the end. */
const lines = [
  headerLine(pepperFingerprint, START_MS),
  organizationLine(organization()),
  ...keys.map(keyLine),
  endLine({ organizations: 1, keys: 2 }),
];

function fileOf(text: string): string {
  const file = join(temporaryDirectory(), 'keys.jsonl');
  writeFileSync(file, text);
  return file;
}

const without = (number: number) => lines.toSpliced(number - 1, 1).join('');
/** Members changed in one line; undefined: taken out. */
function changed(number: number, members: object): string {
  const line = `${JSON.stringify({ ...JSON.parse(lines[number - 1] as string), ...members })}\n`;
  return lines.with(number - 1, line).join('');
}

for (const [what, text, place, reason] of [
  ['is empty', '', 1, /there is nothing in it/],
  ['is something else', '{"users":[]}\n', 1, /this is not an export of keys/],
  ['is no text', '\x00\x01\x02', 1, /this is not an export of keys/],
  ['has no line ends', 'x'.repeat(3_000_000), 1, /this is not an export of keys/],
  ['is of a newer form', changed(1, { version: 2, more: true }), 1, /of version 2 .* knows version 1; use a newer/],
  ['is of no version', changed(1, { version: '1' }), 1, /"version" must be 1/],
  ['is of another pepper', changed(1, { pepper_fingerprint: 'x'.repeat(43) }), 1, /another key_pepper .* KEY_PEPPER/],
  ['is cut off in a line', lines.join('').slice(0, -30), 5, /not a JSON object; the file may have been cut off here/],
  ['is cut off after a line', without(5), 4, /it was cut off after this line/],
  ['lacks a line', without(4), 4, /it had 1 organization and 2 keys, and 1 organization and 1 key are here/],
  ['goes on after its end', `${lines.join('')}{}\n`, 6, /there is something after the end/],
  ['lacks an organization', without(2), 2, /the organization org_acme of this key does not come before it/],
  ['has an empty line', lines.toSpliced(2, 0, '\n').join(''), 3, /not a JSON object/],
  ['has a list', lines.with(2, '[]\n').join(''), 3, /not a JSON object/],
  ['has a line of another kind', changed(3, { kind: 'token' }), 3, /neither an organization nor a key nor the end/],
  ['has a bad mode', changed(3, { mode: 'prod' }), 3, /"mode" must be "live" or "test"/],
  ['has a bad digest', changed(3, { digest: 'abc' }), 3, /"digest" must be 43 characters of base64url/],
  ['has a bad scope', changed(3, { scopes: ['a b'] }), 3, /"scopes" must be a list of scopes/],
  ['has a bad range', changed(3, { allowed_cidrs: ['10.0.0.0/33'] }), 3, /"allowed_cidrs" must be a list of addresses/],
  ['has a bad time', changed(3, { created_at: '2026-02-30T12:00:00.000Z' }), 3, /"created_at" must be a time such as/],
  ['has a bad end of a key', changed(3, { expires_at: 0 }), 3, /"expires_at" must be a time .*, or null/],
  ['has a member too many', changed(4, { key: 'x' }), 4, /it has a member "key", which is unknown/],
  ['has a member too few', changed(4, { mode: undefined }), 4, /its member "mode" is missing/],
  ['has a bad state', changed(2, { state: 'gone' }), 2, /"state" must be "active" or "suspended"/],
  ['has a bad id', changed(2, { id: 'acme' }), 2, /"id" must be the id of an organization/],
  ['has a bad operator', changed(2, { operator: 'yes' }), 2, /"operator" must be true or false/],
  ['has a bad count', changed(5, { keys: -2 }), 5, /"keys" must be a whole number/],
] as const) {
  test(`a file that ${what} is refused with its line, and no line of it is imported`, async () => {
    const { run, openStore } = commandLine();
    const file = fileOf(text);
    const { code, out, err } = await run('keys', 'import', file);
    assert.deepEqual([code, out], [1, '']);
    assert.ok(err.startsWith(`${file}, line ${place}: `) && err.endsWith('. Nothing was imported.'), err);
    assert.match(err, reason);
    assert.deepEqual([await openStore().keys.list(), await openStore().organizations.list()], [[], []]);
  });
}

test('the file that those were made from is imported', async () => {
  const { json, openStore } = commandLine();
  assert.deepEqual((await json('keys', 'import', fileOf(lines.join('')))).keys, { new: 2, already_there: 0 });
  assert.deepEqual(await openStore().keys.list(), keys);
});

test('a mistake in standard input says how many records were imported before it', async () => {
  const { run } = commandLine();
  await run('seed', '--organizations', '2100', '--tier', 'premium');
  const { out: text } = await run('keys', 'export');
  const { runWith, openStore } = commandLine();
  const { code, err } = await runWith({ input: [text.slice(0, -1000)] }, 'keys', 'import', '-');
  assert.equal(code, 1);
  assert.match(
    err,
    /line 4199: .* Before that, 2100 organizations and 1900 keys were imported; importing again adds the rest\.$/,
  );
  assert.equal((await openStore().keys.list()).length, 1900);
});

test('a file that is not there or is a directory is named', async () => {
  const { run } = commandLine();
  const directory = temporaryDirectory();
  const absent = await run('keys', 'import', join(directory, 'none'));
  assert.deepEqual(
    [absent.code, absent.err],
    [
      1,
      `The file ${join(directory, 'none')} cannot be read (ENOENT). Name a file that "gateway keys export" has written.`,
    ],
  );
  assert.deepEqual((await run('keys', 'import', directory)).err, `${directory} is a directory.`);
});
