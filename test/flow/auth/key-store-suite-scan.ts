// The part of the suite about reading everything, page by page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyStore } from '../../../gateway/auth/store/key-store.ts';
import { issue, organization } from '../../unit/auth/samples.ts';
import type { Open } from './key-store-suite-open.ts';

const BATCH = 1300;

/** More than a page of organizations, each with a key. */
async function fill(store: KeyStore): Promise<void> {
  for (const batch of ['b', 'a']) {
    const organizations = Array.from({ length: BATCH }, (_, index) => organization({ id: `org_${batch}_${index}` }));
    const keys = organizations.map(({ id }) => issue({ organization: id }).record);
    await store.seed(organizations, keys, 'me');
  }
}

async function pagesOf<T>(scan: AsyncIterable<readonly T[]>): Promise<(readonly T[])[]> {
  const pages = [];
  for await (const page of scan) pages.push(page);
  return pages;
}

export function scanTests(name: string, open: Open): void {
  test(`${name}: a scan of nothing is empty`, async (t) => {
    const { organizations, keys } = await open(t);
    assert.deepEqual((await pagesOf(organizations.scan())).flat(), []);
    assert.deepEqual((await pagesOf(keys.scan())).flat(), []);
  });

  test(`${name}: scans have everything once, in pages, and keys oldest first`, async (t) => {
    const store = await open(t);
    await fill(store);
    const keyPages = await pagesOf(store.keys.scan());
    assert.ok(keyPages.length > 1);
    assert.ok(keyPages.every(({ length }) => length <= BATCH));
    assert.deepEqual(keyPages.flat(), await store.keys.list());
    const organizationPages = await pagesOf(store.organizations.scan());
    assert.ok(organizationPages.length > 1);
    const byId = new Map(organizationPages.flat().map((each) => [each.id, each]));
    assert.equal(organizationPages.flat().length, 2 * BATCH);
    for (const each of await store.organizations.list()) assert.deepEqual(byId.get(each.id), each);
  });

  test(`${name}: a scan of keys goes on behind any key, of all or of one organization`, async (t) => {
    const store = await open(t);
    await fill(store);
    for (let count = 0; count < 3; count += 1) await store.keys.create(issue({ organization: 'org_a_7' }).record);
    const all = await store.keys.list();
    for (const index of [0, 499, 500, 999, 1000, all.length - 2, all.length - 1])
      assert.deepEqual((await pagesOf(store.keys.scan({ after: all[index]?.id }))).flat(), all.slice(index + 1));
    const organization = 'org_a_7';
    const own = await store.keys.list({ organization });
    assert.equal(own.length, 4);
    const behind = await pagesOf(store.keys.scan({ organization, after: own[1]?.id }));
    assert.deepEqual(behind.flat(), own.slice(2));
    for (const after of ['key_nobody', '', all[0]?.id])
      assert.deepEqual(await pagesOf(store.keys.scan({ organization, after })), []);
    assert.deepEqual(await pagesOf(store.keys.scan({ after: 'key_nobody' })), []);
  });

  test(`${name}: a part of the organizations is as in the whole list`, async (t) => {
    const { organizations, ...store } = await open(t);
    assert.deepEqual(await organizations.list({ limit: 5 }), []);
    await fill({ organizations, ...store });
    const all = await organizations.list();
    assert.deepEqual(
      all.map(({ id }) => id),
      all.map(({ id }) => id).sort(),
    );
    for (const limit of [1, 500, 501, 3000]) assert.deepEqual(await organizations.list({ limit }), all.slice(0, limit));
    for (const index of [0, 700, all.length - 1])
      assert.deepEqual(
        await organizations.list({ after: all[index]?.id, limit: 600 }),
        all.slice(index + 1, index + 601),
      );
    assert.deepEqual(await organizations.list({ after: 'org_b' }), all.slice(BATCH), 'no such id is needed');
  });

  test(`${name}: writing goes on during a scan, and the scan sees each earlier record once`, async (t) => {
    const store = await open(t);
    await fill(store);
    const expected = (await store.keys.list()).map(({ id }) => id);
    const seen: string[] = [];
    for await (const page of store.keys.scan()) {
      seen.push(...page.map(({ id }) => id));
      assert.equal(await store.keys.create(issue({ organization: 'org_a_0' }).record), true);
      await store.keys.revoke(expected.at(-1) ?? '', 'me', undefined);
    }
    const known = new Set(expected);
    assert.deepEqual(
      seen.filter((id) => known.has(id)),
      expected,
    );
  });

  test(`${name}: a scan may be left early`, async (t) => {
    const store = await open(t);
    await fill(store);
    for await (const page of store.organizations.scan()) {
      assert.ok(page.length > 0);
      break;
    }
    assert.equal(await store.organizations.create(organization({ id: 'org_after' }), 'me'), true);
  });
}
