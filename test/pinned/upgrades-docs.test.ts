// The table of docs/operations.md says which version of each stored form this gateway has, and which former versions tests try.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SCHEMA_VERSION } from '../../gateway/auth/store/redis/key-store-script.ts';
import { VERSIONED_FILES } from '../../gateway/process/store-files.ts';
import { FORMER } from '../support/former/fixture.ts';

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const section = page.slice(page.indexOf('\n## Upgrades'), page.indexOf('\n## Renewing secrets'));
const rows = section.split('\n').filter((line) => line.startsWith('| `'));

/** The version in the row of a stored form. */
const versionOf = (name: string) =>
  Number.parseInt(rows.find((row) => row.startsWith(`| \`${name}\``))?.split('|')[3] ?? '', 10);

test('the table of stored forms has the version of each', () => {
  for (const [file, steps] of Object.entries(VERSIONED_FILES)) assert.equal(versionOf(file), steps.length, file);
  assert.equal(versionOf('{gateway}:*'), SCHEMA_VERSION);
});

test('the table says what goes back to the versions that tests try', () => {
  for (const version of FORMER) assert.match(section, new RegExp(`\\| Back to \`${version}\` +\\|`));
});
