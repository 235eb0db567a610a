// The gateway refuses guesses of the administrator's password itself, and soon does not answer them; other clients are not affected.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRefusal } from '../../support/errors.ts';
import { ADMINISTRATOR, basic, newPassword, startMailWorld } from '../../support/mail.ts';

const FAILURES = 20;

describe('a hundred wrong passwords from one address', () => {
  let world: Awaited<ReturnType<typeof startMailWorld>>;
  const from = (address: string, Authorization: string) =>
    world.call('GET /api/principal', undefined, { Authorization, 'X-Forwarded-For': address });
  const codes = new Map<unknown, number>();

  before(async () => {
    world = await startMailWorld(
      {},
      {
        gateway: { trustedProxies: ['127.0.0.1'] },
        limits: { addresses: { failures: FAILURES, windowSeconds: 60 } },
      },
    );
    for (let i = 0; i < 100; i++) {
      const user = i % 3 === 0 ? `${ADMINISTRATOR}${i}` : ADMINISTRATOR;
      const { error } = await from('192.0.2.1', basic(user, newPassword()));
      codes.set(error.code, (codes.get(error.code) ?? 0) + 1);
    }
  });
  after(() => world.stop());

  it('are refused, then not even looked at', () => {
    assert.deepEqual(Object.fromEntries(codes), {
      basic_credentials_invalid: FAILURES,
      auth_attempts_limited: 100 - FAILURES,
    });
  });

  it('never reach the mail server', () => {
    assert.deepEqual(world.mail.received, []);
  });

  it('block the address even for the right password, because guessing could continue', async () => {
    assertRefusal(await from('192.0.2.1', world.administrator), 'auth_attempts_limited');
    assert.deepEqual(world.mail.received, []);
  });

  it('shut no other client out', async () => {
    assert.equal((await from('198.51.100.7', world.administrator)).status, 200);
  });

  it('do not shut out a key that is known, behind the same address', async () => {
    const key = { organization: 'org_operator', operator: true, scopes: ['mail:read'] };
    const { authorization } = await world.gateway.authorize(key);
    assert.equal((await from('198.51.100.8', authorization)).status, 200);
    assert.equal((await from('192.0.2.1', authorization)).status, 200);
  });
});
