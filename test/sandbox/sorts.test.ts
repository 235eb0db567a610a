// Every sort of every resource, against demonstration data and compared with the shown records.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMIT_RUNS } from '../unit/limits/scenarios.ts';
import { create, platformForFile, walk } from './support/platform.ts';

/** Of the records of a page. */
const PAGE = LIMIT_RUNS > 1 ? 7 : 23;

// biome-ignore lint/suspicious/noExplicitAny: records are compared member by member
type Shown = any;

const platform = await platformForFile();
const call = await platform.as('org_one');
await call('POST', '/_sandbox/seed');
// Some without a sort value, and some with the same one.
const { id: customer_id } = await create(call, 'customers', { name: 'Listener' });
for (let index = 0; index < 9; index += 1) {
  await create(call, 'communications', { customer_id, channel: 'sms', body: 'Not sent yet' });
  await create(call, 'guests', { name: 'Namesake' });
}

const sorts: Readonly<Record<string, Readonly<Record<string, (record: Shown) => string | number | null>>>> = {
  customers: { name: ({ name }) => name },
  jobs: { scheduled_at: (record) => record.scheduled_at },
  invoices: { amount: ({ amount }) => amount, due_on: (record) => record.due_on },
  technicians: { name: ({ name }) => name },
  memberships: { renews_on: (record) => record.renews_on },
  communications: { sent_at: (record) => record.sent_at },
  guests: { name: ({ name }) => name },
  experiences: { title: ({ title }) => title, price: ({ price }) => price.amount },
  bookings: { starts_at: (record) => record.starts_at },
};
const everySort = {
  created_at: (record: Shown) => record.created_at,
  updated_at: (record: Shown) => record.updated_at,
};

/** By value, records without one last in both directions, ties by identifier in the direction of the sort. */
function expectedOrder(records: Shown[], sortValue: (record: Shown) => string | number | null, descending: boolean) {
  const sign = descending ? -1 : 1;
  const compare = (a: string | number, b: string | number): number => (a < b ? -sign : a > b ? sign : 0);
  return records.toSorted((a, b) => {
    const [left, right] = [sortValue(a), sortValue(b)];
    if (left === null || right === null) return left === right ? compare(a.id, b.id) : left === null ? 1 : -1;
    return compare(left, right) || compare(a.id, b.id);
  });
}

for (const [resource, fields] of Object.entries(sorts)) {
  for (const [field, sortValue] of Object.entries({ ...everySort, ...fields })) {
    for (const direction of ['asc', 'desc']) {
      test(`${resource} sorted by ${field}_${direction} come in that order over all pages`, async () => {
        const all = (await walk(call, `/v1/${resource}?limit=100`)).records;
        const { records } = await walk(call, `/v1/${resource}?limit=${PAGE}&sort=${field}_${direction}`);
        const expected = expectedOrder(all, sortValue, direction === 'desc');
        assert.deepEqual(
          records.map(({ id }) => id),
          expected.map(({ id }) => id),
        );
      });
    }
  }
}

test('the default order is created_at_desc', async () => {
  const { body } = await call('GET', '/v1/jobs?limit=50');
  assert.deepEqual(body.data, (await call('GET', '/v1/jobs?limit=50&sort=created_at_desc')).body.data);
});

test('the sorts by nullable members were tested with missing values', async () => {
  for (const [resource, field] of [
    ['invoices', 'due_on'],
    ['memberships', 'renews_on'],
    ['communications', 'sent_at'],
  ]) {
    const { records } = await walk(call, `/v1/${resource}?limit=100`);
    const missing = records.filter((record) => (record as Shown)[String(field)] === null).length;
    assert.ok(missing > 0 && missing < records.length, `${resource}.${field}`);
  }
});
