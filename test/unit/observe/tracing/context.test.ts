// The traceparent header by the letter of W3C Trace Context.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isSampled, parseTraceparent, traceparentOf } from '../../../../gateway/observe/tracing/context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

it('is read, even of a future version', () => {
  for (const header of [`00-${traceId}-${spanId}-00`, `00-${traceId}-${spanId}-ff`, `01-${traceId}-${spanId}-01-more`])
    assert.deepEqual(parseTraceparent(header), { traceId, spanId }, header);
});

it('counts as not sent when it is malformed', () => {
  const malformed = [
    undefined,
    '',
    'x',
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
  ];
  for (const header of malformed) assert.equal(parseTraceparent(header), undefined, header);
});

it('states whether the trace is kept, and that its id is random', () => {
  assert.equal(traceparentOf({ traceId, spanId }, true), `00-${traceId}-${spanId}-03`);
  assert.equal(traceparentOf({ traceId, spanId }, false), `00-${traceId}-${spanId}-02`);
});

it('is kept by the end of the id: all at 1, none at 0, a half at a half', () => {
  const ending = (end: string) => traceId.slice(0, 24) + end;
  assert.ok(isSampled(ending('ffffffff'), 1));
  assert.ok(!isSampled(ending('00000000'), 0));
  assert.ok(isSampled(ending('7fffffff'), 0.5));
  assert.ok(!isSampled(ending('80000000'), 0.5));
});
