// The list of principals: pages, types, search and fields, each as lenient as the real server is.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { mailFor } from './support/mail.ts';

const { call, create } = await mailFor({ after });
await create({ type: 'domain', name: 'example.org' });
await create({ name: 'zoe', description: 'Sales team', emails: ['zoe@example.org'], secrets: ['plain'] });
await create({ name: 'adam', description: 'Sales', roles: ['user'] });
await create({ type: 'group', name: 'émile' });
await create({ type: 'list', name: 'brief' });

const list = async (query: string) => (await call('GET', `/api/principal${query}`)).body;
const namesIn = async (query: string) => (await list(query)).data.items.map(({ name }: { name: string }) => name);

test('all come in ascending order of the bytes of their names, with secrets', async () => {
  const { data } = await list('');
  assert.deepEqual(data.total, 5);
  assert.deepEqual(data.items[4].name, 'émile');
  assert.deepEqual(await namesIn(''), ['adam', 'brief', 'example.org', 'zoe', 'émile']);
  assert.deepEqual(data.items[3].secrets, ['plain']);
});

test('a page is counted from one, zero is the first, and the total counts all', async () => {
  assert.deepEqual(await namesIn('?limit=2'), ['adam', 'brief']);
  assert.deepEqual(await namesIn('?limit=2&page=0'), ['adam', 'brief']);
  assert.deepEqual(await namesIn('?limit=2&page=1'), ['adam', 'brief']);
  assert.deepEqual(await namesIn('?limit=2&page=3'), ['émile']);
  assert.deepEqual(await namesIn('?limit=2&page=9'), []);
  assert.equal((await list('?limit=2&page=9')).data.total, 5);
});

test('an unreadable parameter counts as absent, and a repeated parameter keeps its last value', async () => {
  for (const query of ['?limit=x&page=y', '?limit=', '?limit=-1', '?limit=1.5', '?limit=1&limit=0', '?colour=red'])
    assert.equal((await namesIn(query)).length, 5, query);
  assert.equal((await namesIn('?limit=0&limit=1')).length, 1);
});

test('types select, unknown ones are dropped, and none that is known is no filter', async () => {
  assert.deepEqual(await namesIn('?types=list,group,cars'), ['brief', 'émile']);
  assert.deepEqual(await namesIn('?type=list'), ['brief']);
  assert.equal((await namesIn('?types=cars,other')).length, 5);
  assert.deepEqual(await list('?types=tenant'), { error: 'unsupported', details: 'Enterprise feature' });
});

test('the filter matches whole words, all of them, from name, description and addresses', async () => {
  assert.deepEqual(await namesIn('?filter=SALES'), ['adam', 'zoe']);
  assert.deepEqual(await namesIn('?filter=sales+team'), ['zoe']);
  assert.deepEqual(await namesIn('?filter=sal'), []);
  assert.deepEqual(await namesIn('?filter=example'), ['example.org', 'zoe']);
  assert.deepEqual(await namesIn('?filter=-'), [], 'no word is found');
  assert.deepEqual(
    await namesIn('?filter=none+SALES'),
    ['adam', 'zoe'],
    'a first word that matches nothing is ignored',
  );
  assert.deepEqual(await namesIn('?filter=sales+none'), []);
});

test('fields select, number and type are always there, and no field that is known is all of them', async () => {
  const itemOf = async (fields: string) =>
    (await list(`?types=individual&limit=1&page=2&fields=${fields}`)).data.items[0];
  const { id, type } = await itemOf('name');
  assert.deepEqual(await itemOf('name'), { id, type, name: 'zoe' });
  assert.deepEqual(await itemOf('emails,roles,colour'), { id, type, emails: ['zoe@example.org'] });
  assert.deepEqual((await itemOf('colour')).secrets, ['plain']);
});

test('any count is the total alone', async () => {
  assert.deepEqual(await list('?count=0&types=individual'), { data: { items: [], total: 2 } });
  assert.equal((await list('?count=')).data.items.length, 5);
});

test('a principal that goes between finding and loading fails the whole call with its name', async (context) => {
  const slow = await mailFor(context, { answerDelayMs: 60 });
  await slow.create({ name: 'ghost' });
  await slow.create({ name: 'solid' });
  const arrived = once(slow.mail.server, 'request');
  const listed = slow.call('GET', '/api/principal?fields=emails');
  await arrived;
  const removed = slow.call('DELETE', '/api/principal/ghost');
  const { status, body } = await listed;
  assert.deepEqual([status, body], [200, { error: 'notFound', item: 'ghost' }]);
  assert.deepEqual((await removed).body, { data: null });
});
