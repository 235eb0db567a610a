// Random use of the session store: few people and sessions, so that they meet.

import fc from 'fast-check';
import type { ConnectRedis } from '../../../gateway/redis/client.ts';
import { openRedisSessionStore } from '../../../gateway/sessions/store/redis/redis-session-store.ts';
import type { NewSession, RefreshLease, Session, SessionStore } from '../../../gateway/sessions/store/session-store.ts';
import { createKeyRing } from '../../../gateway/shared/stores/seal.ts';

export function openSessions(url: string, connect: ConnectRedis): Promise<SessionStore> {
  return openRedisSessionStore({
    url,
    connect,
    keys: createKeyRing(() => ['a secret of sixteen letters'], 'compared'),
  });
}

const NOW_MS = 1_767_225_600_000;
const LEASE_MS = 20_000;
const REUSE_MS = 60_000;
const ids = fc.constantFrom('1', '2', '3', '4');
const people = fc.constantFrom('ada', 'bo');
const owners = fc.constantFrom('one', 'two');
const small = fc.constantFrom(0, 1, 2);
const fences = fc.integer({ min: 1_767_225_600, max: 1_767_225_603 });
const moments = fc.integer({ min: 0, max: 300_000 }).map((ms) => NOW_MS + ms);

const newSession = (id: string, subject: string): NewSession => ({
  ...{
    id: `ses_${id}`,
    hash: `hash ${id}`,
    provider: 'main',
    subject,
    providerSid: `sid ${id} é`,
    organization: 'org_é',
  },
  ...{ claims: { name: 'é "x"' }, device: 'd', idleMs: 100_000, livesMs: 250_000 },
});
const tokens = { accessToken: 'a', refreshToken: 'r', idToken: undefined, accessLivesMs: 60_000 };
const knownSession = (id: string, generation: number) =>
  ({
    hash: `hash ${id}`,
    generation,
    sealedTokens: 'sealed',
    accessEndsAtMs: NOW_MS,
    accessLivesMs: 9,
    refreshable: true,
  }) as Session;
const leaseOf = (id: string, generation: number, owner: string, fence: number): RefreshLease => ({
  ...{ hash: `hash ${id}`, generation, owner, fence, reuseMs: REUSE_MS },
});
const logout = (jti: string, sid: string | undefined, subject: string | undefined) => ({
  ...{ provider: 'main', sid, subject, jti, rememberUntilMs: NOW_MS + 100_000 },
});

export type UseOfSessions = (sessions: SessionStore) => unknown;
const use = <T extends unknown[]>(
  drawn: { [K in keyof T]: fc.Arbitrary<T[K]> },
  make: (...values: T) => UseOfSessions,
): fc.Arbitrary<UseOfSessions> =>
  fc.tuple(...(drawn as fc.Arbitrary<unknown>[])).map((values) => make(...(values as T)));

const create = use(
  [ids, people, moments],
  (id, person, begunAtMs) => (sessions) =>
    sessions.create(newSession(id, person), tokens, { begunAtMs: begunAtMs - 150_000, perPersonMax: 2 }),
);

export const sessionUses = [
  create,
  create,
  use([ids], (id) => (sessions) => sessions.find(`hash ${id}`)),
  use([ids], (id) => (sessions) => sessions.get(`ses_${id}`)),
  use(
    [people, moments, ids],
    (subject, createdAtMs, id) => (sessions) =>
      sessions.list({ person: { provider: 'main', subject } }, { after: { createdAtMs, id: `ses_${id}` }, limit: 2 }),
  ),
  use([], () => (sessions) => sessions.list({ organization: 'org_é' }, { limit: 3 })),
  use(
    [ids, moments],
    (id, atMs) => (sessions) =>
      sessions.touch(
        new Map([
          [`hash ${id}`, atMs],
          ['unknown', atMs],
        ]),
      ),
  ),
  use([ids], (id) => (sessions) => sessions.end(`ses_${id}`, 'operator')),
  use([people], (person) => (sessions) => sessions.endSubject('main', person, 'operator')),
  use([ids, ids], (jti, id) => (sessions) => sessions.endByProvider(logout(jti, `sid ${id} é`, undefined))),
  use([ids, people], (jti, person) => (sessions) => sessions.endByProvider(logout(jti, undefined, person))),
  use([fc.integer({ min: 0, max: 12 })], (sequence) => (sessions) => sessions.ends.since(sequence, 5)),
  use(
    [ids, small, owners, fc.constantFrom(0, REUSE_MS)],
    (id, generation, owner, reuseMs) => (sessions) =>
      sessions.refreshes.take(knownSession(id, generation), owner, {
        ...{ forMs: LEASE_MS, notAfterMs: NOW_MS + 200_000, reuseMs },
      }),
  ),
  use(
    [ids, small, owners, fences, fc.constantFrom(undefined, 0, 9000)],
    (id, generation, owner, fence, sentForMs) => (sessions) =>
      sessions.refreshes.renew(leaseOf(id, generation, owner, fence), LEASE_MS, sentForMs),
  ),
  use(
    [ids, small, owners, fences],
    (id, generation, owner, fence) => (sessions) =>
      sessions.refreshes.replaceTokens(leaseOf(id, generation, owner, fence), tokens),
  ),
  use(
    [ids, small, owners, fc.boolean()],
    (id, generation, owner, isOver) => (sessions) =>
      sessions.refreshes[isOver ? 'giveUp' : 'release'](leaseOf(id, generation, owner, 0)),
  ),
];
