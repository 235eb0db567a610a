import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventFigures } from '../../../gateway/console/events/event-figures.ts';
import { History, widthOf } from '../../../gateway/console/history/history.ts';
import type { Subject } from '../../../gateway/console/history/history-counts.ts';
import { historyReport } from '../../../gateway/console/history/history-report.ts';
import { decodeHistory, encodeHistory } from '../../../gateway/console/history/kept-history.ts';
import { rangeCounts } from '../../../gateway/console/history/range-counts.ts';
import { RANGES, type Range, RESOLUTIONS, type ShownTime } from '../../../gateway/console/history/ranges.ts';

const BOUNDS = [0.005, 0.01];
const [{ slotMs: SLOT_MS, slots: SLOTS }] = RESOLUTIONS;
const NOTHING = { operations: [], organizations: [], upstreams: [], refusals: [] };
/** The begin of a slot in every resolution. */
const START_MS = 1_000 * 300_000;

function historyFrom(startMs = START_MS) {
  let nowMs = startMs;
  const history = new History(BOUNDS, () => nowMs);
  return {
    figuresOfEvents: (operationsOf: (upstream: string) => readonly string[]) =>
      createEventFigures(BOUNDS, history, operationsOf),
    counts: (span: ShownTime, subject?: Subject) => rangeCounts(history, span, subject),
    report: (range: Range = '15m') => historyReport(BOUNDS, [rangeCounts(history, { range })]),
    reportOf: (span: ShownTime, subject?: Subject) => historyReport(BOUNDS, [rangeCounts(history, span, subject)]),
    /** So many requests to an operation, of which some failed, that took up to 5 ms; all of one organization and upstream. */
    add(name: string, requests: number, serverErrors = 0, sinceMs = history.advance()) {
      const values = [requests, 0, 0, requests - serverErrors, 0, 0, serverErrors, 0, 0];
      const [organizations, upstreams] = [[{ name: 'org_a', values }], [{ name: 'stock', values }]];
      history.add(sinceMs, { ...NOTHING, operations: [{ name, values }], organizations, upstreams });
    },
    /** So many requests that the gateway refused. */
    addRefused(name: string, requests: number, status = 503) {
      const [client, server] = status < 500 ? [requests, 0] : [0, requests];
      const values = [requests, 0, 0, 0, 0, client, server, requests, server];
      history.add(history.advance(), { ...NOTHING, operations: [{ name, values }] });
    },
    refuse: (name: string) => history.add(history.advance(), { ...NOTHING, refusals: [{ name, values: [1] }] }),
    advance: () => history.advance(),
    wait(slots: number) {
      nowMs += slots * SLOT_MS;
    },
  };
}

test('a request is in the slot of its time, and in the sums', () => {
  const { add, wait, report } = historyFrom();
  add('a', 3);
  wait(2);
  add('a', 5, 1);
  wait(1);
  const { all, operations, from } = report();
  assert.equal(from, new Date(START_MS).toISOString());
  assert.deepEqual(all.series.requests, [3, 0, 5]);
  assert.deepEqual(all.series.server_errors, [0, 0, 1]);
  assert.deepEqual(all.series.p50_ms, [2.5, null, 2.5]);
  assert.deepEqual([all.total.requests, all.total.server_errors], [8, 1]);
  assert.deepEqual(
    operations.map(({ name }) => name),
    ['a'],
  );
});

test('the slot that has just begun is shown with its first request, and not before', () => {
  const { add, wait, report } = historyFrom();
  add('a', 3);
  wait(1);
  assert.deepEqual(report().all.series.requests, [3]);
  add('a', 2);
  assert.deepEqual(report().all.series.requests, [3, 2]);
  assert.deepEqual([report().all.series.p99_ms.length, report().last_slot_seconds], [2, 1]);
});

test('the minute is the last four slots, and its length is shown', () => {
  const { add, wait, report } = historyFrom();
  add('a', 100);
  wait(4);
  add('a', 7);
  assert.deepEqual([report().all.minute.requests, report().minute_seconds], [7, 45]);
  assert.equal(report().all.total.requests, 107);
});

test('soon after the start rates are over the time since then', () => {
  const { wait, report } = historyFrom(START_MS + 12_000);
  assert.deepEqual([report().minute_seconds, report().total_seconds], [1, 1]);
  wait(1);
  assert.deepEqual([report().minute_seconds, report().total_seconds], [15, 15]);
});

test('each range tells the same requests in slots of its own', () => {
  const { add, wait, report } = historyFrom();
  for (let slot = 0; slot < 480; slot += 1) {
    add('a', 2, 1);
    wait(1);
  }
  // Two hours: 480 slots of 15 s.
  const told = (['15m', '1h', '6h', '24h'] as const).map((range) => {
    const { all, slot_seconds, total_seconds } = report(range);
    return [range, all.total.requests, all.series.requests.length, slot_seconds, total_seconds];
  });
  assert.deepEqual(told, [
    ['15m', 118, 59, 15, 885],
    ['1h', 472, 59, 60, 3540],
    ['6h', 960, 24, 300, 7200],
    ['24h', 960, 24, 300, 7200],
  ]);
});

test('nothing is left of a range after its length, also when no sample was taken meanwhile', () => {
  for (const [range, { resolution, slots }] of Object.entries(RANGES)) {
    const { add, refuse, wait, report } = historyFrom();
    add('a', 3);
    refuse('match route_not_found');
    assert.equal(report(range as Range).codes.length, 1);
    wait((slots * RESOLUTIONS[resolution].slotMs) / SLOT_MS);
    const { all, operations, others, codes } = report(range as Range);
    assert.equal(all.total.requests, 0, range);
    assert.deepEqual([operations, others, codes], [[], null, []]);
  }
});

test('a free span has the finest slots that reach back to it, and none that are to come', () => {
  const { add, wait, reportOf } = historyFrom();
  for (let slot = 0; slot < 480; slot += 1) {
    add('a', 2, 1);
    wait(1);
  }
  const nowMs = START_MS + 480 * SLOT_MS;
  const MINUTE_MS = 60_000;
  const rows: [minutesFrom: number, minutesTo: number, slotSeconds: number, requests: number][] = [
    [10, 5, 15, 40],
    [40, 20, 60, 160],
    [110, 10, 300, 800],
    [10, -60, 15, 80],
    [10 * 24 * 60, 9 * 24 * 60, 300, 0],
  ];
  for (const [from, to, slotSeconds, requests] of rows) {
    const span = { range: 'free', fromMs: nowMs - from * MINUTE_MS, toMs: nowMs - to * MINUTE_MS } as const;
    const { slot_seconds, all, slots } = reportOf(span);
    assert.deepEqual([slot_seconds, all.total.requests], [slotSeconds, requests], String(from));
    assert.ok(slots >= 1 && slots <= 576 && all.series.requests.length <= slots, String(slots));
  }
});

test('a free span has the same numbers as long as the finest slots of its end are kept, and then those of whole slots', () => {
  const { add, wait, reportOf } = historyFrom();
  for (let slot = 0; slot < 119; slot += 1) {
    add('a', 1);
    wait(1);
  }
  // From a whole minute to the third quarter of another one.
  const span = { range: 'free', fromMs: START_MS + 16 * 60_000, toMs: START_MS + 119 * SLOT_MS } as const;
  const told = () => {
    const { all, total_seconds, slot_seconds } = reportOf(span);
    return [all.total.requests, total_seconds, slot_seconds];
  };
  const more = (slots: number) => {
    for (let slot = 0; slot < slots; slot += 1) {
      add('a', 1);
      wait(1);
    }
    return told();
  };
  assert.deepEqual(told(), [55, 825, 15]);
  assert.deepEqual(more(40), [55, 825, 60]);
  assert.deepEqual(more(60), [56, 840, 60]);
  // Slots of five minutes begin at minute 15.
  assert.deepEqual(more(200), [60, 900, 300]);
});

test('a subject has a series of its own, and the same time of the day before', () => {
  const { add, wait, reportOf, refuse } = historyFrom();
  const span = { range: '15m' } as const;
  const totals = (subject: Subject) => {
    const found = reportOf(span, subject).subject;
    if (found === null) return null;
    return 'code' in found
      ? [found.code, found.total, found.before]
      : [found.name, found.total.requests, found.before?.requests];
  };
  wait(60);
  add('a', 7);
  for (let slot = 0; slot < 24 * 240 + 2; slot += 1) {
    wait(1);
    if (slot % 200 === 0) add('b', 1);
  }
  add('a', 5, 1);
  refuse('limit rate_limited');
  refuse('throttle rate_limited');
  const { subject } = reportOf(span, { kind: 'operations', name: 'a' });
  assert.ok(subject && 'name' in subject);
  assert.deepEqual([subject.total.requests, subject.before?.requests, subject.total.server_errors], [5, 7, 1]);
  assert.deepEqual(totals({ kind: 'codes', name: 'rate_limited' }), ['rate_limited', 2, 0]);
  for (const subject of [
    { kind: 'organizations', name: 'org_a' },
    { kind: 'upstreams', name: 'stock' },
  ] as const)
    assert.equal(totals(subject)?.[0], subject.name);
  assert.equal(totals({ kind: 'operations', name: 'GET /nowhere' }), null);
  assert.equal(historyFrom().reportOf(span).all.before, null);
});

test('a request that began before the oldest slot counts in the oldest one', () => {
  const { add, wait, report, advance } = historyFrom();
  const began = advance();
  wait(SLOTS * 2);
  advance();
  add('a', 4, 0, began);
  assert.equal(report().all.series.requests[0], 4);
  assert.equal(report('1h').all.series.requests[0], 4);
});

test('of a thousand operations the most asked have histories, the sum of all stays right, and memory is bounded', () => {
  const { add, report } = historyFrom();
  for (let index = 0; index < 1000; index += 1) add(`operation ${index}`, index < 5 ? 100 + index : 1);
  const { all, operations, others, memory } = report();
  assert.equal(operations.length, 12);
  assert.deepEqual(
    operations.slice(0, 5).map(({ name }) => name),
    [4, 3, 2, 1, 0].map((index) => `operation ${index}`),
  );
  const told = operations.reduce((sum, { total }) => sum + total.requests, 0);
  assert.equal(all.total.requests, 510 + 995);
  assert.equal(told + (others?.total.requests ?? 0), all.total.requests);
  assert.ok(memory.bytes <= memory.bytes_max && memory.bytes_max < 6 * 2 ** 20, String(memory.bytes_max));
});

test('an operation that is asked more and more takes the place of one that is not', () => {
  const { add, wait, report, advance } = historyFrom();
  for (let index = 0; index < 1000; index += 1) add(`operation ${index}`, 1);
  for (let count = 0; count < 3; count += 1) {
    add('operation 999', 50);
    wait(1);
    advance();
  }
  add('operation 999', 50);
  assert.equal(report().operations[0]?.name, 'operation 999');
  assert.equal(report().all.total.requests, 1000 + 200);
});

test('codes are shown with their stages, the most frequent first, at most twenty', () => {
  const { refuse, report } = historyFrom();
  for (let index = 0; index < 300; index += 1) refuse(`stage code_${index}`);
  refuse('limit code_7');
  refuse('stage code_7');
  const { codes } = report();
  assert.equal(codes.length, 20);
  assert.deepEqual([codes[0]?.stage, codes[0]?.code, codes[0]?.total], ['stage', 'code_7', 2]);
});

test('two gateways are added slot by slot, although one began later', () => {
  const one = historyFrom();
  const other = historyFrom(START_MS + 2 * SLOT_MS);
  one.add('a', 3);
  one.wait(2);
  for (const { add, refuse } of [one, other]) {
    add('a', 5, 1);
    refuse('match route_not_found');
  }
  other.add('b', 7);
  one.wait(1);
  other.wait(1);
  const { all, operations, codes } = historyReport(BOUNDS, [
    one.counts({ range: '15m' }),
    other.counts({ range: '15m' }),
  ]);
  assert.deepEqual(all.series.requests, [3, 0, 17]);
  assert.deepEqual(all.series.server_errors, [0, 0, 2]);
  assert.deepEqual(
    operations.map(({ name, total }) => [name, total.requests]),
    [
      ['a', 13],
      ['b', 7],
    ],
  );
  assert.deepEqual(
    codes.map(({ total }) => total),
    [2],
  );
});

test('a history that was kept goes on, and the time in between has no requests', () => {
  const width = widthOf(BOUNDS);
  let nowMs = START_MS;
  const first = new History(BOUNDS, () => nowMs);
  first.add(first.advance(), {
    ...NOTHING,
    operations: [{ name: 'a', values: [3, 0, 0, 3, 0, 0, 0, 0, 0] }],
    refusals: [{ name: 'limit rate_limited', values: [2] }],
  });
  const event = {
    kind: 'start',
    at: new Date(START_MS).toISOString(),
    until: null,
    text: 'The gateway started.',
  } as const;
  const near = {
    ...{ organization: 'org_a', tier: 'free', policy: 'organization', limit: 100, window_seconds: 60, remaining: 3 },
    ...{ near: 5, refused: 0, shadow_refused: 0, last_at: new Date(START_MS).toISOString() },
  };
  const bytes = encodeHistory(first.state(), { events: [event], nearLimits: [near], hasEnded: true }, width, nowMs);
  nowMs += 3 * SLOT_MS;
  const kept = decodeHistory(bytes, width, nowMs);
  assert.deepEqual([kept?.events, kept?.nearLimits, kept?.hasEnded, kept?.keptAtMs], [[event], [near], true, START_MS]);
  const second = new History(BOUNDS, () => nowMs, kept);
  second.add(second.advance(), { ...NOTHING, operations: [{ name: 'a', values: [5, 0, 0, 5, 0, 0, 0, 0, 0] }] });
  nowMs += SLOT_MS;
  const { all, operations, codes, from } = historyReport(BOUNDS, [rangeCounts(second, { range: '15m' })]);
  assert.equal(from, new Date(START_MS).toISOString());
  assert.deepEqual(all.series.requests, [3, 0, 0, 5]);
  assert.equal(operations[0]?.total.requests, 8);
  assert.equal(codes[0]?.total, 2);
  nowMs += 25 * 3_600_000;
  const late = new History(BOUNDS, () => nowMs, decodeHistory(bytes, width, nowMs));
  for (const range of Object.keys(RANGES) as Range[])
    assert.equal(historyReport(BOUNDS, [rangeCounts(late, { range })]).all.total.requests, 0);
});

test('bytes of another form, cut off, or of the future are no history', () => {
  const width = widthOf(BOUNDS);
  const history = new History(BOUNDS, () => START_MS);
  const bytes = encodeHistory(history.state(), { events: [], nearLimits: [], hasEnded: false }, width, START_MS);
  assert.notEqual(decodeHistory(bytes, width, START_MS), undefined);
  assert.equal(decodeHistory(bytes, width + 1, START_MS), undefined);
  assert.equal(decodeHistory(bytes, width, START_MS - 86_400_000), undefined);
  for (const length of [0, 1, 200, bytes.length - 1])
    assert.equal(decodeHistory(bytes.subarray(0, length), width, START_MS), undefined, String(length));
});

test('an outage has the requests of its subject in its time, also when only coarse counts reach back so far', () => {
  const history = historyFrom();
  const figuresAt = history.figuresOfEvents((upstream) => (upstream === 'stock' ? ['GET /a', 'GET /b'] : []));
  history.add('GET /a', 9, 2);
  history.wait(2);
  history.add('GET /b', 5, 5);
  const fromMs = START_MS;
  const untilMs = START_MS + 2 * SLOT_MS;
  const upstream = { kind: 'upstreams', name: 'stock' };
  assert.deepEqual(figuresAt({ subject: upstream }, fromMs, untilMs), { requests: 14, failed: 7 });
  assert.deepEqual(figuresAt({ subject: upstream }, fromMs, fromMs + 1000), { requests: 9, failed: 2 });
  assert.deepEqual(figuresAt({ subject: { kind: 'operations', name: 'GET /b' } }, fromMs, untilMs), {
    requests: 5,
    failed: 5,
  });
  assert.deepEqual(figuresAt({}, fromMs, untilMs), { requests: 14, server_errors: 7 });
  // None was refused.
  assert.equal(figuresAt({ subject: { kind: 'organizations', name: 'org_a' } }, fromMs, untilMs), undefined);
  assert.equal(figuresAt({ subject: { kind: 'operations', name: 'GET /unknown' } }, fromMs, untilMs), undefined);
  history.wait(SLOTS + 200);
  assert.deepEqual(figuresAt({ subject: upstream }, fromMs, untilMs), { requests: 14, failed: 7 });
});

test('figures begin with the fault, and not with the slot in which it began', () => {
  const history = historyFrom();
  const figuresAt = history.figuresOfEvents(() => ['GET /a']);
  history.wait(2);
  history.add('GET /a', 50);
  history.wait(1);
  history.add('GET /a', 100);
  history.wait(0.2);
  const fromMs = START_MS + 3.2 * SLOT_MS;
  history.add('GET /a', 12, 12);
  const event = { subject: { kind: 'upstreams', name: 'stock' } };
  const figures = () => figuresAt(event, fromMs, fromMs + 60 * SLOT_MS);
  assert.deepEqual(figures(), { requests: 12, failed: 12 });
  history.wait(SLOTS + 200);
  assert.deepEqual(figures(), { requests: 12, failed: 12 });
  history.wait(SLOTS * 200);
  assert.deepEqual(figures(), { requests: 12, failed: 12 });
});

test('lost keys and slow operations have their own figures: refusals before the caller is known, and the time of most responses', () => {
  const history = historyFrom();
  const figuresAt = history.figuresOfEvents(() => []);
  history.add('GET /a', 10);
  for (const name of ['authenticate api_key_invalid', 'throttle auth_attempts_limited', 'limit rate_limited'])
    history.refuse(name);
  const at = (event: Parameters<typeof figuresAt>[0]) => figuresAt(event, START_MS, START_MS + 1000);
  assert.deepEqual(at({ about: { topic: 'keys lost' } }), { requests: 10, refused: 2 });
  const slow = { about: { topic: 'slow', name: 'GET /a' }, subject: { kind: 'operations', name: 'GET /a' } } as const;
  assert.deepEqual(at(slow), { requests: 10, p90_ms: 4.5 });
});

test('an upstream that gets no requests has the refusals of the gateway', () => {
  const history = historyFrom();
  history.addRefused('GET /a', 6);
  const figuresAt = history.figuresOfEvents(() => ['GET /a']);
  const subject = { kind: 'upstreams', name: 'stock' };
  assert.deepEqual(figuresAt({ subject }, START_MS, START_MS + 1000), { requests: 6, failed: 0, unserved: 6 });
});

test('a cause of some operations has their requests alone, without those that the gateway refused', () => {
  const history = historyFrom();
  history.add('GET /a', 9, 4);
  history.addRefused('GET /a', 6, 429);
  history.add('GET /b', 100);
  const figuresAt = history.figuresOfEvents(() => ['GET /a', 'GET /b']);
  const event = { subject: { kind: 'upstreams', name: 'stock' }, operations: ['GET /a'] };
  assert.deepEqual(figuresAt(event, START_MS, START_MS + 1000), { requests: 9, failed: 4 });
  // Another one joins them.
  const more = { ...event, operations: ['GET /a', 'GET /b'] };
  assert.deepEqual(figuresAt(more, START_MS, START_MS + 1000), { requests: 109, failed: 4 });
});
