// With `http.use-x-forwarded` the mail server bans client addresses and answers them 403. Calls of its administration carry no client
// address, so a ban concerns the tunnels alone, and never the credential of the gateway.

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { basic, newPassword, startMailWorld } from '../../support/mail.ts';

const BANNED = '192.0.2.1';
const OTHER = '198.51.100.7';

describe('a client address that the mail server has banned', () => {
  let world: Awaited<ReturnType<typeof startMailWorld>>;
  const list = (address: string) => world.call('GET /api/principal', undefined, { 'X-Forwarded-For': address });
  const fail = (address: string) =>
    world.call('GET /jmap/session', undefined, {
      Authorization: basic(`user at ${address}`, newPassword()),
      'X-Forwarded-For': address,
    });
  before(async () => {
    const options = { gateway: { trustedProxies: ['127.0.0.1'] } };
    world = await startMailWorld({}, options, { useForwarded: true, failuresMax: 2 });
    for (let i = 0; i < 3; i++) await fail(BANNED);
  });
  after(() => world.stop());

  it('gets 403 in tunnels, and administers principals as the others do', async () => {
    assert.equal((await fail(BANNED)).status, 403);
    assert.equal((await fail(OTHER)).status, 401);
    for (let i = 0; i < 3; i++) for (const address of [BANNED, OTHER]) assert.equal((await list(address)).status, 200);
  });

  it('does not reach the administration of the mail server', async () => {
    const { server } = world.mail.server;
    const seen: unknown[] = [];
    server.prependListener('request', ({ headers, url }: IncomingMessage) => {
      const { forwarded, ...others } = headers;
      seen.push([url, forwarded, Object.keys(others).filter((name) => /addr|-for$|-ip$/.test(name))]);
    });
    await list(OTHER);
    await fail(OTHER);
    assert.deepEqual(seen, [
      ['/api/principal?limit=50', 'proto=http;host="api.test"', []],
      ['/jmap/session', `for=${OTHER};proto=http;host="api.test"`, ['x-forwarded-for', 'x-real-ip']],
    ]);
  });
});
