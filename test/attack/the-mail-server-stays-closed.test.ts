// The mail server's whole administration lies behind two paths of one contract. One more path, parameter or spelling, and a request could
// erase every mailbox (`DELETE /api/principal?type=individual&confirm=true`), change its configuration, or reload it: some of its GETs
// change state, it ignores the path after a name (`/api/principal/alice/anything` is alice), it reads an empty name where a path ends in a
// slash, and it still routes every unknown path under `/api`. The defence is that only the five operations are sent, with the parameters of
// the contract and a name that is one segment; everything else ends at the gateway, for every caller.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { ask, requestOf } from '../support/connection.ts';
import { bodyOf, startMailWorld } from '../support/mail.ts';

const world = await startMailWorld();
const key = { organization: 'org_operator', operator: true, scopes: ['mail:read', 'mail:write', '*'] };
const callers = [world.administrator, (await world.gateway.authorize(key)).authorization];
await world.call('POST /api/principal', { name: 'alice' });
after(() => world.stop());

/** As it is written: no client library that would tidy it up. */
const raw = (line: string, Authorization: string, body?: string) =>
  ask(
    world.gateway.port,
    requestOf(line, { Authorization, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) }, body),
  );

async function neverArrives(line: string, body?: string): Promise<void> {
  const before = world.mail.received.length;
  for (const authorization of callers) {
    const { status, headers } = await raw(line, authorization, body);
    assert.ok(status >= 400 && status < 500, `${line}: ${status}`);
    assert.ok(headers['x-error-code'], line);
  }
  assert.deepEqual(world.mail.received.slice(before), [], line);
}

describe('the bulk delete', () => {
  const bulk = 'type=individual&confirm=true';
  const spellings = [
    ...[`/api/principal?${bulk}`, `/api/principal/?${bulk}`, `/api/principal//?${bulk}`, `/api//principal?${bulk}`],
    ...[`//api/principal?${bulk}`, `/api/./principal?${bulk}`, `/api/principal/.?${bulk}`, `/api/principal/..?${bulk}`],
    ...[`/api/principal/%2e?${bulk}`, `/api/principal/%2E%2E?${bulk}`, `/api/x/../principal?${bulk}`],
    ...[
      `/api/principal%2F?${bulk}`,
      `/api%2Fprincipal?${bulk}`,
      `/api/principal/%2F?${bulk}`,
      `/api/principal;?${bulk}`,
    ],
    ...[`/api/PRINCIPAL?${bulk}`, `/API/principal?${bulk}`, `/Api/Principal?${bulk}`, `/api/princip%61l?${bulk}`],
    ...[
      `/%61pi/principal?${bulk}`,
      `/api/principal/alice?${bulk}`,
      `/api/principal/%00?${bulk}`,
      `/api/principal/%20/?${bulk}`,
    ],
    ...[`/api/principal/alice/?${bulk}`, `/api/principal/alice/bob?${bulk}`, `http://mail/api/principal?${bulk}`],
    ...[
      '/api/principal?confirm=true',
      '/api/principal?Type=individual&Confirm=true',
      '/api/principal?%74ype=individual&confirm=true',
    ],
    ...['/api/principal', '/api/principal/', `/v1/api/principal?${bulk}`, `/jmap/../api/principal?${bulk}`],
    ...[`/jmap/%2e%2e/api/principal?${bulk}`, `/jmap/..%2fapi/principal?${bulk}`, `/auth/../api/principal?${bulk}`],
  ];
  for (const spelling of spellings) it(`does not arrive as ${spelling}`, () => neverArrives(`DELETE ${spelling}`));

  it('does not arrive by another method that is overridden', async () => {
    const before = world.mail.received.length;
    for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
      const headers = { Authorization: world.administrator, [name]: 'DELETE', 'Content-Type': 'application/json' };
      await ask(world.gateway.port, requestOf(`POST /api/principal?${bulk}`, headers, '{"name":"x"}'));
      const passed = await ask(world.gateway.port, requestOf('GET /api/principal', headers));
      assert.equal(passed.status, 200);
    }
    assert.deepEqual([...new Set(world.mail.received.slice(before))], ['GET /api/principal?limit=50']);
  });
});

describe('everything else of the administration', () => {
  const others = [
    ...['POST /api/principal/deploy', 'PUT /api/principal', 'PUT /api/principal/alice', 'PATCH /api/principal'],
    ...['POST /api/principal/alice', 'GET /api/principal/alice/anything', 'DELETE /api/principal/alice/anything'],
    ...['GET /api/reload', 'GET /api/reload/', 'GET /api/reload/server.blocked-ip', 'GET /api/reload/certificate'],
    ...[
      'GET /api/update/spam-filter',
      'GET /api/update/webadmin',
      'GET /api/store/purge/data',
      'GET /api/store/reindex/all',
    ],
    ...['GET /api/spam-filter/train/reset', 'GET /api/settings/list', 'POST /api/settings', 'DELETE /api/settings/x'],
    ...['GET /api/queue/messages', 'PATCH /api/queue/status/stop', 'DELETE /api/queue/messages', 'GET /api/logs'],
    ...['GET /api/dkim', 'POST /api/dkim', 'GET /api/restart', 'GET /api/account/auth', 'POST /api/account/crypto'],
    ...[
      'POST /api/oauth',
      'GET /api/troubleshoot/token',
      'GET /api/telemetry/metrics/live',
      'GET /api/nothing',
      'GET /api',
    ],
    ...[
      'GET /api/',
      'GET /',
      'GET /login',
      'GET /admin',
      'GET /manage/directory',
      'GET /dav/cal/alice',
      'PROPFIND /dav/card/alice',
    ],
    ...[
      'GET /metrics/prometheus',
      'GET /healthz/live',
      'POST /form',
      'POST /autodiscover/autodiscover.xml',
      'GET /index.php',
    ],
    ...[
      'GET /.well-known/caldav',
      'GET /robots.txt',
      'GET /jmap/index.php',
      'GET /auth/wp-login',
      'POST /jmap/..%5c..%5capi',
    ],
    ...['TRACE /api/principal', 'CONNECT /api/principal', 'PROPFIND /api/principal'],
  ];
  for (const line of others)
    it(`does not arrive: ${line}`, async () => {
      const method = line.split(' ')[0] as string;
      const body = ['POST', 'PUT', 'PATCH'].includes(method) ? '{}' : undefined;
      const before = world.mail.received.length;
      for (const authorization of callers) {
        const { status } = await raw(line, authorization, body);
        assert.ok(status >= 400 && status <= 501, `${status}`);
      }
      assert.deepEqual(world.mail.received.slice(before), []);
    });

  it('has changed nothing', async () => {
    assert.deepEqual(world.mail.sideEffects, []);
    const { data } = bodyOf(await world.call('GET /api/principal/alice'));
    assert.equal((data as { name: string }).name, 'alice');
  });
});

describe('a request that does not name an operation', () => {
  it('is answered by the gateway: OPTIONS', async () => {
    const before = world.mail.received.length;
    for (const path of ['/api/principal', '/api/principal/alice'])
      assert.equal((await raw(`OPTIONS ${path}`, world.administrator)).status, 204);
    assert.equal((await raw('OPTIONS /api/reload', world.administrator)).status, 404);
    assert.equal(world.mail.received.length, before);
  });

  it('arrives as a GET: HEAD, which has an answer without a body', async () => {
    const before = world.mail.received.length;
    const answer = await raw('HEAD /api/principal/alice', world.administrator);
    assert.deepEqual([answer.status, answer.body.length], [200, 0]);
    assert.deepEqual(world.mail.received.slice(before), ['GET /api/principal/alice']);
  });
});

describe('a name', () => {
  it('is one segment to the mail server as well, with any content', async () => {
    for (const [name, sent] of [
      ['alice%3Ftype=individual', 'alice%3Ftype%3Dindividual'],
      ['alice%23x', 'alice%23x'],
      ['%C3%84lice', '%C3%A4lice'],
      ['alice%2520', 'alice%2520'],
      ['...', '...'],
    ]) {
      const answer = await raw(`DELETE /api/principal/${name}`, world.administrator);
      assert.deepEqual([answer.status, answer.error.code], [404, 'resource_missing'], name);
      assert.equal(world.mail.received.at(-1), `DELETE /api/principal/${sent}`);
    }
  });

  it('that is another word of the administration is a name', async () => {
    for (const line of ['GET /api/principal/deploy', 'DELETE /api/principal/deploy'])
      assert.equal((await raw(line, world.administrator)).error.code, 'resource_missing');
  });
});
