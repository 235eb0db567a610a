import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callsIn, summedCalls } from '../syscalls/summary.ts';

const SUMMARY = `
 Summary of events:

 MainThread (6943), 20 events, 0.0%

   syscall            calls  errors  total       min       avg       max       stddev
                                     (msec)    (msec)    (msec)    (msec)        (%)
   --------------- --------  ------ -------- --------- --------- ---------     ------
   epoll_pwait            7      0     0.025     0.003     0.004     0.004      4.17%
   pwrite64            1041      2     0.005     0.005     0.005     0.005      0.00%


 V8Worker (6945), 4 events, 0.0%

   syscall            calls  errors  total       min       avg       max       stddev
   --------------- --------  ------ -------- --------- --------- ---------     ------
   epoll_pwait            2      0     0.005     0.000     0.002     0.005    100.00%
`;

test('the calls of each thread are read from a summary, and added up', () => {
  const threads = callsIn(SUMMARY);
  assert.deepEqual(threads, [
    { threadId: 6943, calls: { epoll_pwait: 7, pwrite64: 1041 } },
    { threadId: 6945, calls: { epoll_pwait: 2 } },
  ]);
  assert.deepEqual(summedCalls(threads), { epoll_pwait: 9, pwrite64: 1041 });
});
