// `authorization: forward`: a service that checks tokens itself gets those that the gateway has verified. No other credential reaches it.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { startIssuer, type TestIssuer } from '../../support/issuer.ts';
import { thingsContract } from '../../support/things.ts';
import { type Behind, startBehind } from '../tunnel/mail-tunnel.ts';

const responses = { 200: { description: 'fine', content: { 'application/json': {} } } };
const security = [{ apiKey: ['things:read'] }];
const OPEN = { get: { operationId: 'open', 'x-gateway-public': true, responses } };
const SOCKET = { get: { operationId: 'socket', security, 'x-gateway-upgrade': 'websocket', responses } };

/** The things contract at other paths, with other names. */
function variant(prefix: string) {
  const { paths, ...rest } = thingsContract() as { paths: Record<string, Record<string, { operationId: string }>> };
  const { get } = paths['/v1/things'] as { get: { operationId: string } };
  const own = { operationId: prefix, security: [{ apiKey: [`${prefix}:read`] }] };
  return { ...rest, paths: { [`/v1/${prefix}`]: { get: { ...get, ...own } } } };
}

describe('a service that checks tokens itself', () => {
  let upstream: Behind;
  let issuer: TestIssuer;
  let stranger: TestIssuer;
  let gateway: TestGateway;
  let key: string;
  let status = 200;
  before(async () => {
    upstream = await startBehind();
    upstream.plays((_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}'),
    );
    [issuer, stranger] = [await startIssuer(), await startIssuer()];
    gateway = await startGateway({
      contracts: {
        'things.yaml': thingsContract({ '/v1/open': OPEN, '/v1/socket': SOCKET }),
        'others.yaml': variant('others'),
        'given.yaml': { ...variant('given'), 'x-gateway-upstream': 'others' },
      },
      upstreams: {
        things: {
          contracts: ['things.yaml', 'given.yaml'],
          // The first one refuses connections, so that requests are sent again to the second.
          live: ['http://127.0.0.1:1', upstream.url],
          authorization: 'forward',
        },
        others: { contracts: ['others.yaml'], live: upstream.url },
      },
      gateway: { issuers: { web: { ...issuer.entry, scopesMax: ['*'] } } },
      limits: { tiers: { anonymous: { requests: 1000 }, standard: { requests: 1000 } } },
    });
    key = (await gateway.authorize()).authorization;
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([issuer.close(), stranger.close(), upstream.close()]);
  });

  async function call(authorization: string | undefined, path = '/v1/things', more = {}) {
    const before = upstream.requests.length;
    const answer: Answer = await ask(gateway.port, requestOf(`GET ${path}`, { Authorization: authorization, ...more }));
    const sent = upstream.requests.slice(before);
    return { answer, sent, authorization: sent.at(-1)?.headers.authorization };
  }
  const token = (claims: object = {}) => issuer.sign({ scope: '*', ...claims });

  it('gets the verified token on each attempt, for every spelling of the scheme', async () => {
    const own = token();
    for (const scheme of ['Bearer ', 'bearer ', 'BEARER    ']) {
      const { answer, sent, authorization } = await call(`${scheme}${own}`);
      assert.equal(answer.status, 200);
      assert.equal(authorization, `Bearer ${own}`);
      assert.ok(sent[0]?.headers['x-gateway-assertion'], 'beside the assertion');
    }
  });

  it('never gets an API key, a password, or a token of another issuer', async () => {
    const withKey = await call(key);
    assert.deepEqual([withKey.answer.status, withKey.authorization], [200, undefined]);
    assert.ok(!JSON.stringify(withKey.sent[0]?.headers).includes(key.slice(7)));
    const pair = Buffer.from('user:word').toString('base64');
    const others = [
      `Basic ${pair}`,
      `Bearer ${pair}`,
      `Bearer ${stranger.sign()}`,
      `Bearer api_${pair}`,
      'Digest a="b"',
    ];
    for (const other of [...others, undefined, `Bearer ${token({ exp: 1 })}`])
      assert.deepEqual(await call(other).then(({ answer, sent }) => [answer.status, sent.length]), [401, 0]);
  });

  it('gets no token that a client sends to a public operation', async () => {
    for (const sent of [`Bearer ${token()}`, key, 'Basic YTpi']) {
      const { answer, authorization } = await call(sent, '/v1/open');
      assert.deepEqual([answer.status, authorization], [200, undefined]);
    }
  });

  it('gets no token by a header that is named for the connection, or beside another one', async () => {
    const own = token();
    const hopped = await call(`Bearer ${own}`, '/v1/things', { Connection: 'authorization' });
    assert.ok(hopped.answer.status === 400 || hopped.answer.status === 401, String(hopped.answer.status));
    assert.equal(hopped.sent.length, 0);
    const twice = requestOf('GET /v1/things', { Authorization: [`Bearer ${own}`, key] });
    assert.equal((await ask(gateway.port, twice)).status, 400);
    for (const name of ['Proxy-Authorization', 'X-Authorization', 'Authorization_', 'X-Forwarded-Authorization']) {
      const { sent } = await call(key, '/v1/things', { [name]: `Bearer ${own}` });
      assert.ok(!JSON.stringify(sent[0]?.headers).includes(own), name);
    }
  });

  it('is the only one: no other entry gets the token, not by a contract of this entry either', async () => {
    for (const path of ['/v1/others', '/v1/given']) {
      const { answer, authorization } = await call(`Bearer ${token()}`, path);
      assert.deepEqual([answer.status, authorization], [200, undefined], path);
    }
  });

  it('refuses the client with its 401, which is no failure of an address or of the gateway', async () => {
    status = 401;
    for (let i = 0; i < 30; i++) {
      const { answer } = await call(`Bearer ${token()}`);
      assert.deepEqual([answer.status, answer.error.code], [401, 'token_invalid']);
      assert.match(answer.headers['www-authenticate'] ?? '', /^Bearer .*error="invalid_token"/);
    }
    const { answer } = await call(key);
    assert.deepEqual([answer.status, answer.error.code], [502, 'upstream_auth_failed'], 'it got no token');
    status = 200;
    assert.equal((await call(key)).answer.status, 200);
  });

  it('gets it with the handshake of a WebSocket', async () => {
    const own = token();
    const handshake = {
      ...{ Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' },
      'Sec-WebSocket-Key': 'MDEyMzQ1Njc4OWFiY2RlZg==',
    };
    let asked: string | undefined;
    upstream.upgrades(({ headers }, socket) => {
      asked = headers.authorization;
      socket.end('HTTP/1.1 401 No\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}');
    });
    const { answer } = await call(`Bearer ${own}`, '/v1/socket', handshake);
    assert.equal(asked, `Bearer ${own}`);
    assert.equal(answer.error.code, 'token_invalid');
  });
});
