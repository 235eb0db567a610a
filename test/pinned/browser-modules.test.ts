// The modules of the gateway that also run in the browser import only each other, because the browser gets no other source.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const portal = fileURLToPath(new URL('../../gateway/portal/', import.meta.url));
const list = /const MODULES = \[([\s\S]*?)\] as const/.exec(readFileSync(join(portal, 'assets.ts'), 'utf8'))?.[1] ?? '';
const modules = [...list.matchAll(/'(.+?)'/g)].map(([, name]) => name as string);

it('modules for the browser import only modules that the browser gets', () => {
  assert.ok(modules.length > 5, `${modules.length}`);
  const imported = modules.flatMap((name) =>
    [...readFileSync(join(portal, name), 'utf8').matchAll(/^import (?!type )[^;]*? from '(.+?)';/gm)].map(
      ([, path]) => [name, relative(portal, join(portal, dirname(name), path as string))],
    ),
  );
  assert.ok(imported.length > 5, `${imported.length}`);
  assert.deepEqual(
    imported.filter(([, path]) => !modules.includes(path as string)),
    [],
  );
});
