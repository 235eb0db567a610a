// A lacking permission latches the credential as a wrong password does. Mended in the mail server, it has to come back by itself; a wrong
// password must not be tried again by itself.

import assert from 'node:assert/strict';
import { rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { askRedis } from '../../../gateway/redis/client.ts';
import { createLatchProbes } from '../../../gateway/upstream/credentials/latch-probes.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertRefusal } from '../../support/errors.ts';
import { basic, type Mail, type MailGateway, newPassword, startMail, startMailGateway } from '../../support/mail.ts';
import { startRedis } from '../../support/redis.ts';

const KEY = { organization: 'org_operator', operator: true, scopes: ['mail:read', 'mail:write'] };
const SECOND = 1000;

describe('an account of the gateway without a permission', () => {
  const password = newPassword();
  const root = newPassword();
  let mail: Mail;
  let gateway: MailGateway;
  let Authorization: string;
  let nowMs = Date.now();
  before(async () => {
    mail = await startMail(password, { administrator: () => ({ user: 'root', password: root }) });
    await atServer('POST', '', { name: 'admin', type: 'individual', secrets: [password] });
    gateway = await startMailGateway(mail.url, password, {}, { now: () => nowMs });
    Authorization = (await gateway.gateway.authorize(KEY)).authorization;
  });
  after(async () => {
    await gateway.stop();
    await mail.close();
  });

  async function atServer(method: string, path: string, body: unknown): Promise<void> {
    const headers = { authorization: basic('root', root), 'content-type': 'application/json' };
    const answer = await fetch(`${mail.url}/api/principal${path}`, { method, headers, body: JSON.stringify(body) });
    assert.equal('data' in ((await answer.json()) as object), true);
  }
  const role = (action: string) => atServer('PATCH', '/admin', [{ action, field: 'roles', value: 'admin' }]);
  const list = () => gateway.call('GET /api/principal', undefined, { Authorization });
  /** Requests of the gateway that reached the mail server during this work. */
  async function sentDuring(work: () => Promise<unknown>): Promise<number> {
    const count = () => mail.received.filter((line) => line.startsWith('GET')).length;
    const before = count();
    await work();
    return count() - before;
  }
  /** Several requests at once and afterwards, all refused. */
  async function refused(): Promise<void> {
    for (const answer of [...(await Promise.all([list(), list(), list()])), await list()])
      assertRefusal(answer, 'upstream_auth_failed');
  }

  it('is probed by single requests, after 30 seconds and after waits that double', async () => {
    assert.equal(await sentDuring(refused), 1);
    nowMs += 29 * SECOND;
    assert.equal(await sentDuring(refused), 0);
    nowMs += 2 * SECOND;
    assert.equal(await sentDuring(refused), 1);
    nowMs += 50 * SECOND;
    assert.equal(await sentDuring(refused), 0);
    nowMs += 11 * SECOND;
    assert.equal(await sentDuring(refused), 1);
  });

  it('serves again with the first probe after it has the permission', async () => {
    await role('addItem');
    assert.equal(await sentDuring(refused), 0);
    nowMs += 121 * SECOND;
    for (let i = 0; i < 5; i++) assert.equal((await list()).status, 200);
  });

  it('is tried at once if its secret is touched, on SIGHUP, and by `upstreams retry`', async () => {
    const retry = (name: string) =>
      fetch(`${gateway.gateway.adminUrl}/upstreams/retry?upstream=${name}&by=ada`, { method: 'POST' });
    const entries = async () => gateway.gateway.store.audit.list({ limit: 100 });
    const ways = [
      async () => {
        const file = join(gateway.secrets, 'stalwart_admin_credentials');
        utimesSync(file, new Date(), new Date(Date.now() + 5 * SECOND));
      },
      () => gateway.gateway.app.reload(),
      async () => {
        const answer = await retry('mail');
        assert.deepEqual(await answer.json(), { retried: ['mail'] });
        const [{ kind, by, details } = { kind: '', by: '', details: {} }] = await entries();
        assert.deepEqual([kind, by], ['upstream.retried', 'ada']);
        assert.deepEqual(details, {
          upstream: 'mail',
          before: { credential: 'refused' },
          after: { credential: 'unproven' },
          request_id: answer.headers.get('x-request-id'),
        });
      },
    ];
    for (const way of ways) {
      await role('removeItem');
      await refused();
      await role('addItem');
      assert.equal(await sentDuring(refused), 0);
      await way();
      assert.equal((await list()).status, 200);
    }
    // Only what has changed something is in the audit log.
    assert.deepEqual(await (await retry('mail')).json(), { retried: [] });
    assert.equal((await retry('post')).status, 404);
    assert.equal((await entries()).filter(({ kind }) => kind === 'upstream.retried').length, 1);
  });

  it('is never probed after a 401', async () => {
    await atServer('PATCH', '/admin', [{ action: 'set', field: 'secrets', value: newPassword() }]);
    assertRefusal(await list(), 'upstream_auth_failed');
    for (let i = 0; i < 30; i++) {
      nowMs += 3600 * SECOND;
      assert.equal(await sentDuring(refused), 0);
    }
  });
});

describe('the schedule of probes', () => {
  it('is shared in Redis, and one process gets each turn, even with a wrong clock', async () => {
    const redis = await startRedis();
    const aheadMs = [0, 2000 * 86_400 * SECOND];
    const latchedAtMs = Date.now();
    /** As if the last turn had been earlier. */
    const pass = (ms: number) =>
      askRedis(redis.url, 500, async (client) => {
        const state = JSON.parse((await client.get('credential-probes:mail')) ?? '');
        const sentAtMs = state.sentAtMs.map((at: number) => at - ms);
        await client.set(
          'credential-probes:mail',
          JSON.stringify({ ...state, nextAtMs: state.nextAtMs - ms, sentAtMs }),
        );
      });
    try {
      const processes = aheadMs.map((ahead) => {
        const probes = createLatchProbes(redis.url, '/nowhere');
        return {
          take: () => probes.take('mail', latchedAtMs + ahead, Date.now() + ahead),
          healed: () => probes.healed('mail', Date.now() + ahead),
        };
      });
      const turns = async () => (await Promise.all(processes.map(({ take }) => take()))).map(({ kind }) => kind).sort();
      assert.deepEqual(await turns(), ['wait', 'wait']);
      for (const waitMs of [31 * SECOND, 61 * SECOND, 121 * SECOND]) {
        await pass(waitMs);
        assert.deepEqual(await turns(), ['probe', 'wait']);
        assert.deepEqual(await turns(), ['wait', 'wait']);
      }
      const [usual, fast] = processes;
      const wait = await fast?.take();
      assert.ok((wait?.nextAtMs ?? 0) > Date.now() + (aheadMs[1] as number), 'by the clock of the process');
      await fast?.healed();
      assert.equal((await usual?.take())?.kind, 'healed');
    } finally {
      await redis.stop();
    }
  });

  it('lies in the data directory without Redis, and outlasts a restart', async () => {
    const directory = temporaryDirectory();
    const opened = () => createLatchProbes(undefined, directory);
    assert.equal((await opened().take('mail', 0, 0)).kind, 'wait');
    assert.deepEqual(await opened().take('mail', 0, 30_000), { kind: 'probe', nextAtMs: 90_000 });
    assert.deepEqual(await opened().take('mail', 0, 31_000), { kind: 'wait', nextAtMs: 90_000 });
    rmSync(directory, { recursive: true });
  });
});
