// Runs as a process of its own beside a test: `store-process.ts DIRECTORY TASK [COUNT]`.

import { createSqliteKeyStore } from '../../../gateway/auth/store/sqlite/sqlite-key-store.ts';
import { issue, organization, pepperFingerprint } from '../../unit/auth/samples.ts';

const [directory = '', task, count = '0'] = process.argv.slice(2);
const store = createSqliteKeyStore({ directory, pepperFingerprint, acceptOneWay: true, now: Date.now });

/** Organizations one by one, each with a key. */
async function create(): Promise<void> {
  for (let index = 0; index < Number(count); index += 1) {
    const id = `org_${process.pid}_${index}`;
    await store.organizations.create(organization({ id }), 'a process');
    await store.keys.create(issue({ organization: id }).record);
  }
}

/** Batches until this process is ended. */
async function seed(): Promise<never> {
  for (let batch = 0; ; batch += 1) {
    const many = Array.from({ length: 500 }, (_, index) => organization({ id: `org_${batch}_${index}` }));
    await store.seed(
      many,
      many.map(({ id }) => issue({ organization: id }).record),
      'a process',
    );
    process.stdout.write('.');
  }
}

await (task === 'seed' ? seed() : create());
await store.close();
