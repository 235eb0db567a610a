// `gateway upstreams try mail` against the mail server of the sandbox, at an address of its own as a real one has.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Finding } from '../../../gateway/commands/finding.ts';
import { runInProcess } from '../../support/in-process.ts';
import { ADMINISTRATOR, basic, type Mail, newPassword, startMail } from '../../support/mail.ts';

const password = newPassword();
let mail: Mail;
let directory: string;
before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'upstreams-try-mail-'));
  mail = await startMail(password);
});
after(async () => {
  await mail.close();
  rmSync(directory, { recursive: true });
});

interface Told {
  readonly code: number;
  readonly checks: readonly Finding[];
}

async function tryMail(...flags: readonly string[]): Promise<Told> {
  const environment = {
    GATEWAY_DATA: join(directory, 'data'),
    STALWART_ADMIN_CREDENTIALS: `${ADMINISTRATOR}:${password}`,
  };
  const words = ['upstreams', 'try', 'mail', '--json', '--target', mail.url, ...flags];
  const { code, stdout, stderr } = await runInProcess(words, { environment });
  assert.notEqual(stdout, '', stderr);
  return { code, ...(JSON.parse(stdout) as Omit<Told, 'code'>) };
}

async function principals(): Promise<unknown> {
  const headers = { authorization: basic(ADMINISTRATOR, password) };
  const answer = await fetch(`${mail.url}/api/principal?fields=name`, { headers });
  return answer.json();
}

describe('a trial with writes', () => {
  it('creates principals, and leaves none behind', async () => {
    const before = await principals();
    const { checks } = await tryMail('--writes');
    const records = checks.find(({ check }) => check === 'records');
    assert.deepEqual([records?.verdict, await principals()], ['ok', before]);
    const deleted = mail.received.filter((line) => line.startsWith('DELETE '));
    assert.ok(mail.received.some((line) => line.startsWith('POST ')) && deleted.length > 1, deleted.join());
  });
});
