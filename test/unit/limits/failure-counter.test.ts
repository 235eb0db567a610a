import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openFailureCounters } from '../../../gateway/limits/addresses/failure-counter.ts';

it('a count of this process has no end of a shared window, with and without Redis', async (t) => {
  for (const url of [undefined, 'redis://127.0.0.1:1']) {
    const counters = openFailureCounters(url);
    t.after(counters.close);
    const counter = counters.counter('test', () => ({ failures: 2, windowSeconds: 60 }));
    assert.deepEqual(await counter.count('192.0.2.1'), { isUsedUp: false, leftMs: undefined });
    assert.deepEqual(await counter.count('192.0.2.1'), { isUsedUp: true, leftMs: undefined });
  }
});
