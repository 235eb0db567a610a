// To the mail server all of the gateway's clients have one address, and after a hundred failed logins a day it drops that address for good.
// The gateway refuses clients with too many failures long before.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SCANNED_PATHS } from '../../../sandbox/mail/bans.ts';
import { assertRefusal } from '../../support/errors.ts';
import { basic, newPassword, startMailWorld } from '../../support/mail.ts';
import { LIMIT_RUNS } from '../../unit/limits/scenarios.ts';

describe('wrong passwords of mail users', () => {
  let world: Awaited<ReturnType<typeof startMailWorld>>;
  const session = (address: string, user: string, password: string) =>
    world.call('GET /jmap/session', undefined, {
      Authorization: basic(user, password),
      'X-Forwarded-For': address,
      Host: 'jmap.test',
    });
  const panel = (address: string) =>
    world.call('GET /api/principal', undefined, {
      Authorization: basic('somebody', newPassword()),
      'X-Forwarded-For': address,
      Host: 'panel.test',
    });
  const calendar = (line: string, address: string, user: string, password: string) =>
    world.call(line, undefined, {
      Authorization: basic(user, password),
      'X-Forwarded-For': address,
      Host: 'mail.test',
    });
  const password = newPassword();

  before(async () => {
    world = await startMailWorld(
      {},
      {
        gateway: {
          trustedProxies: ['127.0.0.1'],
          hosts: { mail: 'mail.test', jmap: 'jmap.test', panel: 'panel.test' },
        },
      },
    );
    const created = await world.call('POST /api/principal', { name: 'dana', secrets: password }, { Host: 'localhost' });
    assert.equal(created.status, 200);
    assert.equal((await session('192.0.2.1', 'dana', password)).status, 200);
  });
  after(() => world.stop());

  it('are refused here once an address has failed too often, for JMAP and calendars together, and others are not', async () => {
    const codes: unknown[] = [];
    for (let i = 0; i < 20; i++) {
      const [user, guess] = [`user-${i}`, newPassword()];
      codes.push((await session('192.0.2.1', user, guess)).error.code);
      codes.push((await calendar('PROPFIND /dav/cal/', '192.0.2.1', user, guess)).error.code);
    }
    assert.ok(
      codes.slice(0, 10).every((code) => code === undefined),
      'the first ones get the refusal of the mail server',
    );
    assert.deepEqual(codes.slice(-2), ['auth_attempts_limited', 'auth_attempts_limited']);
    assert.equal(codes.filter((code) => code === undefined).length, 20);
    assert.equal((await session('192.0.2.1', 'dana', password)).status, 200, 'a password that was right goes on');
    assert.equal((await session('198.51.100.7', 'dana', newPassword())).status, 401);
  });

  it('are no wrong passwords where a calendar belongs to another user', async () => {
    for (let i = 0; i < 30; i++)
      assert.equal((await calendar('PROPFIND /dav/cal/robin/', '192.0.2.31', 'dana', password)).status, 403);
    assert.equal((await calendar('PROPFIND /dav/cal/dana/', '192.0.2.31', 'dana', password)).status, 207);
  });

  it('do not become right ones by an answer that needs no login', async () => {
    const freely = [
      ...['GET /.well-known/oauth-authorization-server', 'GET /.well-known/openid-configuration', 'GET /authorize'],
      ...['OPTIONS /dav/cal/', 'POST /auth/device'],
    ];
    const guesses = Array.from({ length: 120 }, (_, i) => [`2001:db8:${i.toString(16)}::1`, newPassword()] as const);
    for (const [i, [address, guess]] of guesses.entries()) {
      const line = freely[i % freely.length] as string;
      const headers = { Authorization: basic('victim', guess), 'X-Forwarded-For': address, Host: 'mail.test' };
      const { status } = await world.call(line, line.startsWith('POST') ? 'client_id=a' : undefined, headers);
      assert.equal(status, 200, line);
    }
    const before = world.mail.received.length;
    for (const [address, guess] of guesses) await session(address, 'victim', guess);
    assert.ok(world.mail.received.length - before <= 35, 'no more than failuresTotal');
  });

  it('from many addresses, on any host name, never get the gateway banned', async () => {
    for (let i = 0; i < 120; i++) {
      await session(`203.0.113.${i}`, 'somebody', newPassword());
      await panel(`203.0.113.${i}`);
    }
    assert.equal((await session('192.0.2.1', 'dana', password)).status, 200);
    assert.equal((await world.call('GET /api/principal', undefined, { Host: 'localhost' })).status, 200);
    const failed = world.mail.received.filter((line) => /session|principal|PROPFIND/.test(line)).length;
    // A request without a login cannot fail one, and goes on as before.
    const { status } = await world.call('GET /jmap/session', undefined, {
      Authorization: undefined,
      Host: 'jmap.test',
    });
    assert.equal(status, 200);
    assert.ok(failed < 100, `${failed} requests`);
  });
});

describe('a request that must not reach the mail server', () => {
  let world: Awaited<ReturnType<typeof startMailWorld>>;
  let turn = 0;
  /** One of them, each in its turn; all in the full run. */
  function shared<T>(all: readonly T[]): readonly T[] {
    const own = turn++ % all.length;
    return all.filter((_, index) => LIMIT_RUNS > 1 || index === own);
  }
  const servedStill = async () =>
    assert.equal((await world.call('GET /api/principal', undefined, { Host: 'localhost' })).status, 200);
  before(async () => {
    world = await startMailWorld({}, { gateway: { hosts: { panel: 'panel.test' } } });
  });
  after(() => world.stop());

  it('never reaches the mail server if its path is a pattern of the release, raw or encoded', async () => {
    const encoded = (path: string) => path.replace(/[^/]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
    const dots = (path: string) => path.replaceAll('.', '%2e');
    const places = [
      ['localhost', '/jmap/'],
      ['localhost', '/auth/'],
      ['panel.test', '/'],
    ] as const;
    for (const pattern of SCANNED_PATHS) {
      const scanned = pattern.replaceAll('*', 'a');
      for (const form of [scanned, scanned.toUpperCase(), encoded(scanned), dots(scanned)]) {
        for (const [Host, below] of shared(places)) {
          const path = `${below}${form}`;
          const { status } = await world.call(`GET ${path}`, undefined, { Host, Authorization: undefined });
          assert.ok(status >= 400 && status < 500, `${Host}${path} ${status}`);
        }
      }
    }
    assert.deepEqual(world.mail.received, []);
    await servedStill();
  });

  it('reaches it under another name if only the name of a download looks like a scanner’s', async () => {
    const password = newPassword();
    const { body } = await world.call(
      'POST /api/principal',
      { name: 'dana', secrets: password },
      { Host: 'localhost' },
    );
    const as = { Host: 'localhost', Authorization: basic('dana', password) };
    const account = `u${JSON.parse(String(body)).data}`;
    const uploaded = await world.call(`POST /jmap/upload/${account}/`, 'content', as);
    const { blobId } = JSON.parse(String(uploaded.body));
    const below = `/jmap/download/${account}/${blobId}`;
    const names = ['notes.php', 'wp-content.zip', 'php.txt', '.%2E.drupal', 'Joomla%20%22x%22', 'a.cgi', 'x.%70hp'];
    for (const Host of ['localhost', 'panel.test']) {
      for (const name of names) {
        const answer = await world.call(`GET ${below}/${name}?accept=text%2Fplain`, undefined, { ...as, Host });
        assert.deepEqual([answer.status, String(answer.body)], [200, 'content'], `${Host} ${name}`);
        assert.equal(world.mail.received.at(-1), `GET ${below}/file?accept=text%2Fplain`);
        assert.equal(
          decodeURIComponent(answer.headers['content-disposition'] ?? '').includes(decodeURIComponent(name)),
          true,
        );
      }
      const harmless = await world.call(`GET ${below}/photo.jpg`, undefined, { ...as, Host });
      assert.match(harmless.headers['content-disposition'] ?? '', /"photo\.jpg"/);
      assert.equal(world.mail.received.at(-1), `GET ${below}/photo.jpg`);
    }
    await servedStill();
  });

  it('never reaches it if a pattern of the release is elsewhere in the path of a download', async () => {
    const as = { Host: 'localhost', Authorization: world.administrator };
    for (const pattern of SCANNED_PATHS) {
      const scanned = pattern.replaceAll('*', 'a');
      for (const path of [
        `/jmap/download/${scanned}/c1/x`,
        `/jmap/download/u0/${scanned}/x`,
        `/jmap/download/u0/c1/x/${scanned}`,
        `/jmap/download/${scanned}`,
        `/jmap/download/!/!/${scanned}`,
      ])
        for (const method of shared(['GET', 'HEAD', 'POST', 'PROPFIND']))
          assert.ok((await world.call(`${method} ${path}`, undefined, as)).status >= 400, path);
    }
    const patterned = world.mail.received.filter((line) =>
      SCANNED_PATHS.some((one) => line.includes(one.replaceAll('*', ''))),
    );
    assert.deepEqual(patterned, []);
    await servedStill();
  });

  it('never reaches it if its HTTP library refuses the target', async () => {
    for (let i = 0; i < 40; i++) {
      const anonymous = { Host: 'localhost', Authorization: undefined };
      assert.equal((await world.call('GET /jmap/session?a=<b>', undefined, anonymous)).status, 200);
      const listed = await world.call('GET /api/principal?filter=<b>', undefined, { Host: 'localhost' });
      assert.equal(listed.status, 200, 'the query is encoded');
    }
    assert.ok(world.mail.received.includes('GET /jmap/session?a=%3Cb%3E'));
    await servedStill();
  });

  it('never reaches it if the lines of the gateway push the header lines beyond a hundred', async () => {
    const lines = (count: number) => ({
      ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-Line-${i}`, 'x'])),
      ...{ Host: 'localhost', Authorization: undefined },
    });
    const handshake = {
      ...{ Upgrade: 'websocket', Connection: 'Upgrade' },
      ...{ 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'x3JJHMbDL1EzLkh9GBhXDw==' },
    };
    const session = (count: number) => world.call('GET /jmap/session', undefined, lines(count));
    const upgrade = (count: number) => world.call('GET /jmap/ws', undefined, { ...lines(count), ...handshake });
    for (let count = 80; count < 95; count++) {
      for (const ask of [session, upgrade]) for (let i = 0; i < 4; i++) await ask(count);
    }
    assertRefusal(await session(90), 'headers_too_large');
    assert.equal((await session(80)).status, 200);
    await servedStill();
  });

  it('never reaches it if it is for the key that signs tokens, which the mail server publishes', async () => {
    const before = world.mail.received.length;
    assert.equal((await fetch(`${world.mail.url}/auth/jwks.json`)).status, 200);
    for (const Host of ['localhost', 'panel.test']) {
      for (const path of ['/auth/jwks.json', '/auth/%6Awks.json']) {
        const { status } = await world.call(`GET ${path}`, undefined, { Host, Authorization: undefined });
        assert.equal(status, 404, `${Host}${path}`);
      }
    }
    assert.equal(world.mail.received.length, before + 1);
  });

  it('never reaches it if only scanners use its path', async () => {
    const before = world.mail.received.length;
    const paths = [
      '/index.php',
      '/jmap/x.PHP7',
      '/wp-login',
      '/a/wp-admin/x',
      '/cgi-bin/sh',
      '/x.aspx',
      '/xmlrpc',
      '/Joomla/',
    ];
    for (const path of paths) {
      for (const Host of ['panel.test', 'localhost']) {
        const { status } = await world.call(`GET ${path}`, undefined, { Host });
        assert.ok(status >= 400 && status < 500, `${Host}${path} ${status}`);
      }
    }
    assert.equal(world.mail.received.length, before);
    await servedStill();
  });
});
