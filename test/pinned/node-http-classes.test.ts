// Stages see DownstreamRequest and DownstreamResponse. Only the parts that end connections, or answer by themselves, know Node's classes:
// another reader of HTTP at the edge then changes no stage.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const knowing = ['edge', 'tunnel', 'portal', 'observe', 'console', 'workers', 'commands', 'http1'];

it('only edge, tunnel and modules that answer by themselves import the request and response of node:http', () => {
  const files = globSync('gateway/**/*.ts', { cwd: root });
  const importing = files.filter((file) => {
    const [, ...names] =
      readFileSync(root + file, 'utf8')
        .match(/import [^;]*'node:https?'/g)
        ?.join()
        .split(/\W+/) ?? [];
    return names.includes('IncomingMessage') || names.includes('ServerResponse');
  });
  assert.ok(importing.includes('gateway/edge/server.ts'));
  const elsewhere = importing.filter((file) => !knowing.some((folder) => file.startsWith(`gateway/${folder}/`)));
  assert.deepEqual(elsewhere, []);
});
