import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { KeyStore } from '../../../gateway/auth/store/key-store.ts';
import { ChangeFollower } from '../../../gateway/shared/stores/change-follower.ts';
import { openStore, organization, until } from '../auth/samples.ts';

const NEVER_MS = 3_600_000;

/** A follower of a real store with announcements controlled by the test, and the changes that reached it. */
function following(test: TestContext, { store = openStore(), pollMs = NEVER_MS } = {}) {
  const seen: (string | undefined)[] = [];
  const state = { store, reads: 0, readsAtOnce: 0, mostReadsAtOnce: 0, resets: 0, subscribers: 0 };
  let answering: Promise<void> | undefined;
  let announce = () => {};
  const since: KeyStore['audit']['since'] = async (sequence, limit) => {
    state.reads += 1;
    state.readsAtOnce += 1;
    state.mostReadsAtOnce = Math.max(state.mostReadsAtOnce, state.readsAtOnce);
    const read = await state.store.audit.since(sequence, limit);
    await answering;
    state.readsAtOnce -= 1;
    return read;
  };
  const follower = new ChangeFollower({
    stream: {
      since,
      subscribe(onAnnounced) {
        state.subscribers += 1;
        announce = onAnnounced;
        return () => {
          state.subscribers -= 1;
        };
      },
    },
    pollMs,
    now: Date.now,
    onChange: (change) => seen.push(change.organization),
    onReset() {
      state.resets += 1;
    },
    onPolled() {},
  });
  test.after(() => follower.stop());
  /** Read changes arrive here when the returned function is called. */
  function holdAnswers(): () => void {
    const gate = Promise.withResolvers<void>();
    answering = gate.promise;
    return gate.resolve;
  }
  return { follower, seen, state, announce: () => announce(), holdAnswers };
}

const create = (store: KeyStore, id: string) => store.organizations.create(organization({ id }), 'tests');

test('changes before the start are not read, and nothing counts as read before the first read', async (t) => {
  const store = openStore();
  await create(store, 'org_before');
  const { follower, seen, state } = following(t, { store });
  assert.equal(follower.position(), undefined);
  await until(() => follower.position() === 1);
  assert.deepEqual([seen, state.resets], [[], 1]);
});

test('an announced change is read at once', async (t) => {
  const { follower, seen, state, announce } = following(t);
  await until(() => follower.position() === 0);
  await create(state.store, 'org_a');
  announce();
  await until(() => follower.position() === 1);
  assert.deepEqual(seen, ['org_a']);
});

test('a burst of announcements costs one reading more than the one in progress, and nothing of it is missed', async (t) => {
  const { follower, seen, state, announce, holdAnswers } = following(t);
  await until(() => follower.position() === 0);
  const answer = holdAnswers();
  announce();
  for (let index = 0; index < 100; index += 1) {
    await create(state.store, `org_${index}`);
    announce();
  }
  answer();
  await until(() => follower.position() === 100);
  assert.equal(seen.length, 100);
  // The one at the start, the one that was in progress, and the one that saw it all.
  assert.deepEqual([state.reads, state.mostReadsAtOnce], [3, 1]);
});

test('without announcements every change arrives by polling, never two polls at once', async (t) => {
  const { follower, seen, state, holdAnswers } = following(t, { pollMs: 2 });
  await until(() => follower.position() === 0);
  const answer = holdAnswers();
  for (const id of ['org_a', 'org_b', 'org_c']) {
    await create(state.store, id);
    await setTimeout(5);
  }
  answer();
  await until(() => follower.position() === 3);
  assert.deepEqual(seen, ['org_a', 'org_b', 'org_c']);
  assert.equal(state.mostReadsAtOnce, 1);
});

test('more changes than fit one page are all passed on, in order', async (t) => {
  const { follower, seen, state, announce } = following(t);
  await until(() => follower.position() === 0);
  const ids = Array.from({ length: 2001 }, (_, index) => `org_${index}`);
  for (const id of ids) await create(state.store, id);
  announce();
  await until(() => follower.position() === 2001);
  assert.deepEqual(seen, ids);
});

for (const more of [0, 1, 2]) {
  test(`changes that got lost are noticed though ${more} more than as many were written since`, async (t) => {
    const { follower, state, announce } = following(t);
    await until(() => follower.position() === 0);
    for (const id of ['org_a', 'org_lost']) await create(state.store, id);
    announce();
    await until(() => follower.position() === 2);
    // As after a failover to a replica that had received only the first one.
    state.store = openStore();
    for (const id of ['org_a', 'org_other', 'org_b', 'org_c'].slice(0, 2 + more)) await create(state.store, id);
    announce();
    await until(() => state.resets === 2);
    await until(() => follower.position() === 2 + more);
  });
}

test('the last change before a start counts as read: the same store is no other one', async (t) => {
  const { follower, state, announce } = following(t);
  await until(() => follower.position() === 0);
  for (const id of ['org_a', 'org_b', 'org_c']) {
    await create(state.store, id);
    announce();
    await until(() => follower.position() === Number((id.codePointAt(4) ?? 0) - 96));
  }
  announce();
  await setTimeout(5);
  assert.equal(state.resets, 1);
});

test('a store that begins anew is noticed, and followed from there', async (t) => {
  const { follower, seen, state, announce } = following(t);
  await until(() => follower.position() === 0);
  for (const id of ['org_a', 'org_b']) await create(state.store, id);
  announce();
  await until(() => follower.position() === 2);
  const before = follower.generation();
  state.store = openStore();
  await create(state.store, 'org_other');
  announce();
  await until(() => follower.position() === 1);
  assert.equal(state.resets, 2);
  assert.notEqual(follower.generation(), before);
  await create(state.store, 'org_next');
  announce();
  await until(() => follower.position() === 2);
  assert.equal(seen.at(-1), 'org_next');
});

test('a store that is replaced a second time, before the follower has begun anew, is noticed', async (t) => {
  const { follower, state, announce } = following(t);
  await until(() => follower.position() === 0);
  for (const id of ['org_a', 'org_lost']) await create(state.store, id);
  announce();
  await until(() => follower.position() === 2);
  // The first read finds that a change is lost. The second one fails, and changes are lost and made again until the third.
  const [second, third] = [openStore(), openStore()];
  await create(second, 'org_a');
  for (const id of ['org_missed', 'org_b', 'org_c']) await create(third, id);
  const since: KeyStore['audit']['since'] = (sequence, limit) => {
    if (state.resets > 1) throw new Error('away');
    return second.audit.since(sequence, limit);
  };
  state.store = { ...second, audit: { ...second.audit, since } };
  announce();
  await until(() => follower.failure() !== undefined);
  assert.equal(follower.position(), undefined);
  state.store = third;
  announce();
  await until(() => follower.position() === 3);
  assert.equal(state.resets, 3);
});

test('a store that is replaced between two reads of a new beginning is noticed', async (t) => {
  const { follower, seen, state, announce } = following(t);
  await until(() => follower.position() === 0);
  for (const id of ['org_a', 'org_b', 'org_c']) await create(state.store, id);
  announce();
  await until(() => follower.position() === 3);
  const [second, third] = [openStore(), openStore()];
  for (const id of ['org_a', 'org_b']) await create(second, id);
  await create(third, 'org_x');
  state.store = {
    ...second,
    audit: { ...second.audit, since: (...asked) => (state.resets > 1 ? third : second).audit.since(...asked) },
  };
  announce();
  await until(() => follower.position() === 1);
  for (const id of ['org_next', 'org_y']) await create(third, id);
  announce();
  await until(() => follower.position() === 3);
  assert.deepEqual(seen.slice(-2), ['org_next', 'org_y']);
});

test('a failing announced read is known, and the next one that succeeds ends it', async (t) => {
  const { follower, state, announce } = following(t);
  await until(() => follower.position() === 0);
  const { store } = state;
  state.store = { ...store, audit: { ...store.audit, since: () => Promise.reject(new Error('away')) } };
  announce();
  await until(() => follower.failure()?.message === 'away');
  state.store = store;
  announce();
  await until(() => follower.failure() === undefined);
});

test('after the end the follower reads nothing and has no subscription', async (t) => {
  const { follower, state } = following(t, { pollMs: 2 });
  await until(() => state.reads > 1);
  follower.stop();
  await setTimeout(5);
  const { reads } = state;
  await setTimeout(20);
  assert.deepEqual([state.reads, state.subscribers], [reads, 0]);
});
