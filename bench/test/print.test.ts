// Tables as they are pasted into documents.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdownOf, sentenceOf } from '../print.ts';

test('a table is aligned, numbers to the right, and a cell without a value is empty', () => {
  const rows = [
    { contestant: 'floor', 'CPU µs/request': '40 (39–41)', '× floor': 1, added: undefined },
    { contestant: 'gateway', 'CPU µs/request': '60 (59–71)', '× floor': 1.5, added: 0.25 },
  ];
  assert.equal(
    markdownOf(rows),
    [
      '| contestant | CPU µs/request | × floor | added |',
      '| ---------- | -------------- | ------: | ----: |',
      '| floor      | 40 (39–41)     |       1 |       |',
      '| gateway    | 60 (59–71)     |     1.5 |  0.25 |',
      '',
    ].join('\n'),
  );
});

test('the machine is named with the commit, and with whether processes have cores of their own', () => {
  const machine = { node: 'v24.21.0', cpu: 'AMD EPYC', cores: 2, commit: 'abc', date: '2026-11-21' };
  assert.match(
    sentenceOf({ ...machine, pinned: true }),
    /^2026-11-21, commit abc, Node v24.21.0, 2 cores \(AMD EPYC\)/,
  );
  assert.match(sentenceOf({ ...machine, pinned: false }), /not pinned/);
});
