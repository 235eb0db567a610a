import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CREDENTIAL_STATES, type CredentialState, isSuspended } from '../../../gateway/shared/contracts/upstreams.ts';

// Scripts of the page are plain JavaScript, without types.
const load = (name: string) => import(new URL(`../../../gateway/console/page/${name}.js`, import.meta.url).href);
const { linearTicks, durationTicks, labelled, timeTicks } = (await load('scale')) as Record<
  string,
  (...given: unknown[]) => number[]
>;
const { duration, quantile, rate, percent, ago, setGatewayTime, period } = (await load('format')) as Record<
  string,
  (...given: unknown[]) => string
>;
const { routeIn, addressOf } = (await load('addresses')) as {
  routeIn(hash: string): { readonly view: string; readonly id?: string; readonly params: URLSearchParams };
  addressOf(view: string, params?: object, id?: string): string;
};
const { CREDENTIAL_KINDS, RETRIED_CREDENTIALS } = (await load('states')) as {
  readonly CREDENTIAL_KINDS: Readonly<Record<string, string | undefined>>;
  readonly RETRIED_CREDENTIALS: ReadonlySet<string>;
};
const { searchText } = (await load('organizations')) as { searchText(text: string): string };

test('a credential is red while nothing is sent, and has a button if it can be tried again', () => {
  for (const state of Object.keys(CREDENTIAL_STATES) as CredentialState[]) {
    assert.ok(state in CREDENTIAL_KINDS, state);
    assert.equal(CREDENTIAL_KINDS[state] === 'bad', isSuspended(state), state);
    assert.equal(RETRIED_CREDENTIALS.has(state), CREDENTIAL_STATES[state].afterRetry !== state, state);
  }
});

test('axes have a few round values, up to at least the greatest', () => {
  assert.deepEqual(linearTicks?.(3.1), [0, 1, 2, 3, 4]);
  assert.deepEqual(linearTicks?.(0.7), [0, 0.2, 0.4, 0.6, 0.8]);
  assert.deepEqual(linearTicks?.(8000), [0, 2000, 4000, 6000, 8000]);
  assert.deepEqual(durationTicks?.(0.3, 0.4), [0.5, 1, 2]);
  // The longest durations are not drawn along the edge.
  assert.deepEqual(durationTicks?.(1.5, 4), [1, 2, 5, 10]);
  assert.deepEqual(durationTicks?.(30, 60), [25, 50, 100, 250]);
  assert.deepEqual(durationTicks?.(3, 10_000).at(-1), 20_000);
  assert.ok((labelled?.(durationTicks?.(0.1, 10_000) ?? []) ?? []).length <= 7);
});

test('the axis of times has round times, as many as there is room for', () => {
  const day = timeTicks?.(0, 86_400_000, 500) ?? [];
  assert.ok(day.length >= 3 && day.length <= 8, String(day));
  assert.ok(day.every((ms) => ms % 3_600_000 === 0));
  const minutes = timeTicks?.(0, 900_000, 500) ?? [];
  assert.ok(minutes.length >= 3 && minutes.every((ms) => ms % 60_000 === 0), String(minutes));
});

test('addresses of views hold what clients may have written', () => {
  for (const text of ['GET /v1/things/{id}', '<script>', 'a&b=c#d', 'req_1/../..', '100%']) {
    const { view, id, params } = routeIn(addressOf('requests', { code: text, empty: '' }, text));
    assert.deepEqual([view, id, params.get('code'), params.has('empty')], ['requests', text, text, false]);
  }
  assert.equal(routeIn('').view, 'overview');
  // An address of an earlier release, from a ticket.
  assert.equal(routeIn('#/exchanges/req_1').view, 'requests');
  assert.equal(routeIn('#/exchanges/%E0%A4%A').id, '%E0%A4%A');
});

test('of a key that is typed in, only its visible end is asked for', () => {
  const key = `sk_${'live'}_abcdefghijklmnop`;
  assert.deepEqual([key, ' acme ', '…9xYz', 'org_acme'].map(searchText), ['mnop', 'acme', '9xYz', 'org_acme']);
});

test('numbers are written as people read them', () => {
  assert.deepEqual(
    [0, 0.001, 2.5, 12.34, 1234].map((value) => rate?.(value)),
    ['0', '<0.01', '2.50', '12.3', '1,234'],
  );
  assert.deepEqual(
    [null, 0.42, 1.26, 9.04, 62.4, 1500, 10_000].map((ms) => duration?.(ms)),
    ['–', '0.42 ms', '1.3 ms', '9 ms', '62 ms', '1.5 s', '10 s'],
  );
  assert.deepEqual(
    [null, 0.3, 1.4, 10_000].map((ms) => quantile?.(ms)),
    ['–', '≤0.5 ms', '≈1.4 ms', '≥10 s'],
  );
  assert.deepEqual(
    [52.4, 300, 7200].map((seconds) => period?.(seconds)),
    ['52 s', '5 min', '2 h'],
  );
  assert.deepEqual(
    [percent?.(0, 0), percent?.(0, 5), percent?.(1, 2000), percent?.(1, 3)],
    ['–', '0 %', '<0.1 %', '33 %'],
  );
  assert.deepEqual(
    [59_000, 120_000, 7_200_000].map((ms) => {
      setGatewayTime?.(new Date(ms + 500).toISOString());
      return ago?.(new Date(500).toISOString());
    }),
    ['59 s ago', '2 min ago', '2 h ago'],
  );
});

test('a page has the causes of what its requests depend on, and System those of all upstreams', async () => {
  const { causesAbout } = (await load('causes-about')) as {
    causesAbout(causes: readonly object[], page: object): readonly { readonly id: string }[];
  };
  const causes = [
    { id: 'redis', details: '#/system' },
    { id: 'keys lost', details: '#/system' },
    { id: 'configuration', details: '#/system' },
    { id: 'upstream orders live', details: '#/upstreams/orders' },
    { id: 'slow GET /v1/things', details: '#/operations/GET%20%2Fv1%2Fthings', upstream: 'things' },
    { id: 'operation GET /v1/bills', upstream: 'bills', organizations: ['org_b'] },
    { id: 'organization org_a', details: '#/organizations/org_a' },
  ];
  const on = (page: object) => causesAbout(causes, page).map(({ id }) => id);
  const orders = { view: 'operations', id: 'GET /v1/orders' };
  assert.deepEqual(on(orders), ['redis', 'keys lost']);
  assert.deepEqual(on({ ...orders, upstream: 'orders' }), ['redis', 'keys lost', 'upstream orders live']);
  assert.deepEqual(on({ view: 'operations', id: 'GET /v1/things' }), ['redis', 'keys lost', 'slow GET /v1/things']);
  assert.deepEqual(on({ view: 'upstreams', id: 'orders' }), ['upstream orders live']);
  assert.deepEqual(on({ view: 'upstreams', id: 'things' }), ['slow GET /v1/things']);
  assert.deepEqual(on({ view: 'organizations', id: 'org_b' }), ['redis', 'keys lost', 'operation GET /v1/bills']);
  assert.deepEqual(on({ view: 'organizations', id: 'org_a' }), ['organization org_a', 'redis', 'keys lost']);
  assert.deepEqual(on({ view: 'system' }), [
    ...['redis', 'keys lost', 'configuration', 'upstream orders live'],
    ...['slow GET /v1/things', 'operation GET /v1/bills'],
  ]);
});

test('a request has the word for who is at fault: the service, the gateway, or the contract', async () => {
  const { outcomeOf } = (await load('elements')) as { outcomeOf(row: object): readonly string[] };
  const words = [
    { status: 502, code: 'upstream_unreachable', refused: false },
    { status: 503, code: 'upstream_unavailable', refused: true },
    { status: 429, code: 'rate_limited', refused: true },
    { status: 403, code: 'forbidden', refused: false, upstream_ms: null },
    { status: 404, code: 'resource_missing', refused: false, upstream_ms: 3 },
    { status: 200, code: null, refused: false, broken: true },
    { status: 200, code: null, refused: false, broken: false },
  ].map((row) => outcomeOf(row).join(' '));
  assert.deepEqual(words, ['bad failed', 'bad refused', 'warn refused', 'warn refused', '', 'warn off contract', '']);
});

test('the time of a transfer to a slow client is not time of the gateway', async () => {
  const { partsOf } = (await load('format')) as { partsOf(record: object): object };
  const sent = { duration_ms: 2000, upstream_ms: 100, stages_ms: { limit: 4, forward: 1990 }, queued_ms: 20 };
  assert.deepEqual(partsOf(sent), { own: 30, upstream: 100, transfer: 1870 });
  assert.deepEqual(partsOf({ duration_ms: 3, upstream_ms: 1 }), { own: 2, upstream: 1, transfer: undefined });
  assert.deepEqual(partsOf({ duration_ms: 3 }), { own: 3, upstream: undefined, transfer: undefined });
});
