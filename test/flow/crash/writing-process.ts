// Runs as a process of its own beside a test, until it is killed: `writing-process.ts DIRECTORY RUN`. Writes to both embedded stores, and
// prints a line for each acknowledged write.

import { writeSync } from 'node:fs';
import { createSqliteKeyStore } from '../../../gateway/auth/store/sqlite/sqlite-key-store.ts';
import { createSqliteReplayStore as createAnswers } from '../../../gateway/replay/sqlite-store.ts';
import { issue, organization, pepperFingerprint } from '../../unit/auth/samples.ts';
import { claimOf } from '../replay/claim.ts';
import { keyOf, LEASE_MS, RECORD, RETENTION } from './written.ts';

const [directory = '', run = ''] = process.argv.slice(2);
const keys = createSqliteKeyStore({ directory, pepperFingerprint, now: Date.now });
const answers = createAnswers({ directory, now: Date.now, onChange: () => undefined });
const acknowledge = (line: string) => writeSync(1, `${line}\n`);

for (let number = 0; ; number += 1) {
  const id = `org_${run}_${number}`;
  await keys.organizations.create(organization({ id }), 'a process');
  acknowledge(`organization ${id}`);
  const { record } = issue({ organization: id });
  await keys.keys.create(record);
  acknowledge(`key ${record.id}`);
  if (number % 3 === 0) {
    await keys.keys.revoke(record.id, 'a process', undefined);
    acknowledge(`revoked ${record.id}`);
  }
  if (number % 4 === 0) {
    await keys.organizations.suspend(id, 'a process');
    acknowledge(`suspended ${id}`);
  }
  const key = keyOf(id);
  await answers.begin(key, claimOf('fingerprint', run, LEASE_MS));
  acknowledge(`begun ${id}`);
  await answers.finish(key, run, RECORD, RETENTION);
  acknowledge(`done ${id}`);
}
