// The order of the stages is a security property. This file pins it: a change of the order, or a new stage, has to change it on purpose.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { STAGES, TIMED_STAGES } from '../../gateway/stages.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const order = ['admit', 'throttle', 'match', 'authenticate', 'authorize', 'limit', 'validate', 'replay', 'forward'];

/** Steps between the stages, and the stage that each of them follows. */
const between = { shed: 'admit', sunset: 'match', noteUse: 'authorize' };
/** Steps between the stages, and the stage that they precede. */
const before = { reserve: 'validate' };

const functionOf = (start: string) => (read('gateway/pipeline.ts').split(start)[1] ?? '').split('\n}\n')[0] ?? '';
const calls = (text: string) => [...text.matchAll(/steps\.(\w+)\(/g)].map(([, name = '']) => name);

it('the list of the stages has this order', () => {
  assert.deepEqual(STAGES, order);
  const timed = Object.keys(TIMED_STAGES);
  assert.deepEqual(
    timed,
    STAGES.filter((stage) => timed.includes(stage)),
  );
});

it('the pipeline runs the steps in this order', () => {
  const operation = functionOf('function createOperationPipeline');
  const steps = calls(operation);
  assert.deepEqual(
    steps.filter((step) => !(step in between || step in before)),
    order,
  );
  assert.deepEqual(
    Object.fromEntries(Object.keys(between).map((step) => [step, steps[steps.indexOf(step) - 1]])),
    between,
  );
  assert.deepEqual(
    Object.fromEntries(Object.keys(before).map((step) => [step, steps[steps.indexOf(step) + 1]])),
    before,
  );
  assert.deepEqual(
    [...operation.matchAll(/trail\.stage = '(\w+)'/g)].map(([, name]) => name),
    order,
  );
});

it('a stage that can wait notes its end right after its call', () => {
  const operation = functionOf('function createOperationPipeline');
  const ended = [...operation.matchAll(/steps\.(\w+)\(\w+\);\n\n? *trail\.noteEnd\('(\w+)'\)/g)];
  assert.deepEqual(
    ended.map(([, call, name]) => [call, name]),
    Object.keys(TIMED_STAGES).map((stage) => [stage, stage]),
  );
});

it('the pipeline names the file of each stage', () => {
  const steps = functionOf('export interface OperationSteps');
  const named = [...steps.matchAll(/\/\*\* [^*]*?([\w/-]+\.ts)[^*]*\*\/\n {2}(\w+)\(/g)];
  assert.deepEqual(
    named.map(([, , step]) => step),
    calls(functionOf('function createOperationPipeline')),
  );
  for (const [, file, stage] of named) assert.match(read(`gateway/${file}`), new RegExp(`\\b${stage}\\b`));
});

it('the pipeline chooses the handler in this order', () => {
  const choice = functionOf('export function createPipeline');
  const [answer, handle] = choice.split('return function handle');
  assert.deepEqual(calls(handle ?? ''), ['sitesFor', 'refuseMisdirected', 'tunnelAt', 'countInProgress']);
  assert.deepEqual(calls(answer ?? ''), [
    'allowOrigin',
    'isPreflight',
    'answerPreflight',
    'isOwnPath',
    'answerOwnPath',
    'isAgentsPath',
    'answerAgent',
    'answerOptions',
  ]);
});

it('only authorize makes an exchange permitted', () => {
  const files = globSync('gateway/**/*.ts', { cwd: root });
  assert.ok(files.length > 400);
  assert.deepEqual(
    files.filter((file) => /permitted: true[^;]|\.permitted = |\bPick<Permitted\b/.test(read(file))),
    ['gateway/auth/authorize.ts'],
  );
});

it('the names of trace events stay as they were published', () => {
  const { authenticate, limit, validate } = TIMED_STAGES;
  assert.deepEqual([authenticate, limit, validate], ['identified', 'counted', 'checked']);
});
