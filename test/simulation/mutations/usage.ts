// Defects of the counts of use: requests that are counted twice, that are lost, or that an answer promises too early.

import { of } from './mutation.ts';

const STORE = 'usage/redis-store.ts';
const WRITER = 'usage/writer.ts';
const BATCHES = 'usage/waiting-batches.ts';
const ROUNDS = 'usage/rounds.ts';
const REPORT = 'usage/report.ts';

export const USAGE = of('usage', [
  [
    'a batch that was added is added again',
    STORE,
    "if tonumber(call('HGET', hashes[1], writer) or 0) >= number then return end",
    '',
  ],
  [
    'a batch has the number of the one before',
    BATCHES,
    'number: lastNumber, organization',
    'number: lastNumber - 1, organization',
  ],
  [
    'a batch that was not confirmed is not sent again',
    ROUNDS,
    'if (names.length === 1 || round.failuresInARow === FAILURES_MAX) round.hasFailed = true;',
    'for (const name of names) this.#batches.confirm(name);\n        if (names.length === 1 || round.failuresInARow === FAILURES_MAX) round.hasFailed = true;',
  ],
  [
    'two flushes run at a time',
    WRITER,
    'if (this.#running === undefined) return this.#begin();',
    'return this.#begin();',
  ],
  [
    'an instance that has just started is not waited for',
    REPORT,
    'Math.min(nowMs - BEHIND_MS, ...heard)',
    'Math.min(nowMs, ...heard)',
  ],
  [
    'an instance that ends does not write the rest',
    WRITER,
    'await Promise.race([this.flush(), this.#machine.sleep(LAST_FLUSH_MS, { ref: false })]);',
    '',
  ],
  ['an instance that was killed is waited for', REPORT, 'mark > nowMs - SILENT_MAX_MS', 'mark > 0'],
  [
    'requests beyond the bound of memory are not counted',
    'usage/tally.ts',
    'this.requests += 1;\n    byClass[index] = (byClass[index] as number) + 1;',
    'this.requests += 1;',
  ],
  [
    'what was counted during an outage waits for the next flush',
    WRITER,
    'if (this.#isHeldBack && this.#hasRoom()) {',
    'if (false) {',
  ],
  [
    'an answer lacks what its own instance could not write',
    'usage/usage.ts',
    "if (unwritten.has(question.organization)) throw new Error('The usage store does not accept new counts.');",
    '',
  ],
]);
