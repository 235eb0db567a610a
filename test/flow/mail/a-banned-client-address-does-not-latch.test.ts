// With `http.use-x-forwarded` the mail server bans client addresses. Its 403 to one of them is about that client, not about the credential
// of the gateway: the other clients go on.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRefusal } from '../../support/errors.ts';
import { basic, newPassword, startMailWorld } from '../../support/mail.ts';

const BANNED = '192.0.2.1';
const OTHER = '198.51.100.7';

describe('a client address that the mail server has banned', () => {
  let world: Awaited<ReturnType<typeof startMailWorld>>;
  const list = (address: string) => world.call('GET /api/principal', undefined, { 'X-Forwarded-For': address });
  const fail = (address: string) =>
    world.call('GET /jmap/session', undefined, {
      Authorization: basic('dana', newPassword()),
      'X-Forwarded-For': address,
    });
  before(async () => {
    const options = { gateway: { trustedProxies: ['127.0.0.1'] } };
    world = await startMailWorld({}, options, { useForwarded: true, failuresMax: 2 });
    for (let i = 0; i < 3; i++) await fail(BANNED);
  });
  after(() => world.stop());

  it('gets 403, and the others are served as before', async () => {
    assertRefusal(await list(BANNED), 'upstream_rejected', 403);
    assert.equal((await list(OTHER)).status, 200);
    for (let i = 0; i < 3; i++) assertRefusal(await list(BANNED), 'upstream_rejected', 403);
    assert.equal((await list(OTHER)).status, 200);
  });
});
