// `Connection: <name>` makes a proxy drop a field. If that happens after something was decided by the field, the decision was about another
// request than the one that the upstream gets: a login that nobody counts, a write whose key or condition is gone, a client that is taken
// for the proxy before the gateway. The table (cases/identity.cases.ts) has the rows of operations; here are tunnels, upgrades and trusted
// proxies, with and without the fast path.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type Behind, linesOf, startBehind, tunnelAt } from '../flow/tunnel/mail-tunnel.ts';
import { type Answer, ask, openConnection, requestOf } from '../support/connection.ts';
import { assertRefusal } from '../support/errors.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const login = { Authorization: `Basic ${Buffer.from('ada:guess').toString('base64')}` };
const fields = {
  ...login,
  Cookie: 'session=1',
  Origin: 'https://mail.test',
  Forwarded: 'for=192.0.2.1',
  'X-Forwarded-For': '192.0.2.1',
  'X-Forwarded-Proto': 'https',
  'X-Forwarded-Host': 'mail.test',
  'If-Match': '"1"',
  'If-Unmodified-Since': 'Fri, 20 Nov 2026 16:00:00 GMT',
  'Idempotency-Key': 'k-1',
};

for (const fastPath of [true, false]) {
  describe(`a field that Connection names, ${fastPath ? 'with' : 'without'} the fast path`, () => {
    let behind: Behind;
    let gateway: TestGateway;
    before(async () => {
      behind = await startBehind();
      gateway = await startGateway({
        ...tunnelAt(behind.url),
        gateway: { http: { fastPath }, trustedProxies: ['127.0.0.1'] },
      });
    });
    after(async () => {
      await gateway.stop();
      await behind.close();
    });
    beforeEach(() => {
      behind.requests.length = 0;
      behind.plays((request, response) => request.resume().on('end', () => response.end('{}')));
    });
    const call = (...request: Parameters<typeof requestOf>) => ask(gateway.port, requestOf(...request));

    for (const name of Object.keys(fields)) {
      for (const connection of [name, `close, ${name.toLowerCase()}`, `${name.toUpperCase()},keep-alive`]) {
        it(`ends a request through a tunnel: ${connection}`, async () => {
          assertRefusal(await call('GET /jmap/session', { ...fields, Connection: connection }), 'malformed_http');
          assert.equal(behind.requests.length, 0);
        });
      }
    }

    it('ends an upgrade', async () => {
      const upgrade = { Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZQ==' };
      const connection = await openConnection(gateway.port);
      connection.send(requestOf('GET /jmap/ws', { ...login, ...upgrade, Connection: 'Upgrade, Authorization' }));
      assertRefusal((await connection.answer()) as Answer, 'malformed_http');
      assert.equal(behind.requests.length, 0);
    });

    it('is gone from a tunnel if it is of no such kind', async () => {
      const answer = await call('GET /jmap/session', {
        ...login,
        Connection: 'X-Mine, TE',
        'X-Mine': '1',
        TE: 'trailers',
      });
      assert.equal(answer.status, 200);
      const lines = linesOf(behind.requests[0] as never);
      assert.equal(lines.get('authorization'), login.Authorization);
      assert.deepEqual([lines.get('x-mine'), lines.get('te')], [undefined, undefined]);
    });

    it('never runs a keyed write without its key, and never three times', async () => {
      const headers = { ...(await gateway.authorize()), 'Content-Type': 'application/json', 'Idempotency-Key': 'k-1' };
      behind.plays((request) => request.socket.destroy());
      const answer = await call('POST /v1/things', { ...headers, Connection: 'idempotency-key' }, '{"name":"a"}');
      assertRefusal(answer, 'malformed_http');
      assert.equal(behind.requests.length, 0);
    });

    it('never writes without the condition of the client', async () => {
      const headers = { ...(await gateway.authorize()), 'Content-Type': 'application/json', 'If-Match': '"1"' };
      const answer = await call('PATCH /v1/things/a', { ...headers, Connection: 'close, if-match' }, '{}');
      assertRefusal(answer, 'malformed_http');
      assert.equal(behind.requests.length, 0);
    });

    it('never gives a client the address of the proxy before the gateway', async () => {
      await call('GET /v1/things', { 'X-Forwarded-For': '192.0.2.7', Connection: 'x-forwarded-for' });
      const line = gateway.logLines().findLast(({ msg }) => msg === 'exchange');
      assert.equal(line?.code, 'malformed_http');
      assert.equal(line?.client, undefined);
    });
  });
}
