import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Forwardable as Fresh } from '../../../gateway/exchange/exchange.ts';
import { isStatusRequested } from '../../../gateway/upstream/relay/requested-status.ts';

const asking = (headers: Record<string, string>, ranges = true, method = 'GET') =>
  ({ headers: new Map(Object.entries(headers)), operation: { ranges }, method }) as unknown as Fresh;
const part = (range: string | undefined, given: string | undefined, type = 'image/png') =>
  isStatusRequested(
    206,
    { 'content-type': type, ...(given === undefined ? {} : { 'content-range': given }) },
    asking(range === undefined ? {} : { range }),
  );

test('a part was asked for if it lies within the range of the request', () => {
  for (const [range, given] of [
    ['bytes=0-9', 'bytes 0-9/100'],
    ['bytes=0-9', 'bytes 0-4/*'],
    ['bytes=90-200', 'bytes 90-99/100'],
    ['bytes=90-', 'bytes 90-99/100'],
    ['bytes=-10', 'bytes 90-99/100'],
    ['Bytes = 5-6', 'bytes 5-6/7'],
  ] as const)
    assert.ok(part(range, given), `${range} ${given}`);
});

test('another part was not, nor one without its place', () => {
  for (const [range, given] of [
    [undefined, 'bytes 0-9/100'],
    ['bytes=0-9', 'bytes 0-10/100'],
    ['bytes=5-9', 'bytes 0-9/100'],
    ['bytes=90-', 'bytes 0-99/100'],
    ['bytes=-10', 'bytes 80-99/100'],
    ['bytes=0-9', undefined],
    ['bytes=0-9', 'items 0-9/100'],
    ['bytes=0-9', 'bytes */100'],
  ] as const)
    assert.ok(!part(range, given), `${range} ${given}`);
});

test('several parts in one body answer several ranges only', () => {
  const several = 'multipart/byteranges; boundary=x';
  assert.ok(part('bytes=0-1,4-5', undefined, several));
  assert.ok(part('bytes=0-1,4-5', 'bytes 0-5/9'), 'joined');
  assert.ok(!part('bytes=0-1', undefined, several));
  assert.ok(!part(undefined, undefined, several));
});

test('a range that the upstream has not got asks for nothing', () => {
  const headers = { 'content-range': 'bytes 0-9/100' };
  const range = { range: 'bytes=0-9' };
  assert.ok(isStatusRequested(206, headers, asking(range)));
  assert.ok(!isStatusRequested(206, headers, asking(range, false)));
  assert.ok(!isStatusRequested(206, headers, asking(range, true, 'HEAD')));
  assert.deepEqual(
    [isStatusRequested(416, {}, asking(range)), isStatusRequested(416, {}, asking(range, false))],
    [true, false],
  );
  assert.ok(!isStatusRequested(416, {}, asking({})));
});

test('unchanged was asked for by a condition, and every other status by nothing', () => {
  assert.ok(isStatusRequested(304, {}, asking({ 'if-none-match': '"a"' })));
  assert.ok(isStatusRequested(304, {}, asking({ 'if-modified-since': 'Wed, 25 Nov 2026 00:00:00 GMT' })));
  assert.ok(!isStatusRequested(304, {}, asking({ 'if-match': '"a"' })));
  for (const status of [200, 204, 302, 404, 412, 500]) assert.ok(isStatusRequested(status, {}, asking({})));
});
