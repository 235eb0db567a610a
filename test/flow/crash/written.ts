// The writes of the process that is killed, and the records that it must have left behind.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSqliteKeyStore } from '../../../gateway/auth/store/sqlite/sqlite-key-store.ts';
import type { AnswerKey } from '../../../gateway/replay/replay-store.ts';
import { createSqliteReplayStore as createAnswers } from '../../../gateway/replay/sqlite-store.ts';
import { pepperFingerprint } from '../../unit/auth/samples.ts';
import { claimOf } from '../replay/claim.ts';

export const RECORD = Buffer.from('{"status":201}'.padEnd(3000));
/** Longer than any of these tests. */
export const LEASE_MS = 3_600_000;
export const RETENTION = { retainMs: 3_600_000, organizationBytesMax: 1_000_000_000 };
const AUDIT_MAX = 1_000_000;

export const keyOf = (organization: string): AnswerKey => ({
  organization,
  mode: 'live',
  digest: `digest of ${organization}`,
});

type Acknowledged = readonly (readonly [what: string, id: string])[];

/** Lets it write for so long after its first acknowledgement, kills it, and returns every acknowledged write. */
export async function writeAndKill(directory: string, run: string, forMs: number): Promise<Acknowledged> {
  const program = join(import.meta.dirname, 'writing-process.ts');
  const child = spawn(process.execPath, [program, directory, run], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await once(child.stdout, 'data');
  await sleep(forMs);
  child.kill('SIGKILL');
  await once(child, 'close');
  const lines = output.slice(0, output.lastIndexOf('\n')).split('\n');
  return lines.map((line) => line.split(' ') as [string, string]);
}

/** Throws when something that was acknowledged is gone, or something is there by half. */
export async function checkStores(directory: string, acknowledged: Acknowledged): Promise<void> {
  for (const file of ['gateway.db', 'idempotency.db']) {
    const database = new DatabaseSync(join(directory, file));
    assert.equal(database.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok', file);
    database.close();
  }
  const store = createSqliteKeyStore({ directory, pepperFingerprint, now: Date.now });
  const organizations = new Map((await store.organizations.list()).map((one) => [one.id, one]));
  const keys = new Map((await store.keys.list()).map((one) => [one.id, one]));
  const audit = await store.audit.list({ limit: AUDIT_MAX });
  await store.close();
  for (const [what, id] of acknowledged) {
    if (what === 'organization') assert.ok(organizations.has(id), `${what} ${id}`);
    else if (what === 'suspended') assert.equal(organizations.get(id)?.state, 'suspended', id);
    else if (what === 'key') assert.ok(keys.has(id), `${what} ${id}`);
    else if (what === 'revoked') assert.notEqual(keys.get(id)?.revokedAtMs, undefined, id);
  }
  // A change and its row in the audit log are there together, or neither is.
  const rows = (kind: string) => audit.filter((change) => change.kind === kind).length;
  assert.equal(rows('organization.created'), organizations.size);
  assert.equal(rows('key.created'), keys.size);
  assert.equal(rows('key.revoked'), [...keys.values()].filter(({ revokedAtMs }) => revokedAtMs !== undefined).length);
  const suspended = [...organizations.values()].filter(({ state }) => state === 'suspended');
  assert.equal(rows('organization.suspended'), suspended.length);
  for (const { organization } of keys.values()) assert.ok(organizations.has(organization), 'no key without an owner');
  await checkAnswers(directory, acknowledged);
}

async function checkAnswers(directory: string, acknowledged: Acknowledged): Promise<void> {
  const answers = createAnswers({ directory, now: Date.now, onChange: () => undefined });
  const done = new Set(acknowledged.flatMap(([what, id]) => (what === 'done' ? [id] : [])));
  for (const [what, id] of acknowledged) {
    if (what !== 'begun') continue;
    const begun = await answers.begin(keyOf(id), claimOf('fingerprint', 'another owner', 1));
    // The place of a write in progress stays taken until its lease is over; its last write may have succeeded without an acknowledgement.
    const possible = done.has(id) ? ['done'] : ['running', 'done'];
    assert.ok(possible.includes(begun.state), `${id} is ${begun.state}`);
    if (begun.state === 'done') assert.deepEqual(Buffer.from(begun.outcome ?? ''), RECORD, 'whole');
  }
  await answers.close();
}
