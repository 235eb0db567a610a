import assert from 'node:assert/strict';
import { test } from 'node:test';

interface Told {
  readonly kind: 'bad' | 'warn';
  readonly text: string;
}

// Scripts of the page are plain JavaScript, without types.
const load = (name: string) => import(new URL(`../../../gateway/console/page/${name}.js`, import.meta.url).href);
const { attentionOf } = (await load('attention')) as { attentionOf(feed: object): Told[] };
const { linearTicks, durationTicks, spread } = (await load('scale')) as Record<
  string,
  (...given: unknown[]) => number[]
>;
const { duration, rate, percent, ago } = (await load('format')) as Record<string, (...given: unknown[]) => string>;

const fine = {
  lifecycle: 'serving',
  configuration: { last_failure: null },
  keys: { store: 'reachable' },
  limits: { state: 'up' },
  idempotency: { state: 'up' },
  deprecated_uses: { state: 'unused' },
  upstreams: {
    platform: { targets: [{ mode: 'live', address: 'http://a', state: 'healthy' }], breaker: { live: 'closed' } },
  },
  overload: { shedding: false, loop_overloaded: false },
  certificates: [{ names: ['api.example.com'], days_left: 60 }],
};
const quiet = {
  organizations: [],
  versions: { operations: [] },
  history: { all: { minute: { requests: 9, server_errors: 2 } } },
};
const toldOf = (status: object, more: object = {}) =>
  attentionOf({ ...quiet, status: { ...fine, ...status }, ...more }).map(({ kind, text }) => `${kind}: ${text}`);

test('a gateway that is fine needs no attention', () => {
  assert.deepEqual(toldOf({}), []);
});

test('a gateway without an answering worker comes first', () => {
  assert.match(attentionOf({ ...quiet, status: null })[0]?.text ?? '', /^No worker reports/);
});

test('everything that is wrong has its sentence', () => {
  const target = (state: string, address = 'http://a') => ({ mode: 'live', address, state });
  const upstream = (more: object) => ({ upstreams: { stock: { targets: [target('healthy')], breaker: {}, ...more } } });
  const rows: [object, RegExp][] = [
    [{ lifecycle: 'draining' }, /^warn: The gateway is draining/],
    [
      { configuration: { last_failure: { mistakes: ['a.yaml:1: no', 'b'] } } },
      /^bad: .* stays active\. a\.yaml:1: no And 1 more/,
    ],
    [{ keys: { store: 'failing' } }, /^bad: The key store cannot be reached/],
    [{ limits: { state: 'away' } }, /^bad: The store of the limits/],
    [{ idempotency: { state: 'away' } }, /^bad: The store of idempotent answers/],
    [{ deprecated_uses: { state: 'away' } }, /^bad: The store of deprecated uses/],
    [upstream({ targets: [target('ejected')] }), /^bad: Upstream stock: target http:\/\/a \(live\) is ejected/],
    [upstream({ targets: [target('ejected'), target('healthy', 'http://b')] }), /^warn: .*ejected/],
    [upstream({ targets: [target('trial')] }), /^warn: .*is being tried again/],
    [upstream({ targets: [target('unhealthy')] }), /^bad: .*is unhealthy/],
    [upstream({ breaker: { live: 'open' } }), /^bad: Upstream stock \(live\): the circuit breaker is open/],
    [upstream({ breaker: { live: 'half_open' } }), /^warn: .*half open/],
    [upstream({ credential: 'latched' }), /^bad: Upstream stock refused the gateway's credential/],
    [upstream({ shedding: true }), /^bad: Upstream stock: it is overloaded/],
    [{ overload: { shedding: true } }, /^bad: The gateway is overloaded/],
    [{ overload: { loop_overloaded: true } }, /^bad: The event loop/],
    [{ workers: [{ worker: 2, state: 'waiting' }] }, /^bad: Worker 2 died/],
    [{ workers: [{ worker: 1, state: 'silent' }] }, /^bad: Worker 1 does not answer/],
    [{ certificates: [{ names: ['a.example.com'], days_left: 13 }] }, /^warn: .* a\.example\.com expires in 13 days/],
    [{ certificates: [{ names: ['a.example.com'], days_left: -1 }] }, /^bad: .* has expired/],
  ];
  for (const [status, expected] of rows) {
    const told = toldOf(status);
    assert.equal(told.length, 1, String(expected));
    assert.match(told[0] as string, expected);
  }
});

test('counts are shown as well, and faults come first', () => {
  const told = toldOf(
    { certificates: [{ names: ['a'], days_left: 1 }] },
    {
      organizations: [
        { organization: 'org_a', refused: 3 },
        { organization: 'org_b', refused: 0 },
      ],
      versions: {
        operations: [
          { operation: 'listOld', state: 'deprecated', calls: 4, organizations: 2 },
          { operation: 'x', calls: 0 },
        ],
      },
      history: { all: { minute: { requests: 100, server_errors: 5 } } },
    },
  );
  assert.deepEqual(told, [
    'bad: 5 % of the requests in the last minute were answered with 5xx.',
    'warn: The certificate for a expires in one day.',
    'warn: Organization org_a was refused for a limit in the last 15 minutes.',
    'warn: listOld is deprecated and still called, by 2 organizations.',
  ]);
});

test('axes have a few round values, up to at least the greatest', () => {
  assert.deepEqual(linearTicks?.(3.1), [0, 1, 2, 3, 4]);
  assert.deepEqual(linearTicks?.(0.7), [0, 0.2, 0.4, 0.6, 0.8]);
  assert.deepEqual(linearTicks?.(8000), [0, 2000, 4000, 6000, 8000]);
  assert.deepEqual(durationTicks?.(2), [5, 10, 25]);
  assert.deepEqual(durationTicks?.(60).at(-1), 100);
  assert.deepEqual(durationTicks?.(10_000).at(-1), 10_000);
});

test('labels that would stand on one another are moved apart, in their order', () => {
  assert.deepEqual(spread?.([50, 50, 10], 15, 0, 100), [50, 65, 10]);
  assert.deepEqual(spread?.([99, 100], 15, 0, 100), [85, 100]);
});

test('numbers are written as people read them', () => {
  assert.deepEqual(
    [0, 0.001, 2.5, 12.34, 1234].map((value) => rate?.(value)),
    ['0', '<0.01', '2.50', '12.3', '1,234'],
  );
  assert.deepEqual(
    [null, 2, 62.4, 1500, 10_000].map((ms) => duration?.(ms)),
    ['–', '≤5 ms', '62 ms', '1.5 s', '≥10 s'],
  );
  assert.deepEqual(
    [percent?.(0, 0), percent?.(0, 5), percent?.(1, 2000), percent?.(1, 3)],
    ['–', '0 %', '<0.1 %', '33 %'],
  );
  assert.deepEqual([ago?.(0, 59_000), ago?.(0, 120_000), ago?.(0, 7_200_000)], ['59 s ago', '2 min ago', '2 h ago']);
});
