// Random use of the stores that the gateway keeps in Redis: keys, answers, certificates, counters and sessions, on few names, so that they
// meet.

import fc from 'fast-check';
import type { AcmeStore } from '../../../gateway/acme/acme-store.ts';
import { openRedisAcmeStore } from '../../../gateway/acme/redis-acme-store.ts';
import type { KeyStore } from '../../../gateway/auth/store/key-store.ts';
import { openRedisStore } from '../../../gateway/auth/store/redis/redis-key-store.ts';
import type { StoredKey } from '../../../gateway/auth/store/stored-key.ts';
import type { Organization } from '../../../gateway/exchange/caller.ts';
import {
  createRunDecisions,
  encodeCharges,
  extendExpiryOfAll,
} from '../../../gateway/limits/counters/redis/window-script.ts';
import type { ConnectRedis, Redis } from '../../../gateway/redis/client.ts';
import { createRedisReplayStore } from '../../../gateway/replay/redis-store.ts';
import type { ReplayStore } from '../../../gateway/replay/replay-store.ts';
import type { SessionStore } from '../../../gateway/sessions/store/session-store.ts';
import { type OtherStores, openOthers, otherUses } from './random-others.ts';
import { openSessions, sessionUses, type UseOfSessions } from './random-sessions.ts';

export interface Stores {
  readonly keys: KeyStore;
  readonly answers: ReplayStore;
  readonly acme: AcmeStore;
  readonly sessions: SessionStore;
  readonly others: OtherStores;
  readonly client: Redis;
  decide: ReturnType<typeof createRunDecisions>;
}

export async function openStores(connect: ConnectRedis): Promise<Stores> {
  const url = 'redis://compared';
  const client = connect({ url });
  return {
    keys: await openRedisStore({ url, pepperFingerprint: 'pepper', now: () => NOW_MS, connect }),
    answers: await createRedisReplayStore({ url, onChange: () => undefined, connect }),
    acme: await openRedisAcmeStore(url, connect),
    sessions: await openSessions(url, connect),
    others: await openOthers(url, connect),
    client,
    decide: createRunDecisions(client),
  };
}

/** One use of a store. Its result does not matter: the replies of Redis are compared. */
export type Use = (stores: Stores, number: number) => unknown;

/** The stores ask for the time only to write it down. */
const NOW_MS = 1_767_225_600_000;
const ids = fc.constantFrom('1', '2', '3');
const organizationIds = fc.constantFrom('org_a', 'org_b', 'org_é');
const owners = fc.constantFrom('req_1', 'req_2', 'req_3');
const changeTimes = fc.constantFrom(undefined, NOW_MS, NOW_MS + 1);
const numbers = fc.integer({ min: 0, max: 12 });
const tokens = fc.integer({ min: 1_767_225_600, max: 1_767_225_604 });
const windowsMs = fc.constantFrom(60_000, 100_000, 3_600_000);
const moments = fc.integer({ min: 0, max: 300_000 }).map((ms) => NOW_MS + ms);

const organizationOf = (id: string): Organization => ({
  id,
  name: `The "${id}"`,
  tier: 'free',
  state: 'active',
  contacts: ['a@b.test'],
  operator: false,
});

function keyOf(id: string, organization: string): StoredKey {
  return {
    ...{
      id: `key_${id}`,
      digest: `digest-${id}`,
      organization,
      mode: 'live',
      name: 'n',
      scopes: ['*'],
      allowedCidrs: [],
    },
    ...{ prefix: 'sk_live_abcd', lastFour: 'wxyz', createdAtMs: Number(id), createdBy: 'ada', expiresAtMs: undefined },
    ...{
      revokedAtMs: undefined,
      revokedBy: undefined,
      revokedReason: undefined,
      lastUsedAtMs: undefined,
      replacedBy: undefined,
    },
  };
}

const answerKeyOf = (digest: string, organization: string) => ({ organization, mode: 'live' as const, digest });
const retention = { retainMs: 100_000, organizationBytesMax: 2_000 };

const use = <T extends unknown[]>(
  drawn: { [K in keyof T]: fc.Arbitrary<T[K]> },
  make: (...values: T) => Use,
): fc.Arbitrary<Use> => fc.tuple(...(drawn as fc.Arbitrary<unknown>[])).map((values) => make(...(values as T)));

const keyUses = [
  use(
    [organizationIds],
    (id) =>
      ({ keys }) =>
        keys.organizations.create(organizationOf(id), 'ada'),
  ),
  use(
    [organizationIds],
    (id) =>
      ({ keys }) =>
        keys.organizations.get(id),
  ),
  use(
    [organizationIds, fc.constantFrom('free', 'gold')],
    (id, tier) =>
      ({ keys }) =>
        keys.organizations.change(id, { tier }, 'ada'),
  ),
  use(
    [organizationIds],
    (id) =>
      ({ keys }) =>
        keys.organizations.suspend(id, 'ada'),
  ),
  use(
    [organizationIds],
    (id) =>
      ({ keys }) =>
        keys.organizations.resume(id, 'ada'),
  ),
  use(
    [],
    () =>
      ({ keys }) =>
        keys.organizations.list(),
  ),
  use([], () => async ({ keys }) => {
    for await (const page of keys.organizations.scan()) void page;
    for await (const page of keys.organizations.inOrder()) void page;
  }),
  use([ids, fc.option(organizationIds, { nil: undefined })], (id, organization) => async ({ keys }) => {
    for await (const page of keys.keys.scan({ organization, after: `key_${id}` })) void page;
  }),
  use(
    [ids, organizationIds],
    (id, organization) =>
      ({ keys }) =>
        keys.keys.create(keyOf(id, organization)),
  ),
  use(
    [ids, organizationIds, fc.constantFrom(1, 2), fc.constantFrom(1, 3)],
    (id, organization, working, records) =>
      ({ keys }) =>
        keys.keys.create(keyOf(id, organization), 'ada', { most: { working, records } }),
  ),
  use(
    [ids, ids, organizationIds, fc.constantFrom(1, 2), moments],
    (id, next, organization, working, endsAtMs) =>
      ({ keys }) =>
        keys.keys.rotate(`key_${id}`, keyOf(next, organization), endsAtMs, 'ada', { most: { working, records: 9 } }),
  ),
  use([ids, ids, organizationIds], (id, other, organization) => async ({ keys }) => {
    const [key, owner] = [await keys.keys.get(`key_${other}`), await keys.organizations.get(organization)];
    const conditions = { keys: key ? [key] : [], organizations: owner ? [owner] : [] };
    await keys.keys.revoke(`key_${id}`, 'ada', undefined, { ...conditions, leavesAnother: true });
  }),
  use(
    [ids],
    (id) =>
      ({ keys }) =>
        keys.keys.get(`key_${id}`),
  ),
  use(
    [ids],
    (id) =>
      ({ keys }) =>
        keys.keys.findByDigest(`digest-${id}`),
  ),
  use(
    [ids],
    (id) =>
      ({ keys }) =>
        keys.keys.revoke(`key_${id}`, 'ada', 'lost'),
  ),
  use(
    [ids, ids, organizationIds],
    (id, next, organization) =>
      ({ keys }) =>
        keys.keys.rotate(`key_${id}`, keyOf(next, organization), 1_767_225_700_000),
  ),
  use(
    [ids, fc.constantFrom('n', 'é')],
    (id, name) =>
      ({ keys }) =>
        keys.keys.change(`key_${id}`, { name, expiresAtMs: undefined }, 'ada'),
  ),
  use(
    [ids, moments],
    (id, atMs) =>
      ({ keys }) =>
        keys.keys.noteUses(new Map([[`key_${id}`, atMs]])),
  ),
  use(
    [fc.option(organizationIds, { nil: undefined })],
    (organization) =>
      ({ keys }) =>
        keys.keys.list({ organization }),
  ),
  use(
    [numbers],
    (sequence) =>
      ({ keys }) =>
        keys.audit.since(sequence, 5),
  ),
  use(
    [fc.option(organizationIds, { nil: undefined })],
    (organization) =>
      ({ keys }) =>
        keys.audit.list({ organization, limit: 5 }),
  ),
  use(
    [],
    () =>
      ({ keys }) =>
        keys.audit.append('configuration.changed', 'ada', { a: 'é' }),
  ),
  use(
    [organizationIds],
    (id) =>
      ({ keys }) =>
        keys.audit.append('limits.reset', 'ada', { before: 1 }, id),
  ),
  use(
    [],
    () =>
      ({ keys }) =>
        keys.audit.append('upstream.retried', 'ada', { upstream: 'mail' }),
  ),
  use(
    [ids, numbers, changeTimes],
    (id, position, changedAtMs) =>
      ({ keys }) =>
        keys.instances.report({ id, host: 'h', pid: 1, startedAtMs: 0, position, changedAtMs, graceMs: 20_000 }),
  ),
  use(
    [ids],
    (id) =>
      ({ keys }) =>
        keys.instances.remove(id),
  ),
  use(
    [],
    () =>
      ({ keys }) =>
        keys.instances.list(),
  ),
  use(
    [ids, organizationIds],
    (id, organization) =>
      ({ keys }) =>
        keys.seed([organizationOf(organization)], [keyOf(id, organization)], 'ada'),
  ),
  use(
    [ids, organizationIds],
    (id, organization) =>
      ({ keys }) =>
        keys.import([organizationOf(organization)], [keyOf(id, organization)], 'ada'),
  ),
  use(
    [],
    () =>
      ({ keys }) =>
        keys.mend(),
  ),
  use(
    [fc.constantFrom('digests', 'keys', 'tiers', 'key_order')],
    (name) =>
      ({ client }) =>
        client.del(`{gateway}:${name}`),
  ),
];

const answerUses = [
  use(
    [ids, organizationIds, owners, fc.constantFrom('x', 'y'), fc.boolean()],
    (digest, organization, owner, fingerprint, runsAgain) =>
      ({ answers }) =>
        answers.begin(answerKeyOf(digest, organization), {
          ...{
            fingerprint,
            owner,
            leaseMs: 35_000,
            retainMs: retention.retainMs,
            sentAtMs: 5,
            upstream: 'crm',
            runsAgain,
          },
        }),
  ),
  use(
    [ids, organizationIds, owners, fc.constantFrom(undefined, Buffer.from([1, 200, 10]), Buffer.alloc(900))],
    (digest, organization, owner, record) =>
      ({ answers }) =>
        answers.finish(answerKeyOf(digest, organization), owner, record, retention),
  ),
  use(
    [ids, organizationIds, owners],
    (digest, organization, owner) =>
      ({ answers }) =>
        answers.forget(answerKeyOf(digest, organization), owner),
  ),
  use(
    [ids, organizationIds, owners],
    (digest, organization, owner) =>
      ({ answers }) =>
        answers.giveUp(answerKeyOf(digest, organization), owner, retention),
  ),
];

const acmeUses = [
  use(
    [],
    () =>
      ({ acme }) =>
        acme.read(),
  ),
  use(
    [],
    () =>
      ({ acme }) =>
        acme.take(20_000),
  ),
  use(
    [tokens],
    (token) =>
      ({ acme }) =>
        acme.confirm(token, 20_000),
  ),
  use(
    [tokens],
    (token) =>
      ({ acme }) =>
        acme.release(token),
  ),
  use(
    [tokens, ids, fc.constantFrom('a', 'é', undefined)],
    (token, name, value) =>
      ({ acme }) =>
        acme.write(token, { [name]: value }),
  ),
  use(
    [ids, fc.constantFrom('a', undefined)],
    (name, value) =>
      ({ acme }) =>
        acme.put({ [name]: value }),
  ),
];

const charge = fc.record({
  counter: fc.constantFrom('rl:{a}:organization', 'rl:{a}:extra:x', 'rl:{é}:organization'),
  policy: fc.constant('p'),
  requests: fc.constantFrom(1, 5, 300),
  windowMs: windowsMs,
  windowSeconds: fc.constant(60),
  cost: fc.constantFrom(0, 1, 3, 301),
  enforce: fc.boolean(),
});
const limitUses = [
  use(
    [fc.array(fc.tuple(charge, charge), { minLength: 1, maxLength: 20 }), moments],
    (pairs, clockMs) =>
      ({ decide }, number) =>
        decide(number, clockMs, pairs.map((pair) => encodeCharges(pair)).join('')),
  ),
  use(
    [windowsMs],
    (windowMs) =>
      ({ client }) =>
        extendExpiryOfAll(client, windowMs),
  ),
];

const ofSessions = sessionUses.map((uses) =>
  uses.map(
    (work: UseOfSessions): Use =>
      ({ sessions }) =>
        work(sessions),
  ),
);

const ofOthers = otherUses.map((uses) =>
  uses.map(
    (work): Use =>
      ({ others }) =>
        work(others),
  ),
);

/** By store. */
export const allUses = [keyUses, answerUses, acmeUses, limitUses, ofSessions, ofOthers] as const;

/** One store is used at a time, so that what happens there builds up. */
export const randomUses: fc.Arbitrary<Use[]> = fc.oneof(
  ...allUses.map((uses) => fc.array(fc.oneof(...uses), { minLength: 1, maxLength: 60, size: 'max' })),
);

/** Moves the clock that scripts read, and lets times of expiry come nearer. */
export const timePasses = fc.constantFrom(0, 0, 0, 0, 10_000, 50_000);
