import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CauseMemory, createCauseMemory } from '../../../gateway/console/causes/cause-memory.ts';
import { causesOf } from '../../../gateway/console/causes/causes.ts';
import type { PresentTraffic } from '../../../gateway/console/causes/present.ts';
import { createSlowMemory, slowIn } from '../../../gateway/console/causes/slow-causes.ts';
import type { PresentCounts } from '../../../gateway/console/history/history-counts.ts';
import type { OrganizationNearLimit } from '../../../gateway/console/history/sample.ts';

const NOW_MS = Date.parse('2027-03-01T12:25:00.000Z');
const BOUNDS = [0.05, 0.1, 1, 5];
const QUIET = { requests: 9, failed: 0, refused: 0 };
const REPORTS = 'GET /reports/daily';

interface Counted {
  readonly requests: number;
  readonly failed?: number;
  readonly refused?: number;
  /** Of the refused ones, those with 5xx. */
  readonly overloaded?: number;
  /** Answers that break the contract. */
  readonly broken?: number;
  /** The bucket of all its durations. */
  readonly bucket?: number;
}

function countsOf({ requests, failed = 0, refused = 0, overloaded = 0, broken = 0, bucket = 0 }: Counted): number[] {
  const buckets = [0, 0, 0, 0, 0].map((_, index) => (index === bucket ? requests : 0));
  const classes = [requests - failed - refused, 0, refused - overloaded, failed + overloaded];
  return [...buckets, ...classes, refused, overloaded, broken];
}

function series(
  name: string,
  minute: Counted,
  latest: Counted = minute,
  hour: Counted = { requests: 0 },
): PresentCounts {
  return { name, minute: countsOf(minute), latest: countsOf(latest), hour: countsOf(hour) };
}

const near = (more: Partial<OrganizationNearLimit>): OrganizationNearLimit => ({
  ...{ organization: 'org_a', tier: 'free', policy: 'organization', limit: 100, window_seconds: 60 },
  ...{ remaining: 3, near: 5, refused: 0, shadow_refused: 0, last_at: new Date(NOW_MS - 5000).toISOString() },
  ...more,
});

function presentOf(more: Partial<PresentTraffic>): PresentTraffic {
  return {
    ...{ bounds: BOUNDS, operations: [], organizations: [], upstreams: [], nearLimits: [] },
    upstreamOf: (operation) => (operation.startsWith('GET /reports') ? 'orders' : undefined),
    failureCodes: new Map(),
    usualMs: () => undefined,
    ...more,
  };
}

/** Every cause was there before. */
const LASTING: CauseMemory = { ...createCauseMemory(), lasts: () => true };

function told(more: Partial<PresentTraffic>, status = {}, memory = createCauseMemory(), nowMs = NOW_MS) {
  const causes = causesOf(status, QUIET, nowMs, presentOf(more), memory);
  memory.note(causes, nowMs);
  return causes.map(({ kind, cause, details }) => `${kind}: ${cause} ${details}`);
}

test('an operation that fails is named first, with its upstream, and says when it recovers', () => {
  const failing = { requests: 21, failed: 21 };
  const page = `#/operations/${encodeURIComponent(REPORTS)}`;
  assert.deepEqual(told({ operations: [series(REPORTS, failing)] }), [
    `bad: ${REPORTS} of orders fails: 21 of 21 in the last minute. ${page}`,
  ]);
  assert.deepEqual(told({ operations: [series(REPORTS, failing, { requests: 4 })] }, {}, LASTING), [
    `warn: ${REPORTS} of orders is recovering: 21 of 21 failed in the last minute, none in the last 15 seconds. ${page}`,
  ]);
  // Without a request since then it is not known to recover.
  assert.match(told({ operations: [series(REPORTS, failing, { requests: 0 })] })[0] ?? '', /^bad: .*fails/);
  assert.match(told({ operations: [series('GET unmatched', failing)] })[0] ?? '', /^bad: GET unmatched fails/);
  for (const few of [
    { requests: 2, failed: 2 },
    { requests: 100, failed: 4 },
    { requests: 50, refused: 50 },
    { requests: 50, refused: 50, overloaded: 50 },
  ])
    assert.deepEqual(told({ operations: [series(REPORTS, few)] }), []);
});

const failuresOf = (all: Readonly<Record<string, string[]>>) =>
  new Map(Object.entries(all).map(([name, codes]) => [name, { codes, since: undefined, targets: [] }]));

test('a failing operation names the codes that its clients get, and an upstream those of its operations', () => {
  const failing = [series(REPORTS, { requests: 21, failed: 21 })];
  const named = (codes: Readonly<Record<string, string[]>>, operations = failing) =>
    told({ operations, failureCodes: failuresOf(codes) })[0]?.replace(/ #.*/, '');
  assert.equal(
    named({ [REPORTS]: ['upstream_timeout'] }),
    `bad: ${REPORTS} of orders fails: 21 of 21 in the last minute: upstream_timeout.`,
  );
  assert.match(named({ [REPORTS]: ['a', 'b', 'c', 'd'] }) ?? '', /in the last minute: a, b and 2 more\.$/);
  const three = ['a', 'b', 'c'].map((name) => series(`${REPORTS}/${name}`, { requests: 5, failed: 5 }));
  assert.match(
    named({ [`${REPORTS}/a`]: ['x'], [`${REPORTS}/c`]: ['x', 'y'] }, three) ?? '',
    /^bad: Upstream orders.*: 15 of 15 in the last minute: x, y\.$/,
  );
});

test('operations of one upstream that fail together are one cause, which is not told twice', () => {
  const operations = ['a', 'b', 'c', 'd'].map((name) => series(`GET /reports/${name}`, { requests: 10, failed: 5 }));
  assert.deepEqual(told({ operations }), [
    'bad: Upstream orders, with 4 of its operations, fails: 20 of 40 in the last minute. #/upstreams/orders',
  ]);
  const ejected = { targets: [{ mode: 'live', address: 'http://a', state: 'ejected' }] };
  const causes = told({ operations }, { upstreams: { orders: ejected } });
  assert.deepEqual([causes.length, /ejected/.test(causes[0] ?? '')], [1, true]);
  // Another upstream that is out hides nothing.
  assert.equal(told({ operations }, { upstreams: { stock: ejected } }).length, 2);
  const many = Array.from({ length: 9 }, (_, index) => series(`GET /${index}`, { requests: 10, failed: 9 }));
  assert.deepEqual(told({ operations: many }).slice(4), ['bad: 5 more operations fail. #/']);
});

test('requests that fail at the target that is out are one failure, which names the target', () => {
  const [a, b] = ['http://a:1', 'http://b:2'];
  const status = (state: string) => ({
    upstreams: {
      orders: {
        targets: [
          { mode: 'live', address: a, origin: a, state, last_error: 'timeout' },
          { mode: 'live', address: b, origin: b, state: 'healthy' },
        ],
      },
    },
  });
  const operations = [series(REPORTS, { requests: 20, failed: 10 })];
  const causes = (state: string, targets: readonly string[], all = operations) => {
    const failureCodes = new Map([[REPORTS, { codes: ['upstream_timeout'], since: undefined, targets }]]);
    return causesOf(status(state), QUIET, NOW_MS, presentOf({ operations: all, failureCodes }), createCauseMemory());
  };
  for (const state of ['ejected', 'trial']) {
    const [failure, ...others] = causes(state, Array(10).fill(a));
    assert.deepEqual([failure?.kind, failure?.id, others], ['bad', 'upstream orders live', []]);
    assert.match(failure?.cause ?? '', /^Upstream orders \(live\): target http:\/\/a:1 .*\(timeout\)\.$/);
    assert.match(
      failure?.consequence ?? '',
      /^10 of 20 requests failed in the last minute, at this target: upstream_timeout\. .*To remove it, delete http:\/\/a:1 from upstreams\.orders\.live in upstreams\.yaml: it is in force once saved\. In the last minute: GET \/reports\/daily \(10 of 20 failed\)\.$/,
    );
    assert.deepEqual([failure?.runbook, failure?.figures], ['GatewayTargetDown', { requests: 20, failed: 10 }]);
  }
  const ids = (...args: Parameters<typeof causes>) => causes(...args).map(({ kind, id }) => `${kind} ${id}`);
  // The failures at the other target have a cause of their own.
  assert.deepEqual(ids('ejected', [a, b, b]), [`bad operation ${REPORTS}`, 'warn upstream orders live']);
  const over = [series(REPORTS, { requests: 20, failed: 10 }, { requests: 5, failed: 0 })];
  assert.deepEqual(ids('ejected', [a, a, a], over), ['warn upstream orders live']);
});

test('an upstream without its credential has no slow operations', () => {
  const slow = [series(REPORTS, { requests: 40, bucket: 3 }, undefined, { requests: 400, bucket: 0 })];
  const fault = { reason: 'refused', secret: 'orders_key' } as const;
  const [latched] = causesOf(
    { upstreams: { orders: { credential_fault: fault } } },
    QUIET,
    NOW_MS,
    presentOf({ operations: slow }),
    createCauseMemory(),
  );
  assert.doesNotMatch(latched?.consequence ?? '', /In the last minute:/);
});

test('what an upstream that failed left in the last minute is not told after its end', () => {
  const memory = createCauseMemory();
  const upstreams = { orders: { targets: [{ mode: 'live', address: 'http://a', state: 'failing' }] } };
  const operations = [series(REPORTS, { requests: 824, failed: 711 })];
  assert.equal(told({ operations }, { upstreams }, memory).length, 1);
  assert.deepEqual(told({ operations }, {}, memory, NOW_MS + 8000), []);
  // What fails later than that has another cause.
  const [later = ''] = told({ operations }, {}, memory, NOW_MS + 76_000);
  assert.match(later, /^bad: .*fails: 711 of 824/);
  // What is over does not begin.
  const over = [series('GET /other', { requests: 30, failed: 9 }, { requests: 9 })];
  assert.deepEqual(told({ operations: over }, {}, memory, NOW_MS + 80_000), []);
});

test('a service that fails is told while Redis is away and after, because its failures are not of Redis', () => {
  const memory = createCauseMemory();
  const operations = [series(REPORTS, { requests: 59, failed: 59 })];
  const isNamed = (causes: readonly string[]) => causes.some((one) => /^bad: GET .* fails: 59 of 59/.test(one));
  const away = { redis: { address: '127.0.0.1:6379' }, limits: { state: 'away', policyInForce: 'local' } };
  assert.ok(isNamed(told({ operations }, {}, memory)));
  const during = told({ operations }, away, memory, NOW_MS + 5000);
  assert.deepEqual([during.length, isNamed(during), /^bad: Redis/.test(during[0] ?? '')], [2, true, true]);
  assert.ok(isNamed(told({ operations }, {}, memory, NOW_MS + 10_000)));
  // What the gateway refuses meanwhile is a symptom of Redis.
  const refused = [series(REPORTS, { requests: 59, refused: 59, overloaded: 59 })];
  assert.equal(told({ operations: refused }, away, memory, NOW_MS + 15_000).length, 1);
});

test('an overloaded upstream is one cause, with its load and what its operations show', () => {
  const hour = { requests: 100 };
  const slow = { requests: 30, failed: 9, bucket: 3 };
  const present = {
    operations: ['a', 'b'].map((name) => series(`GET /reports/${name}`, slow, slow, hour)),
    upstreams: [series('orders', { requests: 30, bucket: 3 }, { requests: 30, bucket: 3 }, hour)],
  };
  const orders = { shedding: true, in_flight: 16, places: 16, waiting: 128 };
  assert.deepEqual(told(present, { upstreams: { orders } }), [
    'bad: Upstream orders is overloaded: 16 of 16 places taken, 128 waiting; the service takes 3 s, 25 ms before. #/upstreams/orders',
  ]);
  assert.equal(
    causesOf({ upstreams: { orders } }, QUIET, NOW_MS, presentOf(present), createCauseMemory())[0]?.consequence,
    'A part of its requests gets 503 upstream_overloaded. In the last minute: GET /reports/a (9 of 30 failed), GET /reports/b (9 of 30 failed).',
  );
  const breaker = { live: 'open' };
  assert.equal(told(present, { upstreams: { orders: { ...orders, breaker } } }).length, 1);
  // Before the queue is too long, the line says how much of the duration is a wait.
  const calm = { ...present, operations: [series(REPORTS, { requests: 30, bucket: 3 }, undefined, hour)] };
  const wait = /; that includes the wait for a place at orders: 3 wait now, the service takes 3 s\./;
  assert.match(told(calm, { upstreams: { orders: { waiting: 3 } } })[0] ?? '', wait);
  assert.doesNotMatch(told(calm, { upstreams: { orders: { waiting: 0 } } })[0] ?? '', /wait/);
});

test('an operation is slow if it is slower than itself', () => {
  const hour = { requests: 100 };
  const slow = { requests: 10, bucket: 3 };
  const page = `#/operations/${encodeURIComponent(REPORTS)}`;
  assert.deepEqual(told({ operations: [series(REPORTS, slow, slow, hour)] }), [
    `warn: ${REPORTS} of orders is slow: 9 of 10 responses within about 4.6 s, about 45 ms before. ${page}`,
  ]);
  // Several of one upstream are one cause, which names it.
  const several = presentOf({
    operations: [series(REPORTS, slow, slow, hour), series('GET /reports/b', slow, slow, hour)],
  });
  const causes = causesOf({}, QUIET, NOW_MS, several, createCauseMemory());
  assert.deepEqual(
    causes.map(({ id, cause, details }) => [id, cause, details]),
    [
      [
        'slow operations of orders',
        `Upstream orders is slow, with 2 of its operations: 9 of 10 responses of ${REPORTS} within about 4.6 s, about 45 ms before.`,
        '#/upstreams/orders',
      ],
    ],
  );
  assert.match(causes[0]?.consequence ?? '', /^Its clients wait longer/);
  const calm: PresentCounts[] = [
    series(REPORTS, slow, slow, { requests: 100, bucket: 3 }),
    series(REPORTS, slow, slow, { requests: 49 }),
    series(REPORTS, { requests: 9, bucket: 3 }, { requests: 9, bucket: 3 }, hour),
    // Slow before, and no longer.
    series(REPORTS, { requests: 20, bucket: 3 }, { requests: 9 }, hour),
    series(REPORTS, { requests: 9, bucket: 1 }, { requests: 9, bucket: 1 }, hour),
  ];
  for (const operation of calm) assert.deepEqual(told({ operations: [operation] }), []);
});

test('an operation that stays slow is told until it is fast again, and recovers while the minute counts it', () => {
  const memory = createSlowMemory();
  const slow = { requests: 10, bucket: 3 };
  const at = (latest: Counted, hour: Counted, nowMs = NOW_MS) => {
    const present = presentOf({ operations: [series(REPORTS, slow, latest, hour)], usualMs: memory.usualMs });
    memory.note(slowIn(present), nowMs);
    return causesOf({}, QUIET, nowMs, present, createCauseMemory()).map(({ cause, hasRecovered }) => [
      cause,
      hasRecovered,
    ]);
  };
  // What is over does not begin.
  assert.deepEqual(at({ requests: 9 }, { requests: 100 }), []);
  const isSlow = [`${REPORTS} of orders is slow: 9 of 10 responses within about 4.6 s, about 45 ms before.`, undefined];
  assert.deepEqual(at(slow, { requests: 100 }), [isSlow]);
  // The hour before is then slow, too.
  assert.deepEqual(at(slow, { requests: 100, bucket: 3 }), [isSlow]);
  assert.deepEqual(at({ requests: 3 }, { requests: 100, bucket: 3 }), [
    [
      `${REPORTS} of orders is recovering: 9 of 10 responses within about 45 ms in the last 15 seconds, after a slow time in the last minute.`,
      true,
    ],
  ]);
  assert.deepEqual(at(slow, { requests: 100, bucket: 3 }), [isSlow]);
  // What has been so for hours is usual.
  assert.deepEqual(at(slow, { requests: 100, bucket: 3 }, NOW_MS + 6 * 3_600_000), []);
});

test('one organization that is refused, and one that has nearly used a limit, are named', () => {
  const refused = series('org_a', { requests: 40, refused: 12 });
  assert.deepEqual(told({ organizations: [refused] }), [
    'warn: org_a is refused: 12 of 40 requests (30 %) in the last minute. #/organizations/org_a',
  ]);
  assert.match(
    told({ organizations: [refused], nearLimits: [near({ refused: 12, remaining: 0 })] }).join(),
    /^warn: org_a is refused for its limit organization, 100 in 60 s: 12 of 40 requests \(30 %\) in the last minute\./,
  );
  assert.match(
    told({ organizations: [series('org_a', { requests: 40, refused: 12 }, { requests: 3 })] })[0] ?? '',
    /^warn: org_a is recovering: 12 of 40 requests \(30 %\) were refused/,
  );
  // A limit that was changed since then refused none of these.
  const lastRefused = { at: new Date(NOW_MS - 20_000).toISOString(), limit: 20, window_seconds: 60 };
  assert.match(
    told({ organizations: [refused], nearLimits: [near({ refused: 12, last_refused: lastRefused })] })[0] ?? '',
    /^warn: org_a is refused for its limit organization, 20 in 60 s: 12 of 40/,
  );
  // Its limit refused requests some minutes ago, and others are the reason now.
  const refusedBefore = { ...lastRefused, at: new Date(NOW_MS - 300_000).toISOString() };
  assert.match(
    told({ organizations: [refused], nearLimits: [near({ refused: 12, last_refused: refusedBefore })] })[0] ?? '',
    /^warn: org_a is refused: 12 of 40/,
  );
  const silent = series('org_a', { requests: 26, refused: 26 }, { requests: 0 });
  assert.deepEqual(told({ organizations: [silent] }), [
    'warn: org_a was refused, and sends nothing now. #/organizations/org_a',
  ]);
  assert.equal(
    told({ organizations: [silent], nearLimits: [near({ refused: 26, last_refused: lastRefused })] })[0],
    'warn: org_a was refused for its limit organization, 20 in 60 s, and sends nothing now: its last refused request was at 2027-03-01T12:24:40.000Z. #/organizations/org_a',
  );
  // With many requests before it was over its limit, the share of the minute grows slowly.
  assert.deepEqual(
    told({ organizations: [series('org_a', { requests: 500, refused: 40 }, { requests: 120, refused: 40 })] }),
    ['warn: org_a is refused: 40 of 120 requests (33 %) in the last half minute. #/organizations/org_a'],
  );
  // What its requests get is over.
  const recovering = [series('org_a', { requests: 40, refused: 12 }, { requests: 3 })];
  assert.equal(
    causesOf({}, QUIET, NOW_MS, presentOf({ organizations: recovering }), createCauseMemory())[0]?.consequence,
    '',
  );
  assert.deepEqual(told({ organizations: [series('org_a', { requests: 41, refused: 12 })] }), []);
  assert.deepEqual(told({ organizations: [series('org_a', { requests: 9, refused: 9 })] }), []);
  assert.deepEqual(told({ nearLimits: [near({})] }), [
    'warn: org_a has used 97 of 100 in 60 s, its limit organization. #/organizations/org_a',
  ]);
  const present = presentOf({
    organizations: [refused],
    nearLimits: [near({ refused: 12 }), near({ organization: 'b' })],
  });
  assert.deepEqual(
    causesOf({}, QUIET, NOW_MS, present, createCauseMemory()).map(
      ({ consequence, runbook }) => `${consequence} ${runbook}`,
    ),
    [
      'These requests get 429 rate_limited, with the time to wait; the limit is its own. An organization that is refused',
      'Soon its requests are refused. An organization that is refused',
    ],
  );
  const reloaded = (agoMs: number, changes: string[]) => ({
    configuration: { changes, loaded_at: new Date(NOW_MS - agoMs).toISOString() },
  });
  const consequenceAfter = (agoMs: number, changes: string[]) =>
    causesOf(reloaded(agoMs, changes), QUIET, NOW_MS, present, createCauseMemory())[0]?.consequence ?? '';
  const changes = ['limits.yaml tiers.free.requests: 100 → 20', 'upstreams.yaml upstreams.a: – → {}'];
  assert.match(
    consequenceAfter(60_000, changes),
    / limits\.yaml changed at 2027-03-01T12:24:00\.000Z: tiers\.free\.requests: 100 → 20\.$/,
  );
  const others = [
    'tiers.premium.requests: 100 → 20',
    'tiers.free.requests: 20 → 100',
    'organizations.b.requests: 9 → 1',
  ];
  const otherChanges = others.map((change) => `limits.yaml ${change}`);
  for (const other of [
    consequenceAfter(16 * 60_000, changes),
    consequenceAfter(60_000, changes.slice(1)),
    consequenceAfter(60_000, otherChanges),
  ])
    assert.doesNotMatch(other, /changed/);
  const share = { limits: { state: 'away', policyInForce: 'local' } };
  const nearAgain = causesOf(
    share,
    QUIET,
    NOW_MS,
    presentOf({ nearLimits: [near({ refused: 18, is_share: true })] }),
    createCauseMemory(),
  ).at(-1);
  assert.equal(
    nearAgain?.cause,
    'org_a has used 97 of 100 in 60 s, its limit organization, the share of one instance while Redis is away.',
  );
  assert.equal(nearAgain?.consequence, '18 of its requests were refused in the last quarter of an hour.');
  const calm = [
    // Redis is back.
    near({ is_share: true }),
    near({ remaining: 11 }),
    near({ last_at: new Date(NOW_MS - 61_000).toISOString() }),
    near({ organization: 'anonymous' }),
    near({ remaining: 0, shadow_refused: 7 }),
    // It was refused, and has stopped.
    near({
      remaining: 0,
      refused: 7,
      last_refused: { at: new Date(NOW_MS - 50_000).toISOString(), limit: 100, window_seconds: 60 },
    }),
  ];
  for (const one of calm) assert.deepEqual(told({ nearLimits: [one] }), []);
});

test('an organization has its name beside its id, and a share that it exceeded is told as such after the outage of Redis', () => {
  const last = { at: new Date(NOW_MS - 5000).toISOString(), limit: 33, window_seconds: 60, is_share: true as const };
  const present = presentOf({
    organizations: [series('org_a', { requests: 60, refused: 25 })],
    nearLimits: [near({ name: 'Initech', refused: 25, last_refused: last })],
  });
  const [cause] = causesOf({}, QUIET, NOW_MS, present, createCauseMemory());
  assert.equal(
    cause?.cause,
    'Initech (org_a) is refused for its limit organization, 33 in 60 s, the share of one instance while Redis was away: 25 of 60 requests (42 %) in the last minute.',
  );
  assert.equal(cause?.id, 'organization org_a');
});

test('an upstream that works again is recovering, as long as its failure is counted', () => {
  const memory = createCauseMemory();
  const target = { mode: 'live', address: 'http://a', state: 'ejected', failing_since: new Date(NOW_MS).toISOString() };
  const down = { upstreams: { orders: { targets: [target] } } };
  const up = { upstreams: { orders: { targets: [{ ...target, state: 'healthy' }] } } };
  const counted = { requests: 21, failed: 9 };
  assert.match(
    told({ operations: [series(REPORTS, counted)] }, down, memory)[0] ?? '',
    /^bad: Upstream orders \(live\)/,
  );
  assert.deepEqual(told({ operations: [series(REPORTS, counted)] }, up, memory, NOW_MS + 15_000), [
    'warn: Upstream orders answers again: 9 of 21 requests failed in the last minute. #/upstreams/orders',
  ]);
  assert.deepEqual(told({ operations: [series(REPORTS, counted, { requests: 4 })] }, up, memory, NOW_MS + 30_000), [
    'warn: Upstream orders is recovering: 9 of 21 requests failed in the last minute, none in the last 15 seconds. #/upstreams/orders',
  ]);
  // What still fails then fails for another reason, and is told by itself.
  assert.match(
    told({ operations: [series(REPORTS, counted)] }, up, memory, NOW_MS + 35_000)[0] ?? '',
    /^bad: GET .*fails: 9 of 21/,
  );
  assert.deepEqual(told({ operations: [series(REPORTS, { requests: 21 })] }, up, memory, NOW_MS + 45_000), []);
});

test('errors of the last minute that are over are no cause of a process that has just started', () => {
  const errors = { requests: 100, failed: 40, refused: 0 };
  const whileLatest = (latest: Counted) =>
    causesOf(
      {},
      errors,
      NOW_MS,
      presentOf({ operations: [series(REPORTS, { requests: 100, failed: 40 }, latest)] }),
      createCauseMemory(),
    );
  assert.deepEqual(whileLatest({ requests: 20 }), []);
  assert.notDeepEqual(whileLatest({ requests: 20, failed: 3 }), []);
});

test('most requests that are refused before an organization is known are told, unless that is usual', () => {
  const memory = createCauseMemory();
  const usual = { requests: 600, refused: 12 };
  const both = (minute: Counted, hour: Counted = usual, ofOrganization: Counted = { requests: 0 }) => ({
    operations: [series('GET unmatched', minute, minute, hour)],
    organizations: [series('org_a', ofOrganization)],
  });
  const lost = { requests: 100, refused: 95 };
  assert.match(
    told(both(lost))[0] ?? '',
    /^bad: Most requests are refused before .* known: 95 of 100 in the last minute, 2 % in the hour before\. #\/requests\?status=refused$/,
  );
  assert.match(told(both({ requests: 100, refused: 60 }))[0] ?? '', /^warn: Most .*: 60 of 100/);
  assert.deepEqual(told(both({ requests: 100, refused: 40 })), []);
  assert.deepEqual(told(both(lost, { requests: 600, refused: 500 })), []);
  assert.deepEqual(
    told(both(lost, usual, { requests: 100, refused: 95 })).filter((one) => /Most/.test(one)),
    [],
  );
  assert.match(told(both(lost), {}, memory)[0] ?? '', /^bad: Most/);
  // An outage that lasts is a part of the hour before.
  assert.match(
    told(both(lost, { requests: 600, refused: 400 }), {}, memory)[0] ?? '',
    /^bad: Most .*: 95 of 100 in the last minute\. /,
  );
});

test('answers that break the contract are a warning, and a failure only if most of them have another form', () => {
  const known = (violation: string) =>
    new Map([
      [
        REPORTS,
        { codes: [], since: undefined, targets: [], passed: { requestId: 'req_1', violation, since: undefined } },
      ],
    ]);
  const toldOf = (counted: Counted, violation: string, latest?: Counted) =>
    told({ operations: [series(REPORTS, counted, latest)], failureCodes: known(violation) });
  const html = 'status 200 with text/html; the contract declares application/json';
  const breaks = (numbers: string) =>
    `${REPORTS} of orders breaks its contract: ${numbers} answers in the last minute. #/operations/${encodeURIComponent(REPORTS)}`;
  assert.deepEqual(toldOf({ requests: 20, broken: 20 }, '/data/0/id: required'), [`warn: ${breaks('20 of 20')}`]);
  assert.deepEqual(toldOf({ requests: 20, broken: 20 }, html), [`bad: ${breaks('20 of 20')}`]);
  assert.deepEqual(toldOf({ requests: 20, broken: 9 }, html), [`warn: ${breaks('9 of 20')}`]);
  assert.deepEqual(toldOf({ requests: 20, broken: 2 }, html), []);
  assert.deepEqual(toldOf({ requests: 20, broken: 9 }, html, { requests: 4 }), []);
  // The service did not answer the requests that the gateway refused. Their number is too small for another cause.
  assert.deepEqual(toldOf({ requests: 22, refused: 2, broken: 20 }, html), [`bad: ${breaks('20 of 20')}`]);
});

test('requests that the gateway refuses are no requests that an operation fails', () => {
  assert.match(
    told({ operations: [series(REPORTS, { requests: 100, refused: 96, failed: 4 })] })[0] ?? '',
    /fails: 4 of 4 in the last minute/,
  );
});

test('what an open breaker refuses is named with the service that opened it', () => {
  const status = {
    upstreams: {
      orders: {
        targets: [{ mode: 'live', address: 'http://orders:1', state: 'failing', last_error: 'status 500' }],
        breaker: { live: 'open' },
      },
    },
  };
  const other = 'GET /reports/weekly';
  const operations = [
    series(REPORTS, { requests: 99, failed: 9, refused: 90, overloaded: 70 }),
    series(other, { requests: 30, refused: 30, overloaded: 30 }),
  ];
  const [cause] = causesOf(status, QUIET, NOW_MS, presentOf({ operations }), createCauseMemory());
  assert.match(
    cause?.consequence ?? '',
    /In the last minute: GET \/reports\/daily \(9 of 79 failed, 70 refused\), GET \/reports\/weekly \(30 of 30 refused\)\.$/,
  );
});

test('after a restart, a broken contract waits until its upstream is known', () => {
  const operations = [series('GET /others', { requests: 20, broken: 20 })];
  assert.deepEqual(told({ operations }), []);
});
