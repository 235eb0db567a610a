import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedFiles, versionOf } from '../../../gateway/config/digests.ts';

test('a version is the same wherever the files are, and another for other contents', () => {
  const here = new Map([
    ['/a/limits.yaml', '11'],
    ['/a/upstreams.yaml', '22'],
  ]);
  const there = new Map([
    ['/b/upstreams.yaml', '22'],
    ['/b/limits.yaml', '11'],
  ]);
  assert.equal(versionOf(here), versionOf(there));
  assert.notEqual(versionOf(here), versionOf(new Map([...here, ['/a/limits.yaml', '33']])));
});

test('files that came, went or differ have changed', () => {
  const before = new Map([
    ['same', '1'],
    ['went', '2'],
    ['differs', '3'],
  ]);
  const after = new Map([
    ['same', '1'],
    ['differs', '4'],
    ['came', '5'],
  ]);
  assert.deepEqual(changedFiles(before, after), ['went', 'differs', 'came']);
});
