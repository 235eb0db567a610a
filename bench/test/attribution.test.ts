// How the time of a profile is spread.

import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { STAGES } from '../../gateway/stages.ts';
import { attribute, attributeBytes, type CpuProfile, type HeapProfileNode } from '../profile/attribution.ts';
import { stageOf } from '../profile/stages.ts';

test('every stage has a folder of its own', () => {
  const found = new Set(globSync('gateway/*/**/*.ts').map(stageOf));
  // The shell of the requests, such as the reader of the sockets, is in the folder of `admit`.
  const missing = STAGES.filter((stage) => !found.has(stage === 'admit' ? 'admit and shell' : stage));
  assert.deepEqual(missing, []);
});

const ROOT = 'file:///project/';
const frame = (functionName: string, url: string) => ({ functionName, url, lineNumber: 9 });

/** Each sample lasts 10 microseconds. */
function profileOf(nodes: CpuProfile['nodes'], samples: readonly number[]): CpuProfile {
  return { nodes, startTime: 1000, samples, timeDeltas: samples.map(() => 10) };
}

const nodes: CpuProfile['nodes'] = [
  { id: 1, callFrame: frame('(root)', ''), children: [2, 6, 7] },
  { id: 2, callFrame: frame('onRequest', 'node:_http_server'), children: [3] },
  { id: 3, callFrame: frame('send', `${ROOT}gateway/upstream/forward.ts`), children: [4] },
  { id: 4, callFrame: frame('dispatch', `${ROOT}node_modules/undici/lib/pool.js`), children: [5] },
  { id: 5, callFrame: frame('writev', '') },
  { id: 6, callFrame: frame('onData', 'file:///elsewhere/node_modules/undici/lib/client.js') },
  { id: 7, callFrame: frame('(idle)', '') },
];
const everything = { fromMicros: 0, toMicros: 1e9 };

test('time that a stage spends in libraries and the system counts for the stage', () => {
  const { stages, total } = attribute(profileOf(nodes, [3, 4, 5, 5]), ROOT, everything);
  assert.deepEqual(stages, [{ name: 'forward', amount: 40 }]);
  assert.equal(total, 40);
});

test('calls without a caller in the gateway count for the library or for Node', () => {
  const { stages } = attribute(profileOf(nodes, [2, 6, 6]), ROOT, everything);
  assert.deepEqual(stages, [
    { name: 'undici, by itself', amount: 20 },
    { name: 'Node: HTTP and sockets', amount: 10 },
  ]);
});

test('files and functions have only the time that was spent in themselves', () => {
  const { files, functions } = attribute(profileOf(nodes, [3, 4, 5, 5, 5]), ROOT, everything);
  assert.deepEqual(files, [
    { name: 'writev', amount: 30 },
    { name: 'gateway/upstream/forward.ts', amount: 10 },
    { name: 'node_modules/undici/lib/pool.js', amount: 10 },
  ]);
  assert.deepEqual(
    functions.map(({ name }) => name),
    [
      'forward: writev',
      'forward: send gateway/upstream/forward.ts:10',
      'forward: dispatch node_modules/undici/lib/pool.js:10',
    ],
  );
});

test('time in which nothing ran is no time', () => {
  assert.equal(attribute(profileOf(nodes, [7, 7, 3]), ROOT, everything).total, 10);
});

test('a call of a library counts for the function of the gateway that called it', () => {
  const { callers } = attribute(profileOf(nodes, [3, 5, 6]), ROOT, everything);
  assert.deepEqual(callers, [
    { name: 'forward: send gateway/upstream/forward.ts:10', amount: 20 },
    { name: 'undici, by itself', amount: 10 },
  ]);
});

test('the bytes of a heap profile are spread in the same way', () => {
  const treeOf = (id: number, selfSize: number): HeapProfileNode => {
    const { callFrame, children = [] } = nodes.find((node) => node.id === id) as CpuProfile['nodes'][number];
    return { id, callFrame, selfSize, children: children.map((child) => treeOf(child, child * 100)) };
  };
  const { stages, callers, total } = attributeBytes({ head: treeOf(2, 0) }, ROOT);
  assert.deepEqual(stages, [{ name: 'forward', amount: 1200 }]);
  assert.deepEqual(callers, [{ name: 'forward: send gateway/upstream/forward.ts:10', amount: 1200 }]);
  assert.equal(total, 1200);
});

test('only samples in the span count', () => {
  const profile = profileOf(nodes, [2, 3, 4, 6]);
  const { stages } = attribute(profile, ROOT, { fromMicros: 1020, toMicros: 1030 });
  assert.deepEqual(stages, [{ name: 'forward', amount: 20 }]);
});

test('every part of the pipeline is a stage of its own', () => {
  const files = {
    'gateway/edge/admission/admit.ts': 'admit and shell',
    'gateway/edge/refusal/refusals.ts': 'refuse',
    'gateway/limits/addresses/throttle.ts': 'throttle',
    'gateway/contract/match.ts': 'match',
    'gateway/auth/directory.ts': 'authenticate',
    'gateway/auth/authorize.ts': 'authorize',
    'gateway/limits/counters/redis/batches.ts': 'limit',
    'gateway/contract/body.ts': 'validate',
    'gateway/replay/replay.ts': 'replay',
    'gateway/upstream/headers/answer-headers.ts': 'forward',
    'gateway/auth/assertions/assertions.ts': 'forward',
    'gateway/upstream/relay/relay.ts': 'answer',
    'gateway/contract/answer.ts': 'answer',
    'gateway/observe/log/line.ts': 'log and metrics',
    'gateway/pipeline.ts': 'pipeline and wiring',
    'node_modules/@scope/package/index.js': '@scope/package, by itself',
    '(garbage collector)': '(garbage collector)',
  };
  for (const [file, stage] of Object.entries(files)) assert.equal(stageOf(file), stage, file);
});
