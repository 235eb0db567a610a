// The rules of CONTRIBUTING.md for names that a pattern can find: an exported name has one definition, and fixed values are in capitals.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const EXPORT = /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type) (\w+)/gm;

it('no exported name is defined in two files', () => {
  const files = globSync(['gateway/**/*.ts', 'sandbox/**/*.ts'], { cwd: root });
  assert.ok(files.length > 400);
  const places = new Map<string, Set<string>>();
  for (const file of files) {
    for (const [, name = ''] of readFileSync(`${root}${file}`, 'utf8').matchAll(EXPORT)) {
      places.set(name, (places.get(name) ?? new Set()).add(file));
    }
  }
  const twice = [...places].filter(([, found]) => found.size > 1).map(([name, found]) => [name, ...found]);
  assert.deepEqual(twice, []);
});

/** A constant at the top level of a file in camelCase, and its value. */
const CONSTANT = /^(?:export )?const ([a-z]\w*)(?:: (?:[^=]|=>)+?)? =\s+(\S[\s\S]*?);$/gm;
/** A value that is written out: a number, a text, a pattern, a list or a table, but none that is empty, because state begins so. */
const WRITTEN_OUT = /^(?:Object\.freeze\()?(?:-?\d|['"`/]|[[{](?![\]}])|new (?:Set|Map|RegExp)(?:<[^(]*>)?\([^)])/;
/** Schemas of settings, elements of a page, and code of samples. */
const OTHER = /\bz\b\s*\.|\bwhole\(|^\[\.\.\.(?:document|note)\.|KEY_MARK/;

it('constants whose values are written out are in capitals', () => {
  const files = globSync(['gateway/**/*.{ts,js}', 'sandbox/**/*.ts', 'tools/**/*.ts'], { cwd: root });
  const found = files.flatMap((file) =>
    [...readFileSync(`${root}${file}`, 'utf8').matchAll(CONSTANT)].map(([, name = '', value = '']) => ({
      file,
      name,
      value,
    })),
  );
  assert.ok(found.length > 300, `${found.length}`);
  assert.deepEqual(
    found
      .filter(({ value }) => WRITTEN_OUT.test(value) && !OTHER.test(value))
      .map(({ file, name }) => `${file}: ${name}`),
    [],
  );
});
