import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atMost, type FoundCause, failureCause, warningCause } from '../../../gateway/console/causes/cause.ts';
import { extentsIn } from '../../../gateway/console/causes/extent.ts';
import { nearlyUsedCause } from '../../../gateway/console/causes/organization-causes.ts';
import { count, SYMPTOMS, telling } from '../../../gateway/console/causes/telling.ts';
import { joinCauses } from '../../../gateway/console/feed/join-causes.ts';
import type { OrganizationNearLimit } from '../../../gateway/console/history/sample.ts';

const BOUNDS = [1];
const SINCE = '2027-03-01T12:00:00.000Z';

interface Counted {
  readonly requests: number;
  readonly failed?: number;
  readonly refused?: number;
}

function series(name: string, { requests, failed = 0, refused = 0 }: Counted) {
  const counts = [requests, 0, requests - failed - refused, 0, refused, failed, refused, 0];
  return { name, minute: counts, latest: counts, hour: counts };
}

interface Local {
  readonly operations?: Readonly<Record<string, Counted>>;
  readonly organizations?: Readonly<Record<string, Counted>>;
  readonly near?: readonly OrganizationNearLimit[];
}

function instance(name: string, causes: readonly FoundCause[], local: Local = {}) {
  const seriesOf = (counted: Readonly<Record<string, Counted>> = {}) =>
    Object.entries(counted).map(([one, counts]) => series(one, counts));
  const operations = seriesOf(local.operations);
  const organizations = seriesOf(local.organizations);
  return {
    name,
    causes: causes.map((cause) => ({ ...cause, since: cause.since ?? SINCE })),
    extents: extentsIn({ bounds: BOUNDS, operations, organizations }, { requests: 0, failed: 0, refused: 0 }),
    organizations: local.near ?? [],
  };
}

const ORDERS = { topic: 'upstream', name: 'orders', detail: 'live' } as const;

function targetFails(names: readonly string[], counted: Required<Pick<Counted, 'requests' | 'failed'>>): FoundCause {
  return failureCause(
    ORDERS,
    'Upstream orders (live): target a is ejected.',
    telling`${count('failed')} of ${count('requests')} requests failed, at this target.${SYMPTOMS} Undo.`,
    {
      figures: counted,
      symptoms: names.map((name) => ({ name, ...counted })),
      extent: { of: 'operations', names, span: 'minute' },
    },
  );
}

test('a cause is one row with the worst kind, and its sentence has the counts of all instances', () => {
  const warning = warningCause(ORDERS, 'Upstream orders (live): target a is ejected.', 'The others get its share.', {
    since: '2027-03-01T11:59:00.000Z',
  });
  const told = [
    instance('gw:1', [warning], { operations: { 'GET /b': { requests: 20, failed: 1 } } }),
    instance('gw:2', [targetFails(['GET /a', 'GET /b'], { requests: 10, failed: 4 })], {
      operations: { 'GET /a': { requests: 6, failed: 3 }, 'GET /b': { requests: 4, failed: 1 } },
    }),
  ];
  const [cause, ...others] = joinCauses(told);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [cause?.kind, cause?.figures, cause?.since, cause?.instances],
    ['bad', { requests: 30, failed: 5 }, '2027-03-01T11:59:00.000Z', undefined],
  );
  assert.equal(
    cause?.consequence,
    '5 of 30 requests failed, at this target. In the last minute: GET /a (3 of 6 failed), GET /b (2 of 24 failed). Undo.',
  );
});

test('a cause that came twice came twice for several instances', () => {
  const over = { hasRecovered: true, isOver: true } as const;
  const seen = warningCause({ topic: 'redis' }, 'Redis is away.', '', over);
  const twice = { ...seen, pauses: { times: 1, ms: 5000 } };
  const pausesOf = (...all: FoundCause[]) =>
    joinCauses(all.map((one, index) => instance(`gw:${index}`, [one])))[0]?.pauses;
  assert.deepEqual([pausesOf(twice, twice), pausesOf(seen, twice)], [twice.pauses, twice.pauses]);
});

test('names that only one instance saw are counted on all', () => {
  const told = [
    instance('gw:1', [targetFails(['GET /a'], { requests: 6, failed: 5 })], {
      operations: { 'GET /a': { requests: 6, failed: 5 }, 'GET /b': { requests: 3, failed: 1 } },
    }),
    instance('gw:2', [targetFails(['GET /b'], { requests: 4, failed: 4 })], {
      operations: { 'GET /a': { requests: 2 }, 'GET /b': { requests: 4, failed: 4 } },
    }),
    instance('gw:3', []),
  ];
  const [cause] = joinCauses(told);
  assert.deepEqual([cause?.figures, cause?.instances], [{ requests: 15, failed: 10 }, ['gw:1', 'gw:2']]);
  assert.deepEqual(
    cause?.symptoms?.map(({ name, failed }) => [name, failed]),
    [
      ['GET /a', 5],
      ['GET /b', 5],
    ],
  );
  // An instance of an earlier version says no counts. The figures are then those of the instances that see the cause.
  const [older] = joinCauses(told.map((one, index) => (index === 2 ? { ...one, extents: undefined } : one)));
  assert.deepEqual(older?.figures, { requests: 10, failed: 9 });
});

test('a limit that several instances see nearly used is told from their common counts', () => {
  const near = (refused: number, remaining: number, last_at: string): OrganizationNearLimit => ({
    ...{ organization: 'org_a', tier: 'free', policy: 'organization', limit: 100, window_seconds: 60 },
    ...{ remaining, near: 5, refused, shadow_refused: 0, last_at },
  });
  const [one, other] = [near(219, 5, '2027-03-01T12:00:01Z'), near(201, 0, '2027-03-01T12:00:02Z')];
  const causes = joinCauses([
    instance('gw:1', [nearlyUsedCause(one, '')], { near: [one] }),
    instance('gw:2', [], { near: [other] }),
  ]);
  assert.deepEqual(
    causes.map(({ cause, consequence }) => `${cause} ${consequence}`),
    [
      'org_a has used 100 of 100 in 60 s, its limit organization. 420 of its requests were refused in the last quarter of an hour.',
    ],
  );
  const refused = warningCause({ topic: 'organization', name: 'org_a' }, 'org_a is refused.', '');
  const rows = joinCauses([instance('gw:1', [nearlyUsedCause(one, '')], { near: [one] }), instance('gw:2', [refused])]);
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['organization org_a'],
  );
});

test('refusals are listed before limits that are nearly used, the most refusals first, and the causes beyond them are counted once', () => {
  const refusedOf = (name: string, refused: number) =>
    warningCause({ topic: 'organization', name }, `${name} is refused.`, '', { figures: { requests: 90, refused } });
  const moreOf = (...names: string[]) =>
    atMost(
      [1, 2, 3, 4].map((index) => refusedOf(`org_${index}`, index)).concat(names.map((name) => refusedOf(name, 1))),
      'organizations are refused',
      '#/',
    );
  const limit: OrganizationNearLimit = {
    ...{ organization: 'org_old', tier: 'free', policy: 'organization', limit: 100, window_seconds: 60, remaining: 1 },
    ...{ near: 5, refused: 0, shadow_refused: 0, last_at: SINCE },
  };
  const old = { ...nearlyUsedCause(limit, ''), since: '2027-03-01T08:00:00.000Z' };
  const textsOf = (...told: Parameters<typeof joinCauses>[0]) => joinCauses(told).map(({ cause }) => cause);
  const shown = ['org_4 is refused.', 'org_3 is refused.', 'org_2 is refused.', 'org_1 is refused.'];
  assert.deepEqual(
    textsOf(instance('gw:1', [old, ...moreOf('org_5', 'org_6')]), instance('gw:2', moreOf('org_6', 'org_7'))),
    [...shown, '3 more organizations are refused.', 'org_old has used 99 of 100 in 60 s, its limit organization.'],
  );
  const rest = [5, 6].map((index) => refusedOf(`org_${index}`, 0));
  assert.equal(textsOf(instance('gw:1', moreOf('org_5', 'org_6')), instance('gw:2', rest)).length, 6);
});

test('a failing service is listed before mistakes in files, which clients do not notice', () => {
  const files = failureCause({ topic: 'configuration' }, 'The configuration files have mistakes.', '', {
    since: SINCE,
  });
  const service = failureCause(ORDERS, 'Upstream orders fails.', '', { since: '2027-03-01T12:30:00.000Z' });
  const redis = failureCause({ topic: 'redis' }, 'Redis refuses connections.', '');
  assert.deepEqual(
    joinCauses([instance('gw:1', [files, service, redis])]).map(({ id }) => id),
    ['redis', 'upstream orders live', 'configuration'],
  );
  const certificate = warningCause({ topic: 'certificate', name: 'a' }, 'It expires in 5 days.', '');
  const refused = warningCause({ topic: 'organization', name: 'org_a' }, 'org_a is refused.', '');
  assert.deepEqual(
    joinCauses([instance('gw:1', [certificate, refused])]).map(({ id }) => id),
    ['organization org_a', 'certificate a'],
  );
});
