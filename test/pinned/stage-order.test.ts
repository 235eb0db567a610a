// The order of the stages is a security property: a change of it has to change this test, on purpose.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { PUBLISHED_NAMES, STAGES } from '../../gateway/exchange.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const upTo = ['admit', 'throttle', 'match', 'authenticate', 'authorize', 'limit', 'validate'];
const order = [...upTo, 'idempotency', 'forward'];
const published = [...upTo, 'replay', 'forward'];

/** Every step of an operation in its order: the stages, and what stands between them. */
const steps = [
  ...['admit', 'shed', 'throttle', 'match', 'sunset', 'authenticate', 'authorize', 'noteUse', 'limit'],
  ...['reserve', 'validate', 'idempotency', 'forward'],
];
const functionOf = (start: string) => (read('gateway/pipeline.ts').split(start)[1] ?? '').split('\n}\n')[0] ?? '';
const calls = (text: string) => [...text.matchAll(/steps\.(\w+)\(/g)].map((match) => match[1]);

it('the pipeline runs the steps in the one safe order', () => {
  const operation = functionOf('function createOperationPipeline');
  assert.deepEqual(calls(operation), steps);
  assert.deepEqual(
    [...operation.matchAll(/trail\.stage = '(\w+)'/g)].map((match) => match[1]),
    order,
  );
});

it('the pipeline chooses who answers in the one safe order', () => {
  const choice = functionOf('export function createPipeline');
  const [answer, handle] = choice.split('return function handle');
  assert.deepEqual(calls(handle ?? ''), ['placeOf', 'refuseMisdirected', 'tunnelAt', 'track']);
  assert.deepEqual(calls(answer ?? ''), [
    'allowOrigin',
    'isPreflight',
    'answerPreflight',
    'isOwnPath',
    'answerOwnPath',
    'answerOptions',
  ]);
});

it('the tuple of the stages and the README name the same stages in the same order', () => {
  assert.deepEqual(STAGES, order);
  assert.deepEqual(
    STAGES.map((stage) => PUBLISHED_NAMES[stage]),
    published,
  );
  const table = [...read('README.md').matchAll(/^\| `(\w+)` +\|/gm)].map((match) => match[1]);
  assert.deepEqual(table.slice(0, published.length), published);
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
