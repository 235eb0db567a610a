// docs/config.md names the defaults that no schema has, and every variable of the environment.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { upstreamEntry } from '../../gateway/config/upstreams/upstreams-file.ts';
import { compileDocument, documentOf } from '../unit/contract/compiled.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the defaults of settings that contracts can express', async () => {
  const minimal = documentOf({ '/': { post: { responses: { 200: { description: 'x' } } } } });
  const { operations } = await compileDocument(minimal, { public: true });
  const operation = operations[0]?.operation;
  const { cost, idempotency, body, response } = upstreamEntry.shape;
  assert.deepEqual(
    [cost, idempotency, body, response].map((key) => key.meta()?.fallback),
    [operation?.cost, operation?.idempotency, operation?.body, operation?.answerCheck].map((value) => `\`${value}\``),
  );
});

test('the environment', () => {
  const loader = read('gateway/config/settings.ts');
  const used = [...loader.matchAll(/environment\.([A-Z_]+)|(?:port|host)\('([A-Z_]+)'/g)].map(
    ([, one, port]) => one ?? port,
  );
  const [, table = ''] = /^## Environment\n\n((?:\|.*\n)+)/m.exec(read('docs/config.md')) ?? [];
  const documented = [...table.matchAll(/^\| ([^|]+)\|/gm)].flatMap(([, cell = '']) => [
    ...cell.matchAll(/`([A-Z_]+)`/g),
  ]);
  assert.deepEqual(documented.map(([, name]) => name).sort(), [...new Set(used)].sort());
});
