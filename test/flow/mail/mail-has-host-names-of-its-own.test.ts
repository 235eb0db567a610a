// Administration and JMAP can be bound to host names of their own on the same listener; the panel is nowhere else. What programs expect on
// the host name of a mail server is on `hosts.mail` alone, and on the names that are made for it.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SCANNED_PATHS } from '../../../sandbox/mail/bans.ts';
import { createAuthority } from '../../support/certificates.ts';
import type { Answer } from '../../support/connection.ts';
import { ask, openConnection, requestOf } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { basic, newPassword, startMailWorld } from '../../support/mail.ts';

type World = Awaited<ReturnType<typeof startMailWorld>>;

const statusesOn = async (world: World, host: string) => {
  const at = (line: string): Promise<Answer> => world.call(line, undefined, { Host: host });
  return {
    principals: (await at('GET /api/principal')).status,
    discovery: (await at('GET /.well-known/jmap')).status,
    panel: (await at('GET /login')).status,
  };
};

const HOSTS = {
  ...{ mail: 'mail.test', jmap: 'jmap.test', panel: 'mailadmin.test' },
  ...{ autoconfig: 'autoconfig.test', autodiscover: 'autodiscover.test', mtaSts: 'mta-sts.test' },
};

const AUTODISCOVER = '<Autodiscover><Request><EMailAddress>dana@example.com</EMailAddress></Request></Autodiscover>';

/** A request, its body, the names that have its path beside the panel's, and the status of the mail server. */
const expected: readonly (readonly [line: string, body: string | undefined, on: readonly string[], status: number])[] =
  [
    ['GET /.well-known/openid-configuration', undefined, ['mail.test'], 200],
    ['GET /authorize', undefined, ['mail.test'], 200],
    ['GET /authorize/code?client_id=a', undefined, ['mail.test'], 200],
    ['GET /.well-known/caldav', undefined, ['mail.test'], 307],
    ['PROPFIND /.well-known/carddav', undefined, ['mail.test'], 307],
    ['PROPFIND /dav/cal/dana/', undefined, ['mail.test'], 401],
    ['OPTIONS /dav/card/dana/', undefined, ['mail.test'], 200],
    ['GET /mail/config-v1.1.xml?emailaddress=dana%40example.com', undefined, ['mail.test', 'autoconfig.test'], 200],
    [
      'GET /.well-known/autoconfig/mail/config-v1.1.xml?emailaddress=dana%40example.com',
      ...[undefined, ['mail.test', 'autoconfig.test'], 200],
    ] as never,
    ['POST /autodiscover/autodiscover.xml', AUTODISCOVER, ['mail.test', 'autodiscover.test'], 200],
    ['GET /.well-known/mta-sts.txt', undefined, ['mail.test', 'mta-sts.test'], 200],
    ['GET /.well-known/acme-challenge/token', undefined, ['mail.test'], 200],
  ];

describe('with host names for each', () => {
  let world: World;
  before(async () => {
    const gateway = { publicUrl: 'http://api.test', hosts: HOSTS, trustedProxies: ['127.0.0.1'] };
    world = await startMailWorld({}, { gateway }, { challenges: new Map([['token', 'token.proof']]) });
  });
  after(() => world.stop());

  it('the administration is where the API is and on the name for mail', async () => {
    assert.deepEqual(await statusesOn(world, 'api.test'), { principals: 200, discovery: 307, panel: 404 });
    assert.deepEqual(await statusesOn(world, 'mail.test'), { principals: 200, discovery: 307, panel: 404 });
  });

  it('the name for JMAP has JMAP alone', async () => {
    assert.deepEqual(await statusesOn(world, 'jmap.test'), { principals: 404, discovery: 307, panel: 404 });
  });

  it('the name for the panel has everything, by the mail user’s own credentials, and leads to its entrance', async () => {
    const at = (line: string) => world.call(line, undefined, { Host: 'mailadmin.test' });
    const page = await at('GET /login');
    assert.deepEqual([page.status, page.headers['content-type']?.split(';')[0]], [200, 'text/html']);
    const moved = await at('GET /admin');
    assert.match(String(moved.status), /^30[278]$/);
    assert.equal(moved.headers.location, '/login');
    // The users of this host are those of the mail server, whose credentials pass through.
    assert.equal((await at('GET /api/principal')).status, 200);
    assert.equal(world.mail.received.at(-1), 'GET /api/principal');
  });

  const anonymous = (line: string, Host: string, body?: string) =>
    ask(world.gateway.port, requestOf(line, { Host }, body));

  for (const [line, body, on, status] of expected) {
    it(`${line.split('?')[0]} is on ${on.join(' and ')} alone, and on the name for the panel`, async () => {
      for (const host of ['api.test', ...Object.values(HOSTS)]) {
        const before = world.mail.received.length;
        const answer = await anonymous(line, host, body);
        const isThere = on.includes(host) || host === HOSTS.panel;
        assert.equal(world.mail.received.length - before, isThere ? 1 : 0, host);
        if (isThere) assert.equal(answer.status, status, host);
        else if (line.startsWith('PROPFIND')) assert.ok([404, 501].includes(answer.status), `${host} ${answer.status}`);
        else assert.equal(answer.error.code, 'route_not_found', host);
      }
    });
  }

  it('scanners’ paths below these never reach the mail server', async () => {
    const before = world.mail.received.length;
    const prefixes = ['/dav/', '/authorize/', '/.well-known/acme-challenge/'];
    for (const pattern of SCANNED_PATHS) {
      for (const prefix of prefixes) {
        const path = `${prefix}${pattern.replaceAll('*', 'a')}`;
        const { status } = await anonymous(`GET ${path}`, HOSTS.mail);
        assert.ok(status === 404 || status === 400, `${path} ${status}`);
      }
    }
    assert.equal(world.mail.received.length, before);
  });

  it('what needs no login is limited for each address', async () => {
    const paths = ['/authorize', '/mail/config-v1.1.xml', '/.well-known/mta-sts.txt'] as const;
    const at = (path: string, address: string) =>
      ask(world.gateway.port, requestOf(`GET ${path}`, { Host: HOSTS.mail, 'X-Forwarded-For': address }));
    const codes: unknown[] = [];
    for (let i = 0; i < 33; i++) codes.push((await at(paths[i % 3] as string, '192.0.2.9')).error.code);
    assert.deepEqual(codes.slice(-3), ['rate_limited', 'rate_limited', 'rate_limited']);
    assert.equal(codes.filter((code) => code === 'rate_limited').length, 3, 'all of them together');
    for (const path of paths) assert.notEqual((await at(path, '192.0.2.10')).status, 429, path);
  });

  it('the page of a login may load its scripts', async () => {
    const { headers } = await anonymous('GET /authorize/code', HOSTS.mail);
    assert.equal(headers['content-security-policy'], "frame-ancestors 'none'");
  });

  it('calendars and address books accept all their methods', async () => {
    const password = newPassword();
    const as = { Host: HOSTS.mail, 'X-Forwarded-For': '192.0.2.20' };
    const admin = { ...as, Host: 'api.test' };
    assert.equal((await world.call('POST /api/principal', { name: 'dana', secrets: password }, admin)).status, 200);
    const dav = async (line: string, more: Record<string, string> = {}, body?: string) => {
      const connection = await openConnection(world.gateway.port);
      connection.send(requestOf(line, { ...as, Authorization: basic('dana', password), ...more }, body));
      const answer = await connection.answer({ hasBody: !line.startsWith('HEAD') });
      connection.destroy();
      return answer as Answer;
    };
    const item = '/dav/cal/dana/default/a.ics';
    const Destination = 'https://mail.test/dav/cal/dana/default/b.ics';
    const steps: readonly (readonly [string, Record<string, string>, string | undefined, number])[] = [
      ['OPTIONS /dav/cal/dana/', {}, undefined, 200],
      ['MKCALENDAR /dav/cal/dana/default', {}, '<x/>', 201],
      ['MKCOL /dav/card/dana/default', {}, undefined, 201],
      [`PUT ${item}`, { 'If-None-Match': '*' }, 'BEGIN:VCALENDAR', 201],
      [`GET ${item}`, {}, undefined, 200],
      [`HEAD ${item}`, {}, undefined, 200],
      ['PROPFIND /dav/cal/dana/', { Depth: '1' }, undefined, 207],
      ['PROPFIND /dav/cal/dana/', { Depth: '0' }, '<propfind/>', 207],
      ['REPORT /dav/cal/dana/default/', { Depth: '1' }, '<calendar-query/>', 207],
      ['PROPPATCH /dav/cal/dana/default/', {}, '<propertyupdate/>', 207],
      [`LOCK ${item}`, { Timeout: 'Second-60' }, '<lockinfo/>', 200],
      [`UNLOCK ${item}`, { 'Lock-Token': '<urn:uuid:1>' }, undefined, 204],
      [`COPY ${item}`, { Destination }, undefined, 201],
      [`MOVE ${item}`, { Destination, Overwrite: 'T' }, undefined, 204],
      ['ACL /dav/cal/dana/default/', {}, '<acl/>', 200],
      ['POST /dav/itip/dana/', {}, 'BEGIN:VCALENDAR', 200],
      ['DELETE /dav/cal/dana/default/b.ics', {}, undefined, 204],
    ];
    for (const [line, headers, body, status] of steps) {
      const answer = await dav(line, headers, body);
      assert.equal(answer.status, status, line);
      assert.equal(world.mail.received.at(-1), line);
      if (line.startsWith('OPTIONS')) assert.match(answer.headers.dav ?? '', /calendar-access/);
      if (line.startsWith('LOCK')) assert.match(answer.headers['lock-token'] ?? '', /^<urn:uuid:/);
      if (status === 207) assert.match(String(answer.body), /<D:multistatus/);
    }
  });

  it('every other name is misdirected, for every request', async () => {
    const before = world.mail.received.length;
    for (const host of ['elsewhere.test', '127.0.0.1', 'mail.test.elsewhere.test', 'xmail.test'])
      for (const line of [
        'GET /api/principal',
        'GET /.well-known/jmap',
        'GET /jmap/session',
        'GET /login',
        'GET /nothing',
      ]) {
        const { status, error } = await world.call(line, undefined, { Host: host });
        assert.deepEqual([status, error.code], [421, 'misdirected_request'], `${host} ${line}`);
      }
    assert.equal(world.mail.received.length, before);
  });
});

describe('with TLS', () => {
  it('the challenge of a certificate authority reaches the mail server without TLS too, on its own name', async () => {
    const authority = createAuthority();
    const { certificate, key } = authority.issue({ names: ['api.test'] });
    const tls = { certificates: [{ certificate: 'api.pem', key: 'api.key' }], plain: { port: 0 } };
    const world = await startMailWorld(
      {},
      {
        gateway: { publicUrl: 'https://api.test', hosts: { mail: 'mail.test' }, tls },
        files: { 'api.pem': certificate, 'api.key': key },
      },
      { challenges: new Map([['token', 'token.proof']]) },
    );
    const plain = (line: string, Host: string, headers = {}) =>
      ask(world.gateway.app.plainPort as number, requestOf(line, { Host, ...headers }));
    const path = '/.well-known/acme-challenge/token';
    const found = await plain(`GET ${path}`, 'mail.test');
    assert.deepEqual([found.status, String(found.body)], [200, 'token.proof']);
    assert.equal((await plain('GET /.well-known/acme-challenge/other', 'mail.test')).status, 404);
    const received = world.mail.received.length;
    assert.equal(received, 2);
    for (const [line, host] of [
      [`GET ${path}`, 'api.test'],
      ['GET /.well-known/mta-sts.txt', 'mail.test'],
      ['GET /.well-known/jmap', 'mail.test'],
    ] as const)
      assert.equal((await plain(line, host)).status, 308, `${host} ${line}`);
    const shown = { Authorization: basic('dana', newPassword()) };
    assertRefusal(await plain(`GET ${path}`, 'mail.test', shown), 'tls_required');
    assertRefusal(await plain(`POST ${path}`, 'mail.test'), 'tls_required');
    assertRefusal(await plain('GET /.well-known/acme-challenge/x.php', 'mail.test'), 'route_not_found');
    assert.equal(world.mail.received.length, received);
    await world.stop();
  });
});

describe('without host names', () => {
  it('everything but the panel is on every name', async () => {
    const world = await startMailWorld();
    for (const host of ['localhost', 'anything.test', '127.0.0.1'])
      assert.deepEqual(await statusesOn(world, host), { principals: 200, discovery: 307, panel: 404 });
    const before = world.mail.received.length;
    for (const [line, body] of expected) {
      const { status } = await ask(world.gateway.port, requestOf(line, {}, body));
      assert.ok([404, 501].includes(status), `${line} ${status}`);
    }
    assert.equal(world.mail.received.length, before, 'what hosts.mail carries is not on the name of the API');
    assertRefusal(await world.call('GET /admin'), 'route_not_found');
    await world.stop();
  });
});
