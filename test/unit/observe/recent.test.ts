// The latest lines in memory: bounded bytes, whole lines, the newest first to be kept.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRecentLines, type RecentLines } from '../../../gateway/observe/log/recent.ts';
import type { ExchangeFilter } from '../../../gateway/shared/questions/exchange-filter.ts';

const lineOf = (id: string, more: object = {}) =>
  `${JSON.stringify({ time: 1, request_id: id, ...more, text: 'é' })}\n`;
const nowMs = 0;
const recentLines = (bytesMax = 1000) => {
  const lines = createRecentLines({ bytesMax, notableBytesMax: 200, sampleBytesMax: 1000, clock: () => nowMs });
  // The first line is sampled; it is not what these tests are about.
  lines.add(Buffer.from(lineOf('req_0')));
  return lines;
};
const idsOf = (found: readonly Record<string, unknown>[]) => found.map(({ request_id }) => request_id);

it('finds an exchange by its id, and by the client’s own id', () => {
  const { add, find } = recentLines();
  add(Buffer.from(lineOf('req_1') + lineOf('req_2', { client_request_id: 'mine' }) + lineOf('req_3')));
  assert.deepEqual(idsOf(find('req_2')), ['req_2']);
  assert.deepEqual(idsOf(find('mine')), ['req_2']);
  assert.deepEqual(find('req_9'), []);
});

it('prefers the exchange that has this id to one that a client called so', () => {
  const { add, find } = recentLines();
  add(Buffer.from(lineOf('req_1') + lineOf('req_2', { client_request_id: 'req_1' })));
  assert.deepEqual(idsOf(find('req_1')), ['req_1']);
});

it('forgets the oldest, and never returns half a line', () => {
  for (let bytesMax = 100; bytesMax < 160; bytesMax += 1) {
    const { add, find } = recentLines(bytesMax);
    for (let n = 10; n < 99; n += 1) {
      add(Buffer.from(lineOf(`req_${n}`)));
      assert.deepEqual(idsOf(find(`req_${n}`)), [`req_${n}`]);
    }
    assert.deepEqual(find('req_10'), []);
    assert.deepEqual(idsOf(find('req_97')), ['req_97']);
  }
});

it('keeps the end of an exchange that is larger than everything', () => {
  const { add, find } = recentLines(100);
  add(Buffer.from(Array.from({ length: 20 }, (_, n) => lineOf(`req_${n}`)).join('')));
  assert.deepEqual(idsOf(find('req_19')), ['req_19']);
});

it('keeps refusals where successes do not push them out, and returns each once', () => {
  const { add, addNotable, find } = recentLines(100);
  const refused = lineOf('req_1', { code: 'x' });
  add(Buffer.from(refused));
  addNotable(refused, 'x');
  assert.deepEqual(idsOf(find('req_1')), ['req_1']);
  for (let n = 0; n < 20; n += 1) add(Buffer.from(lineOf(`req_2${n}`)));
  assert.deepEqual(idsOf(find('req_1')), ['req_1']);
});

describe('lists in parts', () => {
  const exchange = (id: string, time: number, more: object = {}) =>
    `${JSON.stringify({ time, request_id: id, organization: 'org_a', ...more, msg: 'exchange' })}\n`;
  const place = ({ time, request_id }: Readonly<Record<string, unknown>>) => ({
    atMs: Number(time),
    requestId: String(request_id),
  });

  /** All pages, read while `between` writes. */
  function pagesOf(lines: RecentLines, filter: Omit<ExchangeFilter, 'limit'>, limit: number, between = () => {}) {
    const pages: string[][] = [];
    for (let behind: ExchangeFilter['behind']; pages.length < 1000; ) {
      const page = lines.list({ ...filter, limit, behind });
      pages.push(idsOf(page) as string[]);
      const last = page.at(-1);
      if (last === undefined) break;
      behind = place(last);
      between();
    }
    return pages.flat();
  }

  it('have each exchange once, although lines are written meanwhile, and many exchanges end in one millisecond', () => {
    for (const limit of [1, 2, 3, 7, 100]) {
      const lines = createRecentLines({
        bytesMax: 100_000,
        notableBytesMax: 100_000,
        sampleBytesMax: 100_000,
        clock: () => 0,
      });
      const ids = Array.from({ length: 60 }, (_, n) => `req_${String((n * 37) % 60).padStart(2, '0')}`);
      for (const [n, id] of ids.entries()) {
        const line = exchange(id, 1000 + Math.floor(n / 7), n % 3 === 0 ? { code: `code_${n % 4}` } : {});
        lines.add(Buffer.from(line));
        if (n % 3 === 0) lines.addNotable(line, `code_${n % 4}`);
      }
      let more = 0;
      const seen = pagesOf(lines, { organization: 'org_a' }, limit, () => {
        lines.add(Buffer.from(exchange(`req_new_${more}`, 5000 + more)));
        more += 1;
      });
      const newestFirst = ids
        .map((id, n) => ({ id, time: Math.floor(n / 7) }))
        .sort((one, other) => other.time - one.time || (one.id < other.id ? 1 : -1));
      assert.deepEqual(
        seen,
        newestFirst.map(({ id }) => id),
        `limit ${limit}`,
      );
    }
  });

  it('have the newest first, too, where only the lines of each code are left', () => {
    const lines = createRecentLines({ bytesMax: 300, notableBytesMax: 300, sampleBytesMax: 10, clock: () => 0 });
    for (let n = 0; n < 40; n += 1) {
      // The code that came first has the newest lines.
      const code = n === 0 || n > 20 ? 'first' : 'second';
      lines.addNotable(exchange(`req_${n + 10}`, 1000 + n, { code }), code);
    }
    for (let n = 0; n < 40; n += 1)
      lines.addNotable(exchange(`other_${n}`, 2000 + n, { organization: 'org_b' }), undefined);
    const expected = Array.from({ length: 40 }, (_, n) => `req_${49 - n}`);
    assert.deepEqual(pagesOf(lines, { organization: 'org_a' }, 5), expected);
  });

  it('begin and end where the filter says, and have one operation', () => {
    const lines = recentLines(100_000);
    for (let n = 0; n < 9; n += 1)
      lines.add(Buffer.from(exchange(`req_${n}`, 1000 + n, { operation: n % 2 ? 'listThings' : 'getThing' })));
    const of = (filter: object) => idsOf(lines.list({ organization: 'org_a', limit: 9, ...filter }));
    assert.deepEqual(of({ fromMs: 1003, toMs: 1006 }), ['req_5', 'req_4', 'req_3']);
    assert.deepEqual(of({ operationId: 'listThings', behind: { atMs: 1005, requestId: 'req_5' } }), ['req_3', 'req_1']);
    assert.deepEqual(of({ operationId: 'listThing' }), []);
  });
});

describe('the exchanges of one organization', () => {
  it('are not hidden by others that bear the same id', () => {
    const lines = recentLines(100_000);
    const mine = { organization: 'org_a', client_request_id: 'same' };
    lines.add(Buffer.from(lineOf('req_1', mine)));
    for (let n = 0; n < 100; n += 1)
      lines.add(Buffer.from(lineOf(`req_x${n}`, { organization: 'org_b', client_request_id: 'same' })));
    lines.add(Buffer.from(lineOf('same', { organization: 'org_b' })));
    assert.deepEqual(idsOf(lines.find('same', { organization: 'org_a' })), ['req_1']);
    assert.deepEqual(idsOf(lines.find('same')), ['same']);
    assert.deepEqual(lines.find('req_1', { organization: 'org_b' }), []);
    assert.deepEqual(lines.find('req_x3', { organization: 'org_a' }), []);
  });

  it('are those of no organization whose name another one contains or writes into its ids', () => {
    const lines = recentLines(100_000);
    lines.add(Buffer.from(lineOf('req_1', { organization: 'org_ab' })));
    lines.add(Buffer.from(lineOf('req_2', { client_request_id: '"organization":"org_a"', organization: 'org_b' })));
    lines.add(Buffer.from(lineOf('req_3', { violations: [{ organization: 'org_a' }] })));
    assert.deepEqual(lines.list({ organization: 'org_a', limit: 9 }), []);
    assert.deepEqual(lines.find('req_3', { organization: 'org_a' }), []);
  });
});
