import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createIds } from '../../../gateway/edge/ids.ts';

describe('ids', () => {
  it('of requests sort by time and never repeat', () => {
    let at = 1_795_190_400_000;
    const ids = createIds(() => at++);
    const made = Array.from({ length: 3000 }, () => ids.requestId());
    assert.deepEqual([...made].sort(), made);
    assert.equal(new Set(made).size, made.length);
    for (const id of made) assert.match(id, /^req_[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  it('of requests within one millisecond never repeat', () => {
    const ids = createIds(() => 0);
    assert.equal(new Set(Array.from({ length: 3000 }, () => ids.requestId())).size, 3000);
  });

  it('of traces and spans have the form of W3C Trace Context and are never zero', () => {
    const ids = createIds(() => 0);
    for (let i = 0; i < 2000; i++) {
      assert.match(ids.traceId(), /^(?!0{32})[0-9a-f]{32}$/);
      assert.match(ids.spanId(), /^(?!0{16})[0-9a-f]{16}$/);
    }
  });
});
