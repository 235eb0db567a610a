// One meaning per exported name: a reader who searches for a name finds one definition.

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
