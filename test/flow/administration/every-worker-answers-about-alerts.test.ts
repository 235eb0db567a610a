// Alerts and silences are those of the primary process, whichever worker a request comes to.

import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { administerAt } from '../../support/administration.ts';
import { runInProcess } from '../../support/in-process.ts';
import { eventually, startSeveral } from '../workers/several.ts';

const several = await startSeveral({ withOwnContract: true });
after(() => several.close());

it('shows a silence through either worker, and notes its author', async () => {
  const run = async (...words: string[]) => {
    const { code, stdout, stderr } = await runInProcess([...words, '--json'], { environment: several.environment });
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  await run('orgs', 'create', '--id', 'org_staff', '--name', 'Staff', '--tier', 'standard', '--operator');
  const scopes = ['gateway:alerts:read', 'gateway:alerts:write'];
  const { key, id } = await run('keys', 'create', '--org', 'org_staff', '--mode', 'live', '--scopes', ...scopes);
  // Each request has a connection of its own, which the workers take in turn.
  // A primary that is busy for more than a second is away for its workers: the caller asks again, as 503 tells it to.
  const call = (line: string, body?: object) =>
    eventually(async () => {
      const answer = await administerAt(several)(line, { key, body, headers: { connection: 'close' } });
      return answer.headers.get('x-error-code') !== 'records_unavailable' && answer;
    });
  const made = await call('POST /gateway/v1/alerts/silence', { causes: 'redis', seconds: 3600 });
  assert.equal(made.status, 200, made.text);
  const ids: string[] = [made.headers.get('x-request-id') ?? ''];
  for (let count = 0; count < 8; count += 1) {
    const { body, headers } = await call('GET /gateway/v1/alerts');
    ids.push(headers.get('x-request-id') ?? '');
    assert.deepEqual(
      body.silences.map(({ causes, by }: Record<string, string>) => [causes, by]),
      [['redis', id]],
    );
  }
  const [change] = await several.store.audit.list({ limit: 1 });
  assert.deepEqual([change?.kind, change?.by], ['alerts.silenced', id]);
  const workers = () =>
    new Set(
      several.logLines().flatMap(({ request_id: one, worker }) => (ids.includes(String(one)) ? [String(worker)] : [])),
    );
  await eventually(() => workers().size === 2);
});
