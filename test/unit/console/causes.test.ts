import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureCause, published, type StatusForCauses, warningCause } from '../../../gateway/console/causes/cause.ts';
import { createCauseMemory } from '../../../gateway/console/causes/cause-memory.ts';
import { causesOf, type LastMinute } from '../../../gateway/console/causes/causes.ts';
import { returnedCause, silentCause } from '../../../gateway/console/causes/instance-causes.ts';
import type { PresentTraffic } from '../../../gateway/console/causes/present.ts';
import { Events } from '../../../gateway/console/events/events.ts';
import { eventsAbout } from '../../../gateway/console/events/shown-events.ts';
import { listedEvents } from '../../../gateway/console/feed/join-events.ts';

const NOW_MS = Date.parse('2027-03-01T12:25:00.000Z');
const SINCE = '2027-03-01T12:22:00.000Z';
const GRACE_END = '2027-03-01T12:37:00.000Z';

const fine: StatusForCauses = {
  lifecycle: 'serving',
  configuration: { last_failure: null },
  redis: { address: '127.0.0.1:7379' },
  keys: { store: 'reachable' },
  limits: { state: 'up', kind: 'redis' },
  idempotency: { state: 'up' },
  deprecated_uses: { state: 'unused' },
  upstreams: {
    platform: { targets: [{ mode: 'live', address: 'http://a', state: 'healthy' }], breaker: { live: 'closed' } },
  },
  overload: { shedding: false, loop_overloaded: false },
  certificates: [{ names: ['api.example.com'], state: 'valid', days_left: 60 }],
};
const quiet: LastMinute = { requests: 9, failed: 2, refused: 0 };
/** No requests to operations. */
const NO_TRAFFIC: PresentTraffic = {
  bounds: [1],
  operations: [],
  organizations: [],
  upstreams: [],
  nearLimits: [],
  upstreamOf: () => undefined,
  failureCodes: new Map(),
  usualMs: () => undefined,
};
/** Without traffic, and without earlier causes. */
const causesAt = (status: StatusForCauses | null, minute: LastMinute, nowMs: number) =>
  causesOf(status, minute, nowMs, NO_TRAFFIC, createCauseMemory());
const causesWith = (status: StatusForCauses, minute = quiet) => causesAt({ ...fine, ...status }, minute, NOW_MS);
const textsOf = (status: StatusForCauses, minute = quiet) =>
  causesWith(status, minute).map(({ kind, cause, consequence }) => `${kind}: ${cause} ${consequence}`);

const redisAway: StatusForCauses = {
  keys: { store: 'failing', reason: 'connect ECONNREFUSED 127.0.0.1:7379', read_at: SINCE, grace_ends_at: GRACE_END },
  limits: {
    ...{ state: 'away', kind: 'redis', since_at: SINCE, policyInForce: 'local' },
    reason: 'connect ECONNREFUSED 127.0.0.1:7379',
  },
  idempotency: { state: 'away' },
};

test('a gateway that is fine needs no attention', () => {
  assert.deepEqual(causesWith({}), []);
});

test('without Redis, a cause names each store that cannot be used', () => {
  const { redis: _redis, ...withoutRedis } = fine;
  const texts = (status: StatusForCauses) =>
    causesAt({ ...withoutRedis, ...status }, quiet, NOW_MS).map(({ cause, consequence }) => `${cause} ${consequence}`);
  const away = { state: 'away' };
  assert.deepEqual(texts({ deprecated_uses: away }), [
    'The store of deprecated calls cannot be used. Calls of deprecated operations are counted later.',
  ]);
  assert.deepEqual(texts({ idempotency: away }), [
    'The idempotency store cannot be used. Writes with an Idempotency-Key get 503 gateway_overloaded, except to services that honour keys.',
  ]);
  assert.deepEqual(texts({ keys: { store: 'away', reason: 'disk I/O error' }, idempotency: away }), [
    'The key store and the idempotency store cannot be used: disk I/O error. Keys cannot be looked up; writes with an Idempotency-Key get 503 gateway_overloaded, except to services that honour keys.',
  ]);
});

test('without an answering worker there is that one cause', () => {
  assert.match(causesAt(null, quiet, NOW_MS)[0]?.cause ?? '', /^No worker reports/);
});

test('an upstream that sent unasked bytes is a warning until its connections are kept again', () => {
  const platform = { ...fine.upstreams?.platform, isolated_until: GRACE_END };
  assert.deepEqual(causesWith({ upstreams: { platform } }).map(published), [
    {
      id: 'upstream platform unasked',
      kind: 'warn',
      cause: 'Upstream platform sent bytes that no request asked for.',
      consequence:
        'Each of its requests gets a connection of its own, as with isolate: true, so that no client gets the answer of another one.',
      until: GRACE_END,
      details: '#/upstreams/platform',
    },
  ]);
  assert.deepEqual(causesWith({ upstreams: { platform: { ...platform, isolated_until: null } } }), []);
});

test('an outage of Redis is one cause, with its consequences, its begin, its end and the runbook', () => {
  assert.deepEqual(causesWith(redisAway).map(published), [
    {
      id: 'redis',
      kind: 'bad',
      cause: 'Redis 127.0.0.1:7379 refuses connections.',
      consequence: `Known keys work until ${GRACE_END}, others get 503; limits are counted per instance; writes with an Idempotency-Key get 503 gateway_overloaded, except to services that honour keys. This ends by itself when Redis answers again.`,
      since: SINCE,
      until: GRACE_END,
      runbook: 'GatewayKeyStoreAway',
      details: '#/system',
    },
  ]);
});

test('after the grace no key works', () => {
  const [cause] = causesAt({ ...fine, ...redisAway }, quiet, Date.parse(GRACE_END));
  assert.match(cause?.consequence ?? '', /^No key works any more/);
});

test('each fault of Redis is named', () => {
  const faults: [string, RegExp][] = [
    ['Redis gave no right answer for 1000 ms', /does not answer/],
    ["Socket timeout. Expecting data, but didn't receive any in 1000ms.", /does not answer/],
    ['the connection was closed', /closed the connection and takes no new one/],
    ['OOM command not allowed', /is full and takes no writes/],
    [
      'MISCONF Redis is configured to save RDB snapshots, but it is unable to persist to disk. script: 51fb8b',
      /Redis \S+ cannot write to its disk \(MISCONF\) and takes no writes\.$/,
    ],
    ['READONLY You can not write', /is a replica/],
    ['LOADING Redis is loading', /is loading its data/],
    ['getaddrinfo ENOTFOUND redis', /has no address/],
    ['something new', /cannot be used: something new/],
  ];
  for (const [reason, expected] of faults) {
    const [cause] = causesWith({ limits: { state: 'away', since_at: SINCE, reason, policyInForce: 'refuse' } });
    assert.match(cause?.cause ?? '', expected);
    assert.equal(cause?.runbook, 'GatewayLimitStoreAway');
  }
});

test('a Redis that takes no writes is one cause with one text and one runbook, whichever store has noticed it', () => {
  const reason =
    'MISCONF Redis is configured to save RDB snapshots, but it is unable to persist to disk. script: 51fb8b';
  const limits = { ...{ state: 'away', since_at: SINCE, policyInForce: 'local' }, reason };
  const written = { store: 'reachable', writeFailure: `Redis refused: ${reason}` };
  const away = { state: 'away', reason };
  for (const more of [{}, { keys: written }, { keys: written, idempotency: away }, { keys: written, usage: away }])
    assert.deepEqual(
      causesWith({ limits, ...more }).map(({ id, cause, consequence, runbook }) => [id, cause, consequence, runbook]),
      [
        [
          'redis',
          'Redis 127.0.0.1:7379 cannot write to its disk (MISCONF) and takes no writes.',
          'Limits are counted per instance; writes with an Idempotency-Key get 503 gateway_overloaded, except to services that honour keys; all keys still work, but changes of keys and last uses are not stored. This ends by itself when Redis takes writes again.',
          'GatewayLimitStoreAway',
        ],
      ],
    );
  assert.deepEqual(
    causesWith({ keys: written }).map(({ id, runbook }) => [id, runbook]),
    [['redis', 'GatewayLimitStoreAway']],
  );
  const emptied = { store: 'failing', reason: 'Redis refused: READONLY', writeFailure: 'Redis refused: READONLY' };
  const [unread] = causesWith({ keys: { ...emptied, grace_ends_at: GRACE_END } });
  assert.match(
    unread?.consequence ?? '',
    /^Known keys work until .*, others get 503; .*changes of keys .* not stored\./,
  );
  assert.doesNotMatch(unread?.consequence ?? '', /all keys/);
  assert.equal(unread?.runbook, 'GatewayKeyStoreAway');
  assert.deepEqual(causesWith({ idempotency: away }), [], 'writes again, and no keyed write since');
  const ended = { limits, redis: { address: '127.0.0.1:7379', failure: 'connect ECONNREFUSED 127.0.0.1:7379' } };
  assert.match(causesWith(ended)[0]?.cause ?? '', /refuses connections\.$/);
});

test('each reason why Redis takes no writes is a line of the history of its own', () => {
  let nowMs = NOW_MS;
  const events = new Events(() => nowMs);
  const during = (seconds: number, reason?: string) => {
    const limits = reason && { ...{ state: 'away', policyInForce: 'local' }, reason };
    for (let passed = 0; passed < seconds; passed += 1, nowMs += 1000)
      events.observe(fine, causesAt({ ...fine, ...(limits && { limits }) }, quiet, nowMs));
  };
  during(29, 'MISCONF Redis is configured');
  during(4);
  during(12, 'READONLY You can not write');
  during(46);
  during(43, 'READONLY You can not write');
  during(1);
  assert.deepEqual(
    listedEvents(events.list())
      .filter(({ kind }) => kind === 'outage')
      .map(({ at, until, text }) => [text, (Date.parse(String(until)) - Date.parse(at)) / 1000]),
    [
      ['Redis 127.0.0.1:7379 cannot write to its disk (MISCONF) and takes no writes.', 29],
      ['Redis 127.0.0.1:7379 is a replica and takes no writes.', 12],
      ['Redis 127.0.0.1:7379 is a replica and takes no writes.', 43],
    ],
  );
});

test('everything that is wrong is one cause with a runbook, and most name what clients get', () => {
  const target = (state: string, address = 'http://a') => ({ mode: 'live', address, state, failing_since: SINCE });
  const upstream = (more: object) => ({ upstreams: { stock: { targets: [target('healthy')], breaker: {}, ...more } } });
  const rows: [StatusForCauses, RegExp, string | undefined][] = [
    [
      { lifecycle: 'draining' },
      /^warn: The gateway is draining\. It was told to end\. It takes no new connections, finishes/,
      undefined,
    ],
    [{ lifecycle: 'ending' }, /^warn: The gateway is ending\. .* balancers send it nothing more/, undefined],
    [
      { configuration: { last_failure: { at: SINCE, mistakes: ['/etc/gateway/a.yaml:1: no. Do this.', 'b'] } } },
      /^bad: .*mistakes: a\.yaml:1: no, and 1 more\. The previous configuration stays in force/,
      'GatewayConfigurationRefused',
    ],
    [
      {
        configuration: {
          last_failure: { at: SINCE, needs_restart: true, mistakes: ['a.yaml:1:1: keys: no. Do this.'] },
        },
      },
      /^warn: The configuration files wait for a restart: a\.yaml:1:1: keys: no\. The previous configuration stays/,
      'GatewayConfigurationRefused',
    ],
    [
      { keys: { store: 'reachable', writeFailure: 'READONLY' } },
      /^bad: Redis 127\.0\.0\.1:7379 is a replica and takes no writes\./,
      'GatewayLimitStoreAway',
    ],
    [
      upstream({ targets: [target('ejected')] }),
      /^bad: Upstream stock \(live\): target http:\/\/a/,
      'GatewayTargetDown',
    ],
    [
      upstream({ targets: [target('ejected'), target('healthy', 'http://b')] }),
      /^warn: .*The other targets get its share/,
      'GatewayTargetDown',
    ],
    [upstream({ targets: [target('trial')] }), /^warn: .*is being tried again/, 'GatewayTargetDown'],
    [
      upstream({ targets: [{ ...target('failing'), last_error: 'http_response_timeout' }] }),
      /is failing \(no answer in time\)\. Its requests fail with 504 upstream_timeout\.$/,
      'GatewayTargetDown',
    ],
    [
      upstream({ targets: [{ ...target('trial'), last_error: 'status 500' }] }),
      /^warn: .*is being tried again/,
      'GatewayUpstreamErrors',
    ],
    [upstream({ targets: [target('unhealthy')] }), /^bad: .*fails its health checks/, 'GatewayTargetDown'],
    [
      upstream({ targets: [target('failing')], breaker: { live: 'open' } }),
      /^bad: .*is failing.*circuit breaker is open/,
      'GatewayBreakerOpen',
    ],
    [upstream({ breaker: { live: 'half_open' } }), /^bad: .*half open/, 'GatewayBreakerOpen'],
    [
      upstream({ credential_fault: { reason: 'refused', secret: 'stock_key' } }),
      /^bad: Upstream stock refused the credential of the gateway, the secret stock_key\. Nothing .* until the file SECRETS_DIR\/stock_key changes/,
      'GatewayCredentialLatched',
    ],
    [
      upstream({ credential_fault: { reason: 'absent', secret: 'stock_key' } }),
      /^bad: The gateway has no credential for upstream stock: the secret stock_key is missing\. .* the file SECRETS_DIR\/stock_key, or the gateway is started with the variable STOCK_KEY;/,
      'GatewayCredentialMissing',
    ],
    [
      upstream({ credential_fault: { reason: 'unusable', secret: 'stock_key' } }),
      /^bad: The gateway .*the secret stock_key is not in the form of its kind\. .* 502 upstream_auth_failed/,
      'GatewayCredentialMissing',
    ],
    [upstream({ shedding: true }), /^bad: Upstream stock is overloaded/, 'GatewayShedding'],
    [{ overload: { shedding: true } }, /^bad: The gateway is overloaded/, 'GatewayShedding'],
    [{ overload: { loop_overloaded: true } }, /^bad: The event loop/, 'GatewayEventLoopLate'],
    [{ workers: [{ worker: 2, state: 'waiting' }] }, /^bad: Worker 2 died/, 'GatewayWorkerRestarts'],
    [{ workers: [{ worker: 1, state: 'silent' }] }, /^bad: Worker 1 does not answer/, 'GatewayWorkerRestarts'],
    [
      { certificates: [{ names: ['a.example.com'], state: 'expiring', days_left: 13, expires_at: GRACE_END }] },
      /^warn: .* a\.example\.com expires in 13 days, at 2027-03-01T12:37:00\.000Z\./,
      'GatewayCertificateExpires',
    ],
    [
      { certificates: [{ names: ['a.example.com'], state: 'expiring', days_left: 0 }] },
      /^warn: .* expires within a day/,
      'GatewayCertificateExpires',
    ],
    [
      { certificates: [{ names: ['a.example.com'], state: 'expired', days_left: -1 }] },
      /^bad: .* has expired/,
      'GatewayCertificateExpires',
    ],
    [
      { certificates: [{ names: ['a.example.com'], state: 'missing', last_failure: { reason: 'It is away.' } }] },
      /^bad: There is no certificate for a\.example\.com yet\..*It is away\./,
      'GatewayCertificateMissing',
    ],
    [
      {
        certificates: [
          { names: ['a.example.com'], state: 'valid', last_failure: { reason: 'It is away.', failures: 3 } },
        ],
      },
      /^warn: .* is not renewed\..*It is away\./,
      'GatewayCertificateOrderFails',
    ],
    [{ issuers: { idp: { failure: 'timeout', read_at: SINCE } } }, /^warn: The keys of the issuer idp/, undefined],
  ];
  for (const [status, expected, runbook] of rows) {
    const causes = causesWith(status);
    assert.equal(causes.length, 1, String(expected));
    assert.match(textsOf(status)[0] as string, expected);
    assert.equal(causes[0]?.runbook, runbook, String(expected));
  }
});

test('a disk with embedded stores is a warning before it is full, and no cause beside Redis', () => {
  const disk = { directory: '/data', free_bytes: 2 ** 20, total_bytes: 100 * 2 ** 20 };
  const { redis: _, ...embedded } = fine;
  const [cause, ...others] = causesAt({ ...embedded, disk }, quiet, NOW_MS);
  assert.deepEqual(others, []);
  assert.deepEqual([cause?.kind, cause?.runbook], ['warn', 'GatewayDiskFull']);
  assert.equal(cause?.cause, 'The disk of GATEWAY_DATA /data is nearly full (1 of 100 MiB free).');
  assert.deepEqual(causesWith({ disk }), []);
});

test('the last write to a disk that was full is no cause of its own while it is not repeated', () => {
  const { redis: _, ...embedded } = fine;
  const disk = { directory: '/data', free_bytes: 0, total_bytes: 100 * 2 ** 20 };
  const keys = { store: 'reachable', writeFailure: 'database or disk is full' };
  const memory = createCauseMemory();
  const idsAt = (freeBytes: number, atMs: number) => {
    const status = { ...embedded, keys, disk: { ...disk, free_bytes: freeBytes } };
    const causes = causesOf(status, quiet, atMs, NO_TRAFFIC, memory);
    memory.note(causes, atMs);
    return causes.map(({ id }) => id);
  };
  assert.deepEqual(idsAt(0, NOW_MS), ['stores disk']);
  assert.deepEqual(idsAt(2 ** 26, NOW_MS + 3000), []);
  assert.deepEqual(idsAt(2 ** 26, NOW_MS + 30_000), ['store writes']);
});

test('errors need attention from one percent on, unless their cause is told already', () => {
  const many = { requests: 100, failed: 5, refused: 0, mostOften: 'upstream_error' };
  assert.match(
    textsOf({}, many).join(),
    /^bad: Requests fail with 5xx: 5 of 100 .*\(5 %\), most of them with upstream_error/,
  );
  assert.deepEqual(textsOf({}, { requests: 1000, failed: 5, refused: 0 }), []);
  assert.equal(textsOf(redisAway, many).length, 1);
});

test('what the gateway refused with 5xx is told apart from what services failed', () => {
  const of = (failed: number, refused: number, status = {}) =>
    textsOf(status, { requests: 100, failed, refused, mostOften: 'internal_error' }).join();
  assert.match(
    of(0, 5),
    /^bad: The gateway refuses requests with 5xx: 5 of 100 .*\(5 %\), most of them with internal_error/,
  );
  assert.match(
    of(2, 5),
    /^bad: Requests fail with 5xx: 7 of 100 .*\(7 %\), 2 failed and 5 were refused by the gateway, most/,
  );
  // What an overload refuses is told with it.
  const overload = { overload: { shedding: true } };
  assert.doesNotMatch(of(0, 50, overload), /5xx/);
  assert.match(of(5, 50, overload), /Requests fail with 5xx: 5 of 100/);
});

test('causes last from when they were first seen, and an outage is marked from its begin to its end', () => {
  let nowMs = NOW_MS;
  const events = new Events(() => nowMs);
  const observe = (status: StatusForCauses) => {
    const all = { ...fine, ...status };
    events.observe(all, causesAt(all, quiet, nowMs));
  };
  observe({ configuration: { version: 'one', loaded_at: SINCE } });
  observe({ ...redisAway, overload: { shedding: true } });
  const since = new Date(nowMs).toISOString();
  nowMs += 60_000;
  observe({ ...redisAway, overload: { shedding: true } });
  assert.deepEqual(
    events.causes().map((cause) => [cause.id, cause.since]),
    [
      ['redis', SINCE],
      ['shedding', since],
    ],
  );
  nowMs += 60_000;
  const until = new Date(nowMs).toISOString();
  observe({ configuration: { version: 'two', loaded_at: until } });
  assert.deepEqual(
    events.causes().map(({ id, isOver, endedAt }) => [id, isOver, endedAt]),
    [
      ['redis', true, until],
      ['shedding', true, until],
    ],
  );
  assert.deepEqual(
    events.list().map(({ kind, at, until: end }) => [kind, at, end]),
    [
      ['outage', SINCE, until],
      ['start', since, since],
      ['outage', since, until],
      ['reload', until, until],
    ],
  );
});

test('an outage that comes and goes is one mark, and stands only where it concerns what is shown', () => {
  let nowMs = NOW_MS;
  const events = new Events(() => nowMs);
  const down = { targets: [{ mode: 'live', address: 'http://a', state: 'failing' }] };
  const observe = (status: StatusForCauses) => {
    events.observe({ ...fine, ...status }, causesAt({ ...fine, ...status }, quiet, nowMs));
    nowMs += 30_000;
  };
  for (let times = 0; times < 3; times += 1) {
    observe({ upstreams: { files: down } });
    assert.equal(events.causes()[0]?.since, new Date(NOW_MS).toISOString());
    observe({});
  }
  const [pauses] = events.list().flatMap((event) => event.pauses ?? []);
  assert.deepEqual([pauses, events.causes()[0]?.pauses], [{ times: 2, ms: 60_000 }, pauses]);
  // The message about the end names the outage like its row.
  assert.equal(events.causes()[0]?.title, events.list().find(({ kind }) => kind === 'outage')?.text);
  const outagesOf = (...about: Parameters<typeof eventsAbout>) =>
    eventsAbout(...about).flatMap(({ kind, at, until }) => (kind === 'outage' ? [[at, until]] : []));
  const upstreamOf = (operation: string) => (operation === 'GET /v1/files' ? 'files' : 'platform');
  const seen = (...about: [('operations' | 'upstreams' | 'organizations')?, string?]) => {
    const [kind, name = ''] = about;
    return outagesOf(events.list(), kind && { kind, name }, upstreamOf).length;
  };
  const timeOf = (ms: number) => new Date(NOW_MS + ms).toISOString();
  assert.deepEqual(outagesOf(events.list(), undefined, upstreamOf), [[timeOf(0), timeOf(150_000)]]);
  assert.deepEqual([seen('upstreams', 'files'), seen('operations', 'GET /v1/files')], [1, 1]);
  assert.deepEqual(
    [seen('upstreams', 'platform'), seen('operations', 'GET /v1/jobs'), seen('organizations', 'org_a')],
    [0, 0, 0],
  );
  nowMs += 90_000;
  observe({ upstreams: { files: down } });
  assert.equal(seen(), 2);
});

test('the page of an error code has the outages whose causes name the code, also when the name comes later', () => {
  const events = new Events(() => NOW_MS);
  const of = (name: string) => eventsAbout(events.list(), { kind: 'codes', name }, () => undefined).length;
  const fails = (consequence: string) =>
    events.observe(fine, [
      failureCause({ topic: 'upstream', name: 'files', detail: 'live' }, 'It fails.', consequence),
    ]);
  fails('Its requests get 502 upstream_unreachable.');
  fails('Its requests get 503 upstream_unavailable.');
  // The start of the gateway is on every page.
  assert.deepEqual([of('upstream_unreachable'), of('upstream_unavailable'), of('rate_limited')], [2, 2, 1]);
  assert.equal(of('upstream_timeout'), 1);
  fails('Its requests fail with 502 or 504.');
  assert.deepEqual([of('upstream_timeout'), of('rate_limited')], [2, 1]);
});

test('a warning is marked, too, apart from the outage that it becomes, and not while it recovers', () => {
  let nowMs = NOW_MS;
  const events = new Events(() => nowMs);
  const live = { topic: 'upstream', name: 'files', detail: 'live' } as const;
  const observe = (kind: 'warn' | 'bad', more: object = {}) => {
    const make = kind === 'bad' ? failureCause : warningCause;
    events.observe(fine, [{ ...make(live, 'It fails.', ''), ...more }]);
    nowMs += 1000;
  };
  observe('warn');
  observe('warn');
  observe('bad');
  observe('warn', { hasRecovered: true });
  const timeOf = (ms: number) => new Date(NOW_MS + ms).toISOString();
  assert.deepEqual(
    events.list().flatMap(({ kind, at, until }) => (kind === 'start' ? [] : [[kind, at, until]])),
    [
      ['warning', timeOf(0), timeOf(2000)],
      ['outage', timeOf(2000), timeOf(3000)],
    ],
  );
  assert.equal(events.causes()[0]?.since, timeOf(0));
  const near = { topic: 'near', name: 'org_a', detail: 'organization' } as const;
  events.observe(fine, [warningCause(near, 'Near.', '')]);
  assert.equal(events.list().length, 3);
});

test('the failing operations of an upstream are the same outage as the upstream, once it is found', () => {
  let nowMs = NOW_MS;
  const events = new Events(() => nowMs);
  const [listed, read] = ['GET /files', 'GET /files/{id}'];
  const operationFails = (name: string) => failureCause({ topic: 'operation', name }, `${name} fails.`, '');
  events.observe(fine, [operationFails(listed), operationFails('GET /orders')]);
  nowMs += 1000;
  const symptoms = [listed, read].map((name) => ({ name, requests: 3, failed: 3 }));
  events.observe(fine, [
    failureCause({ topic: 'upstream', name: 'files', detail: 'live' }, 'It fails.', '', { symptoms }),
  ]);
  assert.deepEqual(
    events.list().flatMap(({ kind, text }) => (kind === 'outage' ? [text] : [])),
    ['GET /orders fails.', 'It fails.'],
  );
});

test('a refused configuration lasts until its files are right', () => {
  let nowMs = NOW_MS;
  const events = new Events(() => nowMs);
  const refused = { at: SINCE, mistakes: ['/etc/gateway/limits.yaml:3: unknown key.'] };
  for (const last_failure of [null, refused, refused, null]) {
    events.observe({ ...fine, configuration: { last_failure } }, []);
    nowMs += 1000;
  }
  assert.deepEqual(
    events.list().flatMap(({ kind, ...event }) => (kind === 'refused' ? [event] : [])),
    [
      {
        ...{ at: SINCE, until: new Date(NOW_MS + 3000).toISOString() },
        text: 'A changed configuration was refused: limits.yaml:3: unknown key.',
      },
    ],
  );
});

test('a fault of another kind is another outage, and so is the same fault after its end was reported', () => {
  let nowMs = NOW_MS;
  const events = new Events(() => nowMs);
  const live = { topic: 'upstream', name: 'files', detail: 'live' } as const;
  const timeOf = (ms: number) => new Date(NOW_MS + ms).toISOString();
  const seen = (atMs: number, fault: string | undefined, more: object = {}) => {
    nowMs = NOW_MS + atMs;
    events.observe(fine, fault === undefined ? [] : [failureCause(live, fault, '', { fault, ...more })]);
    return events.causes()[0]?.since;
  };
  const recovering = (atMs: number) => {
    nowMs = NOW_MS + atMs;
    events.observe(fine, [warningCause(live, 'It recovers.', '', { hasRecovered: true })]);
  };
  assert.equal(seen(0, 'down'), timeOf(0));
  assert.equal(seen(10_000, 'silent', { since: timeOf(0) }), timeOf(10_000));
  seen(20_000, undefined);
  assert.equal(seen(50_000, 'silent'), timeOf(10_000), 'it has returned soon');
  recovering(60_000);
  recovering(100_000);
  assert.equal(seen(110_000, 'silent', { since: timeOf(105_000) }), timeOf(105_000));
  seen(120_000, undefined);
  assert.equal(seen(151_000, 'silent'), timeOf(151_000));
  const outages = events.list().filter(({ kind }) => kind === 'outage');
  assert.deepEqual(
    outages.map(({ at, until, text }) => [text, at, until]),
    [
      ['down', timeOf(0), timeOf(10_000)],
      ['silent', timeOf(10_000), timeOf(60_000)],
      ['silent', timeOf(105_000), timeOf(120_000)],
      ['silent', timeOf(151_000), null],
    ],
  );
});

test('a missing instance that was killed differs from one that hangs, and from one on another machine', () => {
  const gone = { id: 'con_1', name: 'gw-7:8080', version: '1', started_at: SINCE, missing_since: SINCE };
  const at = { admin_port: 9091, pid: 4711 };
  const textOf = (more: object) => silentCause({ ...gone, ...more }).consequence.replace(/ Its latest requests.*/, '');
  const heard = `It was last heard of at ${SINCE}.`;
  assert.equal(
    textOf({ ...at, runs: false }),
    `${heard} Its process 4711 does not run any more. Start it again; its log, or that of its supervisor, says why it ended.`,
  );
  assert.equal(textOf({ ...at, runs: true }), `${heard} Its process 4711 runs, so it hangs or is stopped.`);
  assert.equal(textOf(at), `${heard} Look on gw-7 whether its process 4711 runs.`);
  assert.equal(textOf({}), `${heard} It may be down.`);
  const nextOf = (more: object) => silentCause({ ...gone, ...at, ...more }).next;
  assert.equal(nextOf({}), 'ADMIN_PORT=9091 bin/gateway status');
  assert.equal(nextOf({ runs: true }), 'ADMIN_PORT=9091 bin/gateway status');
  // No command can ask a process that is gone.
  assert.equal(nextOf({ runs: false }), 'bin/gateway check');
});

test('events are bounded', () => {
  let nowMs = NOW_MS;
  const events = new Events(() => nowMs);
  for (let index = 0; index < 1000; index += 1) {
    nowMs += 1000;
    events.observe({ configuration: { version: String(index), loaded_at: new Date(nowMs).toISOString() } }, []);
  }
  assert.equal(events.list().length, 200);
});

test('an upstream without any working target says so, and one with a working target names those that fail', () => {
  const target = (name: string, state: string) => ({ mode: 'live', address: `http://${name}`, state });
  const causeOf = (...targets: ReturnType<typeof target>[]) =>
    causesWith({ upstreams: { orders: { targets } } }).map(({ cause }) => cause);
  const [a, b] = [target('a', 'ejected'), target('b', 'ejected')];
  const why = 'is ejected, because requests to it failed';
  assert.deepEqual(causeOf(a, b), [`Upstream orders (live): all its 2 targets fail: http://a ${why}, and 1 more.`]);
  assert.deepEqual(causeOf(a, b, target('c', 'healthy')), [
    `Upstream orders (live): target http://a ${why}, and 1 more.`,
  ]);
  assert.deepEqual(causeOf(a), [`Upstream orders (live): target http://a ${why}.`]);
});

test('an outage that came twice came twice, in however many states it was seen', () => {
  let nowMs = NOW_MS;
  const events = new Events(() => nowMs);
  const redis = failureCause({ topic: 'redis' }, 'Redis is away.', '');
  for (const isAway of [true, true, false, true, true, true, false]) {
    events.observe(fine, isAway ? [redis] : []);
    nowMs += 3000;
  }
  assert.deepEqual(events.causes()[0]?.pauses, { times: 1, ms: 3000 });
});

test('an outage during which the process was killed ends with the last request that suffered, also in what is recovering', () => {
  let nowMs = NOW_MS;
  const lastMs = NOW_MS + 28_000;
  const about = { topic: 'organization', name: 'org_a' } as const;
  const figures = { requests: 20, refused: 12 };
  const killed = new Events(
    () => nowMs,
    {},
    () => figures,
    () => ({ fromMs: NOW_MS, untilMs: lastMs }),
  );
  killed.observe(fine, [warningCause(about, 'org_a is refused.', '')]);
  nowMs += 39_000;
  const kept = killed.list();
  nowMs += 40_000;
  const events = new Events(() => nowMs, { events: kept, uncountedSinceMs: NOW_MS + 39_000, aliveAtMs: nowMs });
  events.observe(fine, [warningCause(about, 'org_a was refused.', '', { hasRecovered: true })]);
  const [began, ended] = [NOW_MS, lastMs].map((ms) => new Date(ms).toISOString());
  assert.deepEqual(
    events.list().flatMap(({ kind, at, until }) => (kind === 'warning' ? [[at, until]] : [])),
    [[began, ended]],
  );
  const [cause] = events.causes();
  assert.deepEqual([cause?.since, cause?.endedAt, cause?.suffered], [began, ended, figures]);
});

test('an instance that returns ends its outage when it returns, and a cause keeps its runbook while it recovers', () => {
  let nowMs = NOW_MS;
  const events = new Events(() => nowMs);
  const instance = { ...{ id: 'a', name: 'gw-2:8080', version: '1', started_at: SINCE }, missing_since: SINCE };
  const live = { topic: 'upstream', name: 'files', detail: 'live' } as const;
  const fails = failureCause(live, 'It fails.', '', { runbook: 'GatewayUpstreamErrors' });
  events.observe(fine, [silentCause(instance), fails]);
  nowMs += 6000;
  const at = new Date(NOW_MS + 3300).toISOString();
  const recovers = warningCause(live, 'It recovers.', '', { runbook: 'GatewayTargetDown', hasRecovered: true });
  events.observe(fine, [returnedCause({ ...instance, at, why: 'It answers again.' }), recovers]);
  assert.equal(events.list().find(({ about }) => about?.topic === 'instance')?.until, at);
  assert.equal(events.causes().find(({ id }) => id === 'upstream files live')?.runbook, 'GatewayUpstreamErrors');
});

test('the figures of a failure that began as a warning are those since the warning', () => {
  let nowMs = NOW_MS;
  const events = new Events(
    () => nowMs,
    {},
    (_, fromMs, untilMs) => ({ requests: (untilMs - fromMs) / 1000, broken: 1 }),
  );
  const about = { topic: 'contract', name: 'stock' } as const;
  const observe = (make: typeof warningCause) => {
    events.observe(fine, [make(about, 'It breaks its contract.', '')]);
    nowMs += 20_000;
    return events.causes()[0]?.suffered;
  };
  assert.deepEqual(observe(warningCause), { requests: 20, broken: 1 });
  assert.deepEqual(observe(failureCause), { requests: 40, broken: 2 });
  // The mark of the warning goes on, and has the requests since it began.
  assert.deepEqual(observe(warningCause), { requests: 60, broken: 1 });
});

test('a warning that becomes a failure is one line, which came once, although the clock goes on between both', () => {
  let nowMs = NOW_MS;
  const events = new Events(() => {
    nowMs += 1;
    return nowMs;
  });
  const about = { topic: 'contract', name: 'stock' } as const;
  for (const make of [warningCause, failureCause]) events.observe(fine, [make(about, 'It breaks its contract.', '')]);
  const lines = listedEvents(events.list()).filter(({ kind }) => kind !== 'start');
  assert.deepEqual(
    lines.map(({ kind, times }) => [kind, times]),
    [['outage', 1]],
  );
});
