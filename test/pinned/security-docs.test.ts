// docs/security.md names the test of each control: each file that it names exists, and every risk of the list has one.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/security.md', root), 'utf8');
const named = [...new Set([...page.matchAll(/`((?:test|gateway)\/[\w./-]+)`/g)].map(([, file]) => file as string))];

describe('docs/security.md', () => {
  for (const file of named) {
    it(`names a file or a folder that exists: ${file}`, () => assert.ok(existsSync(new URL(file, root))));
  }

  it('has a control and a test for each of the ten risks', () => {
    const rows = page.split('\n').flatMap((line) => {
      const [, risk = '', control = '', tests = ''] = line.split('|').map((cell) => cell.trim());
      return /^API\d+ /.test(risk) ? [{ risk, control, tests }] : [];
    });
    assert.deepEqual(
      rows.map(({ risk }) => risk.split(' ')[0]),
      Array.from({ length: 10 }, (_, at) => `API${at + 1}`),
    );
    for (const { risk, control, tests } of rows) {
      assert.ok(control.length > 40, risk);
      assert.match(tests, /`test\/[\w./-]+\.test\.ts`/, risk);
    }
  });

  it('names every test of attacks', () => {
    const files = readdirSync(new URL('test/attack/', root)).filter((file) => file.endsWith('.test.ts'));
    assert.deepEqual(
      files.filter((file) => !named.includes(`test/attack/${file}`)),
      [],
    );
  });
});
