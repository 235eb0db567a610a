// Lists stay fast with many records because an index serves each: SQLite's own plan is read, for every equality filter in every order, so
// that an index that is silently no longer usable is noticed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RESOURCES } from '../../sandbox/catalogue.ts';
import { createCursors } from '../../sandbox/cursor.ts';
import { type Database, openDatabase } from '../../sandbox/database.ts';
import { createList } from '../../sandbox/list.ts';
import { sortsOf } from '../../sandbox/resource.ts';
import { schemaOf } from '../../sandbox/schema.ts';

interface Step {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

const real = openDatabase(':memory:', schemaOf(Object.values(RESOURCES)));
const plans: Step[][] = [];
const watched: Database = {
  ...real,
  all(sql, ...values) {
    plans.push(real.all<Step>(`EXPLAIN QUERY PLAN ${sql}`, ...values));
    return real.all(sql, ...values);
  },
};
const list = createList(watched, createCursors('only for tests'));
const values: Readonly<Record<string, string>> = {
  email: 'a@example.com',
  phone: '%2B15551',
  active: 'true',
  vip: 'true',
};
const chosen: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  jobs: { status: 'scheduled' },
  invoices: { status: 'open' },
  memberships: { status: 'active' },
  communications: { status: 'sent', channel: 'sms' },
  technicians: { kind: 'employee' },
  bookings: { status: 'pending' },
};

for (const resource of Object.values(RESOURCES)) {
  const equalities = Object.entries(resource.filters).filter(([, { comparison }]) => comparison === 'equals');
  const filters = equalities.map(([name]) => `&${name}=${chosen[resource.name]?.[name] ?? values[name] ?? 'x'}`);

  test(`${resource.name}: a page is read along an index, filtered or not, in every order`, () => {
    for (const sort of Object.keys(sortsOf(resource))) {
      for (const direction of ['asc', 'desc']) {
        for (const filter of ['', ...filters]) {
          plans.length = 0;
          list('live:org_one', resource, `sort=${sort}_${direction}${filter}`);
          for (const plan of plans) {
            const page = plan.find(({ detail }) => detail.includes('MATERIALIZE page'));
            const steps = plan.filter(({ parent }) => parent === page?.id).map(({ detail }) => detail);
            assert.match(steps.join('; '), /^SEARCH \w+ USING (COVERING )?INDEX \w+ \([^)]*\)$/, `${sort} ${filter}`);
          }
        }
      }
    }
  });

  test(`${resource.name}: derived values are looked up by an index too`, () => {
    plans.length = 0;
    list('live:org_one', resource, '');
    const scanned = plans
      .flat()
      .filter(({ detail }) => detail.startsWith('SCAN') && !/SCAN (page|CONSTANT)/.test(detail));
    assert.deepEqual(scanned, []);
    const lookups = plans.flat().filter(({ detail }) => /SEARCH (jobs|bookings) /.test(detail));
    if (Object.keys(resource.derived).length > 0) {
      for (const { detail } of lookups) assert.match(detail, /scope=\? AND <expr>=\?/);
      assert.ok(lookups.length > 0);
    }
  });
}
