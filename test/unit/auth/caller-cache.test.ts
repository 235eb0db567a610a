import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallerCache } from '../../../gateway/auth/caller-cache.ts';
import { caller, makeKey, organization } from './samples.ts';

function remembered(cache: ReturnType<typeof createCallerCache>, subject: string, org = 'org_a') {
  const keyHash = cache.hashOf(makeKey());
  cache.remember(keyHash, { caller: caller({ subject, organization: organization({ id: org }) }), usedAtMs: 0 });
  return keyHash;
}

test('neither side grows beyond its bound', () => {
  const cache = createCallerCache({ positiveMax: 3, negativeMax: 2 });
  for (let index = 0; index < 50; index += 1) {
    remembered(cache, `key_${index}`);
    cache.rememberAbsence(cache.hashOf(makeKey()));
  }
  assert.deepEqual(cache.sizes(), { callers: 3, absences: 2 });
});

test('absences never push out callers', () => {
  const cache = createCallerCache({ positiveMax: 2, negativeMax: 2 });
  const known = remembered(cache, 'key_1');
  for (let index = 0; index < 100; index += 1) cache.rememberAbsence(cache.hashOf(makeKey()));
  assert.ok(cache.find(known));
});

test('a dropped key does not drop any other', () => {
  const cache = createCallerCache({ positiveMax: 10, negativeMax: 10 });
  const [one, two] = [remembered(cache, 'key_1'), remembered(cache, 'key_2')];
  cache.dropKey('key_1');
  cache.dropKey('key_unknown');
  assert.equal(cache.find(one), undefined);
  assert.ok(cache.find(two));
});

test('a dropped organization takes all its keys and no others', () => {
  const cache = createCallerCache({ positiveMax: 10, negativeMax: 10 });
  const mine = [remembered(cache, 'key_1', 'org_a'), remembered(cache, 'key_2', 'org_a')];
  const other = remembered(cache, 'key_3', 'org_b');
  cache.dropOrganization('org_a');
  assert.deepEqual(mine.map(cache.find), [undefined, undefined]);
  assert.ok(cache.find(other));
});

test('an evicted entry can be remembered and dropped again', () => {
  const cache = createCallerCache({ positiveMax: 1, negativeMax: 1 });
  const first = remembered(cache, 'key_1');
  remembered(cache, 'key_2');
  const entry = { caller: caller({ subject: 'key_1', organization: organization({ id: 'org_a' }) }), usedAtMs: 0 };
  cache.remember(first, entry);
  cache.dropOrganization('org_a');
  assert.deepEqual(cache.sizes(), { callers: 0, absences: 0 });
});

test('hashes of one process mean nothing to another', () => {
  const options = { positiveMax: 1, negativeMax: 1 };
  const key = makeKey();
  assert.notEqual(createCallerCache(options).hashOf(key), createCallerCache(options).hashOf(key));
});
