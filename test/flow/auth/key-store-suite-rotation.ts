// The part of the suite about rotation: one key takes over from another.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyStore } from '../../../gateway/auth/store/key-store.ts';
import type { StoredKey } from '../../../gateway/auth/store/stored-key.ts';
import { issue, organization, START_MS } from '../../unit/auth/samples.ts';
import type { Open } from './key-store-suite-open.ts';

const ENDS_AT_MS = START_MS + 60_000;

async function withKey(store: KeyStore, expiresAtMs?: number): Promise<StoredKey> {
  await store.organizations.create(organization(), 'me');
  const { record } = issue({ expiresAtMs });
  await store.keys.create(record);
  return record;
}

/** This key cannot be rotated: the store returns nothing and writes nothing. */
async function refuses(store: KeyStore, id: string): Promise<void> {
  const before = [await store.keys.list(), await store.audit.since(0, 100)];
  assert.equal(await store.keys.rotate(id, issue().record, ENDS_AT_MS), undefined);
  assert.deepEqual([await store.keys.list(), await store.audit.since(0, 100)], before);
}

export function rotationTests(name: string, open: Open): void {
  test(`${name}: a rotation makes the successor, and the key ends when the overlap does`, async (t) => {
    const store = await open(t);
    const old = await withKey(store);
    const { record: successor } = issue({ name: 'successor' });
    const rotated = { ...old, expiresAtMs: ENDS_AT_MS, replacedBy: successor.id };
    assert.deepEqual(await store.keys.rotate(old.id, successor, ENDS_AT_MS), rotated);
    assert.deepEqual(await store.keys.get(old.id), rotated);
    assert.deepEqual((await store.keys.findByDigest(old.digest))?.key, rotated);
    const found = await store.keys.findByDigest(successor.digest);
    assert.deepEqual(found, { key: successor, organization: organization() });
    assert.deepEqual(await store.keys.list({ organization: 'org_acme' }), [rotated, successor]);
  });

  test(`${name}: a rotation is one change, under the id of the key that ends`, async (t) => {
    const store = await open(t);
    const old = await withKey(store);
    const { latest } = await store.audit.since(0, 10);
    const { record: successor } = issue({ by: 'rota' });
    await store.keys.rotate(old.id, successor, ENDS_AT_MS);
    const { changes } = await store.audit.since(latest, 10);
    assert.deepEqual(
      changes.map(({ by, kind, key, organization: id, details }) => ({ by, kind, key, id, details })),
      [
        {
          by: 'rota',
          kind: 'key.rotated',
          key: old.id,
          id: 'org_acme',
          details: {
            successor: successor.id,
            ends_at: ENDS_AT_MS,
            before: { expires_at: null, replaced_by: null },
            after: { expires_at: new Date(ENDS_AT_MS).toISOString(), replaced_by: successor.id },
          },
        },
      ],
    );
  });

  test(`${name}: a key that ends before the overlap does keeps its end`, async (t) => {
    const store = await open(t);
    const old = await withKey(store, START_MS + 1000);
    const rotated = await store.keys.rotate(old.id, issue().record, ENDS_AT_MS);
    assert.equal(rotated?.expiresAtMs, START_MS + 1000);
    assert.equal((await store.keys.get(old.id))?.expiresAtMs, START_MS + 1000);
    assert.equal((await store.audit.list({ limit: 1 }))[0]?.details.ends_at, START_MS + 1000);
  });

  test(`${name}: a key that would have ended later ends with the overlap`, async (t) => {
    const store = await open(t);
    const old = await withKey(store, ENDS_AT_MS + 1);
    assert.equal((await store.keys.rotate(old.id, issue().record, ENDS_AT_MS))?.expiresAtMs, ENDS_AT_MS);
  });

  test(`${name}: a key that is revoked, expired, replaced or not there is not rotated`, async (t) => {
    const store = await open(t);
    await refuses(store, 'key_nobody');
    const revoked = await withKey(store);
    await store.keys.revoke(revoked.id, 'me', undefined);
    await refuses(store, revoked.id);
    const expired = await withKey(store, START_MS);
    await refuses(store, expired.id);
    const replaced = await withKey(store);
    await store.keys.rotate(replaced.id, issue().record, ENDS_AT_MS);
    await refuses(store, replaced.id);
  });

  test(`${name}: a successor can be rotated in its turn`, async (t) => {
    const store = await open(t);
    const old = await withKey(store);
    const [{ record: second }, { record: third }] = [issue(), issue()];
    await store.keys.rotate(old.id, second, ENDS_AT_MS);
    assert.equal((await store.keys.rotate(second.id, third, ENDS_AT_MS))?.replacedBy, third.id);
    assert.equal((await store.keys.get(old.id))?.replacedBy, second.id);
  });

  test(`${name}: of two rotations at once one makes a successor`, async (t) => {
    const store = await open(t);
    const old = await withKey(store);
    const successors = [issue().record, issue().record];
    const rotated = await Promise.all(successors.map((each) => store.keys.rotate(old.id, each, ENDS_AT_MS)));
    const winner = rotated.findIndex((each) => each !== undefined);
    assert.equal(rotated.filter((each) => each !== undefined).length, 1);
    assert.equal((await store.keys.get(old.id))?.replacedBy, successors[winner]?.id);
    assert.equal((await store.keys.list()).length, 2);
  });

  test(`${name}: a key can be revoked during the overlap`, async (t) => {
    const store = await open(t);
    const old = await withKey(store);
    const { record: successor } = issue();
    const rotated = await store.keys.rotate(old.id, successor, ENDS_AT_MS);
    const revoked = await store.keys.revoke(old.id, 'me', undefined);
    assert.deepEqual(revoked, { ...rotated, revokedAtMs: START_MS, revokedBy: 'me' });
    assert.deepEqual(await store.keys.get(successor.id), successor);
  });
}
