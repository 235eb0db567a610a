// A mail server takes a user name and a password in several forms: as Basic, and as a Bearer token that begins with `api_`. A gateway that
// counts only one of them lets an attacker guess in the other until the mail server bans the gateway. Here every form is guessed at, in
// every spelling, over requests and over handshakes of WebSockets.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ask, requestOf } from '../support/connection.ts';
import { newPassword, startMailWorld } from '../support/mail.ts';

const pair = (user: string) => Buffer.from(`${user}:${newPassword()}`).toString('base64');
const forms: readonly (readonly [what: string, of: (user: string) => string])[] = [
  ['Basic', (user) => `Basic ${pair(user)}`],
  ['basic, in lower case', (user) => `basic ${pair(user)}`],
  ['a key as a Bearer token', (user) => `Bearer api_${pair(user)}`],
  ['the same in lower case', (user) => `bearer api_${pair(user)}`],
  ['the same in upper case', (user) => `BEARER api_${pair(user)}`],
  ['the same after many spaces', (user) => `Bearer    api_${pair(user)}`],
  ['the same with a space behind it', (user) => `Bearer api_${pair(user)} `],
];

describe('guesses through the tunnels of the mail server', () => {
  let world: Awaited<ReturnType<typeof startMailWorld>>;
  before(async () => {
    world = await startMailWorld(
      {},
      {
        gateway: {
          trustedProxies: ['127.0.0.1'],
          hosts: { mail: 'mail.test', jmap: 'jmap.test', panel: 'panel.test' },
        },
      },
      // The bans are not what is tested: each failure has to be counted here.
      { failuresMax: 1_000_000 },
    );
  });
  after(() => world.stop());

  const guess = (line: string, Host: string, from: string, Authorization: string, more: Record<string, string> = {}) =>
    ask(world.gateway.port, requestOf(line, { Host, Authorization, 'X-Forwarded-For': from, ...more }));

  for (const [what, credential] of forms) {
    it(`reach the panel five times from an address as ${what}`, async (t) => {
      // The failures of all addresses count together, so each form needs a gateway.
      const own = await startMailWorld(
        {},
        { gateway: { trustedProxies: ['127.0.0.1'], hosts: { panel: 'panel.test' } } },
        { failuresMax: 1_000_000 },
      );
      t.after(own.stop);
      const statuses: number[] = [];
      for (let i = 0; i < 60; i++) {
        const Authorization = credential(`user-${i}`);
        const headers = { Host: 'panel.test', Authorization, 'X-Forwarded-For': '192.0.2.1' };
        statuses.push((await ask(own.gateway.port, requestOf('GET /api/principal', headers))).status);
      }
      assert.deepEqual(statuses.slice(0, 6), [401, 401, 401, 401, 401, 429]);
      assert.equal(own.mail.received.length, 5);
    });
  }

  it('count together, whichever form each has, for requests, uploads, calendars and handshakes', async () => {
    const from = '192.0.2.77';
    const upgrade = {
      ...{ Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' },
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    const ways: readonly ((as: string) => ReturnType<typeof guess>)[] = [
      (as) => guess('GET /jmap/session', 'jmap.test', from, as),
      (as) => guess('POST /jmap/', 'mail.test', from, as),
      (as) => guess('GET /jmap/ws', 'jmap.test', from, as, upgrade),
      (as) => guess('GET /jmap/eventsource/', 'localhost', from, as),
      (as) => guess('POST /jmap/upload/u1/', 'localhost', from, as, { 'Content-Length': '0' }),
      (as) => guess('PROPFIND /dav/cal/', 'mail.test', from, as),
    ];
    const before = world.mail.received.length;
    let refused = 0;
    for (let i = 0; i < 90; i++) {
      const [, credential] = forms[i % forms.length] as (typeof forms)[number];
      const way = ways[i % ways.length] as (typeof ways)[number];
      const { status } = await way(credential(`user-${i}`));
      if (status === 429) refused++;
      else assert.equal(status, 401);
    }
    assert.equal(refused, 70, 'failures of the mail users: 20 for an address');
    // A handshake is no request of the kind that is listed there.
    assert.ok(world.mail.received.length - before <= 20);
  });

  it('are no guesses as tokens of the mail server, which fail whenever they have expired', async () => {
    for (let i = 0; i < 60; i++) {
      const { status } = await guess('GET /jmap/session', 'jmap.test', `192.0.2.${i % 3}`, `Bearer ${newPassword()}`);
      assert.equal(status, 401);
    }
  });

  it('are refused here with two credentials at once, in either order', async () => {
    const before = world.mail.received.length;
    const token = 'Authorization: Bearer abc';
    const password = `Authorization: Bearer api_${pair('user')}`;
    for (const lines of [`${token}\r\n${password}`, `${password}\r\n${token}`]) {
      const head = `GET /api/principal HTTP/1.1\r\nHost: panel.test\r\n${lines}\r\n\r\n`;
      assert.equal((await ask(world.gateway.port, head)).status, 400);
    }
    assert.equal(world.mail.received.length, before);
  });
});
