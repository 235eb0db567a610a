// Requirements on every replay store. Both stores run all of it.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { AnswerKey, ClaimResult, ReplayStore } from '../../../gateway/replay/replay-store.ts';
import { ENTRY_BYTES, type Retention } from '../../../gateway/replay/replay-store.ts';
import { claimOf, SENT_AT_MS } from './claim.ts';

export interface Stores {
  /** Two ways to the same answers, as two instances have them. */
  readonly stores: readonly [ReplayStore, ReplayStore];
  /** Advances the clock until everything in these keys has expired, and the stored bytes of their organizations no longer count. */
  expire(keys: readonly AnswerKey[]): Promise<void>;
  /** Lets `LEASE_MS` pass in these keys, in which nothing is done. */
  endLeases(keys: readonly AnswerKey[]): Promise<void>;
}

export const LEASE_MS = 60_000;
/** Far above the use of any test that is not about the bound. */
export const RETENTION: Retention = { retainMs: 3_600_000, organizationBytesMax: 1_000_000 };
/** Room for two records of `HALF` and nothing else. */
const NARROW: Retention = { ...RETENTION, organizationBytesMax: 2000 };
const HALF = Buffer.alloc(1000 - ENTRY_BYTES, 'x');
const STARTED: ClaimResult = { state: 'started' };
const RUNNING: ClaimResult = { state: 'running' };
const DIFFERENT: ClaimResult = { state: 'different' };
const UNKNOWN = {
  state: 'unknown',
  owner: 'me',
  sentAtMs: SENT_AT_MS,
  upstream: 'things',
} as const satisfies ClaimResult;
const done = (outcome: Buffer | undefined): ClaimResult => ({ state: 'done', outcome });

/** In an organization of its own, so that tests share a Redis. */
export function newAnswerKey(): AnswerKey {
  return { organization: `org_${randomUUID()}`, mode: 'live', digest: randomUUID() };
}

export function replayStoreSuite(name: string, open: (t: TestContext) => Promise<Stores>): void {
  test(`${name}: the first begins, later ones get that it runs, from either instance`, async (t) => {
    const { stores } = await open(t);
    const [one, other] = stores;
    const key = newAnswerKey();
    assert.deepEqual(await one.begin(key, claimOf('f', 'me', LEASE_MS)), STARTED);
    for (const store of stores) {
      assert.deepEqual(await store.begin(key, claimOf('f', 'you', LEASE_MS)), RUNNING);
      assert.deepEqual(await store.begin(key, claimOf('another', 'you', LEASE_MS)), DIFFERENT, 'also while it runs');
    }
    await one.finish(key, 'me', Buffer.from('done'), RETENTION);
    assert.deepEqual(await other.begin(key, claimOf('f', 'you', LEASE_MS)), done(Buffer.from('done')));
    assert.deepEqual(await other.begin(key, claimOf('another', 'you', LEASE_MS)), DIFFERENT);
  });

  test(`${name}: a hundred at once have one owner`, async (t) => {
    const { stores } = await open(t);
    const key = newAnswerKey();
    const begun = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => stores[i % 2]?.begin(key, claimOf('f', `owner ${i}`, LEASE_MS))),
    );
    assert.equal(begun.filter((one) => one?.state === 'started').length, 1);
    assert.equal(begun.filter((one) => one?.state === 'running').length, 99);
  });

  test(`${name}: organizations, modes and keys are apart`, async (t) => {
    const { stores } = await open(t);
    const key = newAnswerKey();
    const keys = [key, newAnswerKey(), { ...key, mode: 'test' as const }, { ...key, digest: 'another' }];
    for (const each of keys) assert.deepEqual(await stores[0].begin(each, claimOf('f', 'me', LEASE_MS)), STARTED);
  });

  test(`${name}: bytes come back as they were, and nothing is something else than no bytes`, async (t) => {
    const { stores } = await open(t);
    const every = Buffer.from(Array.from({ length: 512 }, (_, i) => i & 255));
    for (const record of [every, Buffer.from('für „alle“ 💥'), Buffer.alloc(70_000, 0), undefined]) {
      const key = newAnswerKey();
      await stores[0].begin(key, claimOf('f', 'me', LEASE_MS));
      await stores[0].finish(key, 'me', record, RETENTION);
      assert.deepEqual(await stores[1].begin(key, claimOf('f', 'you', LEASE_MS)), done(record));
    }
  });

  test(`${name}: an owner that never reports leaves an outcome that is unknown, for the same request from either instance`, async (t) => {
    const { stores, endLeases } = await open(t);
    const key = newAnswerKey();
    await stores[0].begin(key, claimOf('f', 'me', LEASE_MS));
    await endLeases([key]);
    for (const store of [...stores, ...stores]) {
      assert.deepEqual(await store.begin(key, claimOf('f', 'you', LEASE_MS)), UNKNOWN);
      assert.deepEqual(await store.begin(key, claimOf('another', 'you', LEASE_MS)), DIFFERENT);
    }
  });

  test(`${name}: the answer of an owner that stalled is kept, since its request was not run again`, async (t) => {
    const { stores, endLeases } = await open(t);
    const [one, other] = stores;
    const [finished, forgotten] = [newAnswerKey(), newAnswerKey()];
    for (const key of [finished, forgotten]) await one.begin(key, claimOf('f', 'me', LEASE_MS));
    await endLeases([finished, forgotten]);
    assert.deepEqual(await other.begin(finished, claimOf('f', 'you', LEASE_MS)), UNKNOWN);
    await one.finish(finished, 'me', Buffer.from('late'), RETENTION);
    assert.deepEqual(await other.begin(finished, claimOf('f', 'you', LEASE_MS)), done(Buffer.from('late')));
    await one.forget(forgotten, 'me');
    assert.deepEqual(await other.begin(forgotten, claimOf('f', 'you', LEASE_MS)), STARTED, 'it was not sent');
  });

  test(`${name}: where it runs again, a dead owner is replaced, a living one is not, and the answer of the replaced one is ignored`, async (t) => {
    const { stores, endLeases } = await open(t);
    const [one, other] = stores;
    const [key, lost] = [newAnswerKey(), newAnswerKey()];
    const again = (owner: string) => claimOf('f', owner, LEASE_MS, { runsAgain: true });
    await one.begin(key, again('me'));
    assert.deepEqual(await other.begin(key, again('you')), RUNNING);
    await endLeases([key]);
    const another = claimOf('another', 'you', LEASE_MS, { runsAgain: true });
    for (const store of stores) assert.deepEqual(await store.begin(key, another), DIFFERENT, 'another request');
    assert.deepEqual(await other.begin(key, again('you')), STARTED);
    assert.deepEqual(await one.begin(key, again('third')), RUNNING, 'with a lease of its own');
    await one.finish(key, 'me', Buffer.from('late'), RETENTION);
    await one.giveUp(key, 'me', RETENTION);
    await one.forget(key, 'me');
    await other.finish(key, 'you', Buffer.from('in time'), RETENTION);
    assert.deepEqual(await one.begin(key, again('third')), done(Buffer.from('in time')), 'done is done');
    await one.begin(lost, claimOf('f', 'me', LEASE_MS));
    await one.giveUp(lost, 'me', RETENTION);
    assert.deepEqual(await other.begin(lost, another), DIFFERENT);
    assert.deepEqual(await other.begin(lost, again('you')), STARTED, 'the reader decides');
  });

  test(`${name}: a repetition that was not sent leaves the outcome unknown, and the key with its request`, async (t) => {
    const { stores, endLeases } = await open(t);
    const [one, other] = stores;
    const again = (fingerprint: string, owner: string) => claimOf(fingerprint, owner, LEASE_MS, { runsAgain: true });
    const [givenUp, late] = [newAnswerKey(), newAnswerKey()];
    for (const key of [givenUp, late]) {
      await one.begin(key, again('f', 'first'));
      await one.giveUp(key, 'first', RETENTION);
      assert.deepEqual(await other.begin(key, again('f', 'second')), STARTED);
    }
    await endLeases([late]);
    for (const key of [givenUp, late]) {
      await other.forget(key, 'second');
      assert.deepEqual(await one.begin(key, again('another', 'third')), DIFFERENT);
      assert.equal((await one.begin(key, claimOf('f', 'third', LEASE_MS))).state, 'unknown');
      assert.deepEqual(await one.begin(key, again('f', 'third')), STARTED);
      await one.forget(key, 'third');
      assert.deepEqual(await one.begin(key, again('another', 'fourth')), DIFFERENT, 'after each of them');
    }
  });

  test(`${name}: an owner that gives up leaves an unknown outcome at once; other instances cannot`, async (t) => {
    const { stores, expire } = await open(t);
    const [one, other] = stores;
    const key = newAnswerKey();
    await one.begin(key, claimOf('f', 'me', LEASE_MS));
    await other.giveUp(key, 'you', RETENTION);
    assert.deepEqual(await other.begin(key, claimOf('f', 'you', LEASE_MS)), RUNNING);
    await one.giveUp(key, 'me', RETENTION);
    assert.deepEqual(await other.begin(key, claimOf('f', 'you', LEASE_MS)), UNKNOWN);
    await expire([key]);
    assert.deepEqual(await other.begin(key, claimOf('f', 'you', LEASE_MS)), STARTED);
    await other.finish(key, 'you', undefined, RETENTION);
    await other.giveUp(key, 'you', RETENTION);
    assert.deepEqual(await one.begin(key, claimOf('f', 'me', LEASE_MS)), done(undefined), 'done is done');
  });

  test(`${name}: unknown outcomes count as stored, and are remembered without room`, async (t) => {
    const { stores } = await open(t);
    const keys = sameOrganization(10);
    for (const key of keys) {
      await stores[0].begin(key, claimOf('f', 'me', LEASE_MS));
      await stores[0].giveUp(key, 'me', NARROW);
    }
    for (const key of keys) assert.deepEqual(await stores[1].begin(key, claimOf('f', 'you', LEASE_MS)), UNKNOWN);
    const { organization } = keys[0] as AnswerKey;
    assert.deepEqual(await keepAt(stores, { ...newAnswerKey(), organization }, Buffer.from('x')), done(undefined));
  });

  test(`${name}: the answer of an owner with an expired key is ignored`, async (t) => {
    const { stores, expire } = await open(t);
    const [one, other] = stores;
    const key = newAnswerKey();
    await one.begin(key, claimOf('f', 'late', LEASE_MS));
    await expire([key]);
    await one.finish(key, 'late', Buffer.from('too late'), RETENTION);
    assert.deepEqual(await other.begin(key, claimOf('f', 'next', LEASE_MS)), STARTED, 'nothing was kept');
    await one.finish(key, 'late', Buffer.from('too late'), RETENTION);
    await one.forget(key, 'late');
    assert.deepEqual(await one.begin(key, claimOf('f', 'third', LEASE_MS)), RUNNING, 'the next one is not disturbed');
    await other.finish(key, 'next', Buffer.from('in time'), RETENTION);
    await one.forget(key, 'next');
    assert.deepEqual(
      await one.begin(key, claimOf('f', 'third', LEASE_MS)),
      done(Buffer.from('in time')),
      'done is done',
    );
  });

  test(`${name}: a forgotten or expired key begins anew, also for another request`, async (t) => {
    const { stores, expire } = await open(t);
    const key = newAnswerKey();
    await stores[0].begin(key, claimOf('f', 'me', LEASE_MS));
    await stores[0].forget(key, 'me');
    assert.deepEqual(await stores[1].begin(key, claimOf('another', 'you', LEASE_MS)), STARTED);
    await stores[1].finish(key, 'you', Buffer.from('x'), RETENTION);
    await expire([key]);
    assert.deepEqual(await stores[0].begin(key, claimOf('f', 'me', LEASE_MS)), STARTED);
    await stores[0].finish(key, 'me', Buffer.from('y'), RETENTION);
    assert.deepEqual(await stores[0].begin(key, claimOf('f', 'me', LEASE_MS)), done(Buffer.from('y')));
  });

  test(`${name}: the storage of an organization is bounded, both modes together; writes beyond it are done without their record`, async (t) => {
    const { stores, expire } = await open(t);
    const keys = sameOrganization(5);
    const [first, second, third, fourth, fifth] = keys as [AnswerKey, AnswerKey, AnswerKey, AnswerKey, AnswerKey];
    const keep = (key: AnswerKey, record?: Buffer) => keepAt(stores, key, record);
    assert.deepEqual(await keep(first, Buffer.alloc(NARROW.organizationBytesMax)), done(undefined), 'alone too much');
    assert.deepEqual(await keep(second, HALF), done(HALF));
    assert.deepEqual(await keep({ ...third, mode: 'test' }, HALF), done(HALF), 'up to the last byte');
    assert.deepEqual(await keep(fourth, Buffer.from('x')), done(undefined));
    assert.deepEqual(await keep(newAnswerKey(), HALF), done(HALF), 'another organization');
    await expire([...keys, { ...third, mode: 'test' }]);
    assert.deepEqual(await keep(fifth, HALF), done(HALF), 'counted anew');
  });

  test(`${name}: records that were too long count as well, forgotten or ownerless ones do not`, async (t) => {
    const { stores } = await open(t);
    const keys = sameOrganization(6);
    const [lost, foreign, ...others] = keys as [AnswerKey, AnswerKey, ...AnswerKey[]];
    for (let i = 0; i < 20; i++) {
      await stores[0].begin(lost, claimOf('f', 'me', LEASE_MS));
      await stores[1].forget(lost, 'me');
      await stores[0].begin(foreign, claimOf('f', 'me', LEASE_MS));
      await stores[1].finish(foreign, 'you', HALF, NARROW);
    }
    assert.deepEqual(await keepAt(stores, others[0] as AnswerKey, HALF), done(HALF));
    assert.deepEqual(await keepAt(stores, others[1] as AnswerKey), done(undefined));
    assert.deepEqual(await keepAt(stores, others[2] as AnswerKey, HALF), done(undefined));
    const rest = Buffer.alloc(1000 - 2 * ENTRY_BYTES);
    assert.deepEqual(await keepAt(stores, others[3] as AnswerKey, rest), done(rest));
  });

  test(`${name}: the bound holds when a hundred end at once at two instances`, async (t) => {
    const { stores } = await open(t);
    const keys = sameOrganization(100);
    const all = await Promise.all(keys.map((key) => keepAt(stores, key, HALF)));
    assert.equal(all.filter((one) => one.state === 'done' && one.outcome !== undefined).length, 2);
  });

  test(`${name}: any sequence of steps ends as in a model of ten lines`, async (t) => {
    const { stores, expire, endLeases } = await open(t);
    const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const keys = [newAnswerKey(), newAnswerKey()];
      const model = createModel();
      for (const [i, { what, key: at, owner, text, runsAgain }] of steps.entries()) {
        const store = stores[i % 2] as ReplayStore;
        const key = keys[at] as AnswerKey;
        const record = text === undefined ? undefined : Buffer.from(text);
        if (what === 'begin') {
          const begun = await store.begin(key, claimOf(text ?? '', owner, LEASE_MS, { runsAgain }));
          assert.deepEqual(begun, model.begin(at, text ?? '', owner, runsAgain));
        } else if (what === 'finish') {
          await store.finish(key, owner, record, RETENTION);
          model.finish(at, owner, record);
        } else if (what === 'forget') {
          await store.forget(key, owner);
          model.forget(at, owner);
        } else if (what === 'giveUp') {
          await store.giveUp(key, owner, RETENTION);
          model.giveUp(at, owner);
        } else if (what === 'endLeases') {
          await endLeases(keys);
          model.endLeases();
        } else {
          await expire(keys);
          model.expire();
        }
      }
    });
    await fc.assert(property, { numRuns: 150 });
  });
}

function sameOrganization(count: number): AnswerKey[] {
  const { organization } = newAnswerKey();
  return Array.from({ length: count }, () => ({ ...newAnswerKey(), organization }));
}

/** Begins and ends a request, and repeats it at the other instance. */
async function keepAt([one, other]: Stores['stores'], key: AnswerKey, record?: Buffer): Promise<ClaimResult> {
  await one.begin(key, claimOf('f', 'me', LEASE_MS));
  await other.finish(key, 'me', record, NARROW);
  return one.begin(key, claimOf('f', 'you', LEASE_MS));
}

const step = fc.record({
  what: fc.constantFrom('begin', 'begin', 'begin', 'finish', 'forget', 'giveUp', 'endLeases', 'expire'),
  key: fc.constantFrom(0, 1),
  owner: fc.constantFrom('anna', 'bert'),
  text: fc.constantFrom('x', 'y', undefined),
  runsAgain: fc.boolean(),
});

interface Entry {
  readonly fingerprint: string;
  readonly owner?: string;
  readonly record?: Buffer | undefined;
  readonly isLost?: boolean;
  /** It took over a request that may have run. */
  readonly isAgain?: boolean;
}

function createModel() {
  const entries = new Map<number, Entry>();
  return {
    begin(at: number, fingerprint: string, owner: string, runsAgain: boolean): ClaimResult {
      const entry = entries.get(at);
      if (!entry || (entry.isLost && runsAgain && entry.fingerprint === fingerprint)) {
        entries.set(at, { fingerprint, owner, isAgain: entry !== undefined });
        return STARTED;
      }
      if (entry.fingerprint !== fingerprint) return DIFFERENT;
      if (entry.isLost) return { ...UNKNOWN, owner: entry.owner as string };
      return entry.owner === undefined ? done(entry.record) : RUNNING;
    },
    finish(at: number, owner: string, record: Buffer | undefined): void {
      const entry = entries.get(at);
      if (entry?.owner === owner) entries.set(at, { fingerprint: entry.fingerprint, record });
    },
    forget(at: number, owner: string): void {
      const entry = entries.get(at);
      if (entry?.owner !== owner) return;
      if (entry.isAgain) entries.set(at, { ...entry, isLost: true });
      else entries.delete(at);
    },
    giveUp(at: number, owner: string): void {
      const entry = entries.get(at);
      if (entry?.owner === owner) entries.set(at, { ...entry, isLost: true });
    },
    endLeases(): void {
      for (const [at, entry] of entries) if (entry.owner !== undefined) entries.set(at, { ...entry, isLost: true });
    },
    expire: () => entries.clear(),
  };
}
