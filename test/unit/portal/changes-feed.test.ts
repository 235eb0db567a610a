import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChangesEntry } from '../../../gateway/portal/changes/entries.ts';
import { changesFeed } from '../../../gateway/portal/changes/feed.ts';

const operation = (id: string, isForOperators: boolean) => ({ operation: { id }, isForOperators });
const contract = {
  reference: { name: 'v1', title: 'Things' },
  operations: [operation('listThings', false), operation('retryUpstream', true)],
  clientOperations: 1,
};

function entryOf(id: string, ...operations: string[]): ChangesEntry {
  const changes = operations.map((one) => ({
    ...{ rule: 'operation-added', level: 'additive', text: 'the operation is new' },
    operations: [{ id: one, at: `GET /v1/${one}` }],
  }));
  const publication = { day: '2026-11-20', contract: 'v1', operations: 2, changes };
  return { id, day: new Date('2026-11-20T00:00:00Z'), contract, publication } as unknown as ChangesEntry;
}

test('a feed leaves out what only operators may use, and publications that have nothing else', () => {
  const entries = [entryOf('both', 'listThings', 'retryUpstream'), entryOf('operators', 'retryUpstream')];
  const feed = changesFeed(entries, { title: 'T', publicUrl: 'https://api.test', path: '/docs/changes.atom' });
  assert.deepEqual(feed.match(/<id>[^<]*#[^<]*<\/id>/g), ['<id>https://api.test/docs/changes#both</id>']);
  assert.match(feed, /<title>Things: 1 change<\/title>/);
  assert.match(feed, /listThings/);
  assert.doesNotMatch(feed, /retryUpstream/);
});
