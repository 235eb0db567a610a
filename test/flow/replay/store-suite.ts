// What every store of answers does. Both stores run all of it.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { type Retention, SLOT_BYTES } from '../../../gateway/replay/retention.ts';
import type { AnswerStore, Begun, Slot } from '../../../gateway/replay/store.ts';

export interface Stores {
  /** Two ways to the same answers, as two instances have them. */
  readonly stores: readonly [AnswerStore, AnswerStore];
  /** Lets so much time pass that everything in these slots is over, and what their organizations had stored no longer counts. */
  expire(slots: readonly Slot[]): Promise<void>;
}

const LEASE_MS = 60_000;
/** Nobody comes near the bound who does not mean to. */
export const RETENTION: Retention = { retainMs: 3_600_000, organizationBytesMax: 1_000_000 };
/** Room for two records of `HALF` and nothing else. */
const NARROW: Retention = { ...RETENTION, organizationBytesMax: 2000 };
const HALF = Buffer.alloc(1000 - SLOT_BYTES, 'x');
const STARTED: Begun = { state: 'started' };
const RUNNING: Begun = { state: 'running' };
const DIFFERENT: Begun = { state: 'different' };
const done = (record: Buffer | undefined): Begun => ({ state: 'done', record });

/** In an organization of its own, so that tests share a Redis. */
export function newSlot(): Slot {
  return { organization: `org_${randomUUID()}`, mode: 'live', digest: randomUUID() };
}

export function answerStoreSuite(name: string, open: (t: TestContext) => Promise<Stores>): void {
  test(`${name}: the first begins, whoever comes later is told so, from either instance`, async (t) => {
    const { stores } = await open(t);
    const [one, other] = stores;
    const slot = newSlot();
    assert.deepEqual(await one.begin(slot, 'f', 'me', LEASE_MS), STARTED);
    for (const store of stores) {
      assert.deepEqual(await store.begin(slot, 'f', 'you', LEASE_MS), RUNNING);
      assert.deepEqual(await store.begin(slot, 'another', 'you', LEASE_MS), DIFFERENT, 'also while it runs');
    }
    await one.finish(slot, 'me', Buffer.from('done'), RETENTION);
    assert.deepEqual(await other.begin(slot, 'f', 'you', LEASE_MS), done(Buffer.from('done')));
    assert.deepEqual(await other.begin(slot, 'another', 'you', LEASE_MS), DIFFERENT);
  });

  test(`${name}: a hundred at once have one owner`, async (t) => {
    const { stores } = await open(t);
    const slot = newSlot();
    const begun = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => stores[i % 2]?.begin(slot, 'f', `owner ${i}`, LEASE_MS)),
    );
    assert.equal(begun.filter((one) => one?.state === 'started').length, 1);
    assert.equal(begun.filter((one) => one?.state === 'running').length, 99);
  });

  test(`${name}: organizations, modes and keys are apart`, async (t) => {
    const { stores } = await open(t);
    const slot = newSlot();
    const slots = [slot, newSlot(), { ...slot, mode: 'test' as const }, { ...slot, digest: 'another' }];
    for (const each of slots) assert.deepEqual(await stores[0].begin(each, 'f', 'me', LEASE_MS), STARTED);
  });

  test(`${name}: bytes come back as they were, and nothing is something else than no bytes`, async (t) => {
    const { stores } = await open(t);
    const every = Buffer.from(Array.from({ length: 512 }, (_, i) => i & 255));
    for (const record of [every, Buffer.from('für „alle“ 💥'), Buffer.alloc(70_000, 0), undefined]) {
      const slot = newSlot();
      await stores[0].begin(slot, 'f', 'me', LEASE_MS);
      await stores[0].finish(slot, 'me', record, RETENTION);
      assert.deepEqual(await stores[1].begin(slot, 'f', 'you', LEASE_MS), done(record));
    }
  });

  test(`${name}: an owner whose lease is over is not heard any more`, async (t) => {
    const { stores, expire } = await open(t);
    const [one, other] = stores;
    const slot = newSlot();
    await one.begin(slot, 'f', 'late', LEASE_MS);
    await expire([slot]);
    await one.finish(slot, 'late', Buffer.from('too late'), RETENTION);
    assert.deepEqual(await other.begin(slot, 'f', 'next', LEASE_MS), STARTED, 'nothing was kept');
    await one.finish(slot, 'late', Buffer.from('too late'), RETENTION);
    await one.forget(slot, 'late');
    assert.deepEqual(await one.begin(slot, 'f', 'third', LEASE_MS), RUNNING, 'the next one is not disturbed');
    await other.finish(slot, 'next', Buffer.from('in time'), RETENTION);
    await one.forget(slot, 'next');
    assert.deepEqual(await one.begin(slot, 'f', 'third', LEASE_MS), done(Buffer.from('in time')), 'done is done');
  });

  test(`${name}: what is forgotten begins anew, what is over as well, also as another request`, async (t) => {
    const { stores, expire } = await open(t);
    const slot = newSlot();
    await stores[0].begin(slot, 'f', 'me', LEASE_MS);
    await stores[0].forget(slot, 'me');
    assert.deepEqual(await stores[1].begin(slot, 'another', 'you', LEASE_MS), STARTED);
    await stores[1].finish(slot, 'you', Buffer.from('x'), RETENTION);
    await expire([slot]);
    assert.deepEqual(await stores[0].begin(slot, 'f', 'me', LEASE_MS), STARTED);
    await stores[0].finish(slot, 'me', Buffer.from('y'), RETENTION);
    assert.deepEqual(await stores[0].begin(slot, 'f', 'me', LEASE_MS), done(Buffer.from('y')));
  });

  test(`${name}: an organization has so much stored, both modes together; what goes over is done without its record`, async (t) => {
    const { stores, expire } = await open(t);
    const slots = sameOrganization(5);
    const [first, second, third, fourth, fifth] = slots as [Slot, Slot, Slot, Slot, Slot];
    const keep = (slot: Slot, record?: Buffer) => keepAt(stores, slot, record);
    assert.deepEqual(await keep(first, Buffer.alloc(NARROW.organizationBytesMax)), done(undefined), 'alone too much');
    assert.deepEqual(await keep(second, HALF), done(HALF));
    assert.deepEqual(await keep({ ...third, mode: 'test' }, HALF), done(HALF), 'up to the last byte');
    assert.deepEqual(await keep(fourth, Buffer.from('x')), done(undefined));
    assert.deepEqual(await keep(newSlot(), HALF), done(HALF), 'another organization');
    await expire([...slots, { ...third, mode: 'test' }]);
    assert.deepEqual(await keep(fifth, HALF), done(HALF), 'counted anew');
  });

  test(`${name}: records that were too long count as well, what is forgotten or nobody's does not`, async (t) => {
    const { stores } = await open(t);
    const slots = sameOrganization(6);
    const [lost, foreign, ...others] = slots as [Slot, Slot, ...Slot[]];
    for (let i = 0; i < 20; i++) {
      await stores[0].begin(lost, 'f', 'me', LEASE_MS);
      await stores[1].forget(lost, 'me');
      await stores[0].begin(foreign, 'f', 'me', LEASE_MS);
      await stores[1].finish(foreign, 'you', HALF, NARROW);
    }
    assert.deepEqual(await keepAt(stores, others[0] as Slot, HALF), done(HALF));
    assert.deepEqual(await keepAt(stores, others[1] as Slot), done(undefined));
    assert.deepEqual(await keepAt(stores, others[2] as Slot, HALF), done(undefined));
    const rest = Buffer.alloc(1000 - 2 * SLOT_BYTES);
    assert.deepEqual(await keepAt(stores, others[3] as Slot, rest), done(rest));
  });

  test(`${name}: the bound holds when a hundred end at once at two instances`, async (t) => {
    const { stores } = await open(t);
    const slots = sameOrganization(100);
    const all = await Promise.all(slots.map((slot) => keepAt(stores, slot, HALF)));
    assert.equal(all.filter((one) => one.state === 'done' && one.record !== undefined).length, 2);
  });

  test(`${name}: any sequence of steps ends as in a model of ten lines`, async (t) => {
    const { stores, expire } = await open(t);
    const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const slots = [newSlot(), newSlot()];
      const model = createModel();
      for (const [i, { what, slot: at, owner, text }] of steps.entries()) {
        const store = stores[i % 2] as AnswerStore;
        const slot = slots[at] as Slot;
        const record = text === undefined ? undefined : Buffer.from(text);
        if (what === 'begin') {
          const begun = await store.begin(slot, text ?? '', owner, LEASE_MS);
          assert.deepEqual(begun, model.begin(at, text ?? '', owner));
        } else if (what === 'finish') {
          await store.finish(slot, owner, record, RETENTION);
          model.finish(at, owner, record);
        } else if (what === 'forget') {
          await store.forget(slot, owner);
          model.forget(at, owner);
        } else {
          await expire(slots);
          model.expire();
        }
      }
    });
    await fc.assert(property, { numRuns: 150 });
  });
}

function sameOrganization(count: number): Slot[] {
  const { organization } = newSlot();
  return Array.from({ length: count }, () => ({ ...newSlot(), organization }));
}

/** Begins and ends a request, and asks for it again at the other instance. */
async function keepAt([one, other]: Stores['stores'], slot: Slot, record?: Buffer): Promise<Begun> {
  await one.begin(slot, 'f', 'me', LEASE_MS);
  await other.finish(slot, 'me', record, NARROW);
  return one.begin(slot, 'f', 'you', LEASE_MS);
}

const step = fc.record({
  what: fc.constantFrom('begin', 'begin', 'finish', 'forget', 'expire'),
  slot: fc.constantFrom(0, 1),
  owner: fc.constantFrom('anna', 'bert'),
  text: fc.constantFrom('x', 'y', undefined),
});

interface Entry {
  readonly fingerprint: string;
  readonly owner?: string;
  readonly record?: Buffer | undefined;
}

function createModel() {
  const entries = new Map<number, Entry>();
  return {
    begin(at: number, fingerprint: string, owner: string): Begun {
      const entry = entries.get(at);
      if (!entry) entries.set(at, { fingerprint, owner });
      if (!entry) return STARTED;
      if (entry.fingerprint !== fingerprint) return DIFFERENT;
      return entry.owner === undefined ? done(entry.record) : RUNNING;
    },
    finish(at: number, owner: string, record: Buffer | undefined): void {
      const entry = entries.get(at);
      if (entry?.owner === owner) entries.set(at, { fingerprint: entry.fingerprint, record });
    },
    forget(at: number, owner: string): void {
      if (entries.get(at)?.owner === owner) entries.delete(at);
    },
    expire: () => entries.clear(),
  };
}
