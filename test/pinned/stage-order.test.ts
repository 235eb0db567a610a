// The order of the stages is a security property. Whoever changes it changes this test on purpose.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const order = ['admit', 'throttle', 'match', 'authenticate', 'authorize', 'limit', 'validate', 'replay', 'forward'];

it('the pipeline runs the stages in the one safe order', () => {
  const pipeline = read('gateway/pipeline.ts');
  assert.deepEqual(
    [...pipeline.matchAll(/stages\.(\w+)\(/g)].map((match) => match[1]),
    order,
  );
  assert.deepEqual(
    [...pipeline.matchAll(/trail\.stage = '(\w+)'/g)].map((match) => match[1]),
    order,
  );
});

it('the type of the stages and the README name the same stages in the same order', () => {
  const body = /export interface Stages \{([^}]*)\}/.exec(read('gateway/exchange.ts'))?.[1] ?? '';
  assert.deepEqual(
    [...body.matchAll(/^ {2}(\w+)\(/gm)].map((match) => match[1]),
    order,
  );
  const table = [...read('README.md').matchAll(/^\| `(\w+)` +\|/gm)].map((match) => match[1]);
  assert.deepEqual(table.slice(0, order.length), order);
});

it('only authorize makes an exchange permitted', () => {
  const makers = [
    'auth/authorize.ts',
    'auth/authenticate.ts',
    'limits/limit.ts',
    'contract/match.ts',
    'contract/validate.ts',
    'app.ts',
  ].filter((file) => /permitted: true/.test(read(`gateway/${file}`)));
  assert.deepEqual(makers, ['auth/authorize.ts']);
});
