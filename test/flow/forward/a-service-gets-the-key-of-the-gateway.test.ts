// A service that wants an API key or a token of its own gets the one of the gateway. Clients can neither send another one nor see it.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { temporaryDirectory } from '../../support/directory.ts';
import { assertRefusal } from '../../support/errors.ts';
import { headersOf, httpAnswer } from '../../support/scripted-upstream.ts';
import { createWorld, type World } from '../../support/world.ts';

const KEY = 'Token of=the gateway';
const apiKey = { apiKey: { header: 'X-Things-Key', secret: 'things_key' } };

/** An operation whose contract declares the header of the key, in both spellings that a server may take for it. */
const asksForKey = {
  '/v1/keyed': {
    get: {
      operationId: 'getKeyed',
      security: [{ apiKey: ['things:read'] }],
      parameters: ['X-Things-Key', 'x_things_key', 'X-Other'].map((name) => ({
        ...{ name, in: 'header', required: false },
        schema: { type: 'string' },
      })),
      responses: { 200: { description: 'done', content: { 'application/json': { schema: {} } } } },
    },
  },
  '/v1/socket': {
    get: {
      operationId: 'openSocket',
      security: [{ apiKey: ['things:read'] }],
      'x-gateway-upgrade': 'websocket',
      responses: { 101: { description: 'messages' } },
    },
  },
};

const handshake = {
  ...{ Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' },
  'Sec-WebSocket-Key': 'MDEyMzQ1Njc4OWFiY2RlZg==',
};

let secrets: string;
let world: World;
beforeEach(() => {
  secrets = temporaryDirectory();
  writeFileSync(join(secrets, 'things_key'), `${KEY}\n`);
  writeFileSync(join(secrets, 'things_token'), 'abc.def');
});
afterEach(async () => {
  await world.close();
});

async function begin(credential: object, more: object = {}): Promise<void> {
  world = await createWorld({ environment: { SECRETS_DIR: secrets } }, { credential, ...more }, asksForKey);
}
const lastHead = () => world.upstream.received.at(-1) as string;

/** The key of the gateway is there, and an assertion that is signed for this service, about the caller of the other headers. */
async function assertTellsCaller(headers: ReturnType<typeof headersOf>): Promise<void> {
  assert.equal(headers.get('x-things-key'), KEY);
  const keys = createRemoteJWKSet(new URL(`${world.gateway.url}/.well-known/jwks.json`));
  const options = { audience: 'things', algorithms: ['EdDSA'] };
  const { payload } = await jwtVerify(headers.get('x-gateway-assertion') ?? '', keys, options);
  assert.equal(payload.org, headers.get('x-organization-id'));
  assert.match(String(headers.get('x-api-key-id')), /^key_/);
  assert.equal(payload.sub, headers.get('x-api-key-id'));
}

describe('a service with an API key', () => {
  it('gets it in its header, and nothing about the caller', async () => {
    await begin(apiKey);
    assert.equal((await world.call('GET /v1/things')).status, 200);
    const headers = headersOf(lastHead());
    assert.equal(headers.get('x-things-key'), KEY);
    for (const name of ['authorization', 'x-gateway-assertion', 'x-organization-id'])
      assert.equal(headers.has(name), false, name);
  });

  it('gets no value of a client in that header, however it is spelled and although the contract declares it', async () => {
    await begin(apiKey);
    const sent = { 'X-Things-Key': 'mine', x_things_key: 'mine', 'X-Other': 'crosses' };
    assert.equal((await world.call('GET /v1/keyed', sent)).status, 200);
    const lines = lastHead().toLowerCase().split('\r\n');
    assert.deepEqual(
      lines.filter((line) => /^x[_-]things[_-]key:/.test(line)),
      [`x-things-key: ${KEY.toLowerCase()}`],
    );
    assert.equal(headersOf(lastHead()).get('x-other'), 'crosses');
  });

  it('gets who calls beside it with sendCaller, by an assertion for it alone', async () => {
    await begin(apiKey, { sendCaller: true });
    assert.equal((await world.call('GET /v1/things', { 'X-Gateway-Assertion': 'mine' })).status, 200);
    await assertTellsCaller(headersOf(lastHead()));
  });

  it('gets both with the handshake of a WebSocket, and without sendCaller its key alone', async () => {
    await begin(apiKey, { sendCaller: true });
    const open = async () => {
      // A service that grants no upgrade, and closes at once: its answer ends the handshake.
      world.upstream.plays((socket) => socket.end(httpAnswer(409, '{"message":"no"}')));
      const answer = await world.call('GET /v1/socket', { ...handshake, 'X-Gateway-Assertion': 'mine' });
      assert.equal(answer.status, 409, String(answer.body));
      const headers = headersOf(lastHead());
      assert.equal(headers.get('upgrade'), 'websocket');
      return headers;
    };
    await assertTellsCaller(await open());
    await world.close();
    await begin(apiKey);
    const headers = await open();
    assert.equal(headers.get('x-things-key'), KEY);
    for (const name of ['authorization', 'x-gateway-assertion', 'x-organization-id', 'x-api-key-id'])
      assert.equal(headers.has(name), false, name);
  });

  it('gets the new key once it has changed', async () => {
    await begin(apiKey);
    world.upstream.plays((socket, head) => {
      const isRight = headersOf(head).get('x-things-key') === 'second';
      socket.write(isRight ? httpAnswer(200, '{}') : httpAnswer(401, '{"message":"bad key"}'));
    });
    const refused = await world.call('GET /v1/things');
    assertRefusal(refused, 'upstream_auth_failed');
    assert.equal(refused.body.includes(KEY), false);
    writeFileSync(join(secrets, 'things_key'), 'second');
    assert.equal((await world.call('GET /v1/things')).status, 200);
  });

  it('is latched after a refusal; a missing key is another state', async () => {
    await begin(apiKey);
    const state = async () => {
      const status = await (await fetch(`${world.gateway.adminUrl}/status`)).text();
      return /"credential":"(\w+)"/.exec(status)?.[1];
    };
    world.upstream.plays((socket) => socket.write(httpAnswer(401, '{}')));
    assertRefusal(await world.call('GET /v1/things'), 'upstream_auth_failed');
    assert.equal(await state(), 'latched');
    rmSync(join(secrets, 'things_key'));
    assertRefusal(await world.call('GET /v1/things'), 'upstream_auth_failed');
    assert.equal(await state(), 'no_secret');
    world.upstream.plays((socket) => socket.write(httpAnswer(200, '{}')));
    writeFileSync(join(secrets, 'things_key'), 'second');
    assert.equal((await world.call('GET /v1/things')).status, 200);
    assert.equal(await state(), 'proven');
  });

  it('is the only one that sees it: neither log nor status has it', async () => {
    await begin(apiKey);
    world.upstream.plays((socket) => socket.write(httpAnswer(401, '{}')));
    await world.call('GET /v1/things');
    const status = await (await fetch(`${world.gateway.adminUrl}/status`)).text();
    assert.match(status, /"credential":"latched"/);
    assert.equal(status.includes(KEY), false);
    assert.equal(JSON.stringify(world.gateway.logLines()).includes(KEY), false);
  });
});

describe('a service that wants two headers at once', () => {
  const both = { headers: { names: ['X-Things-Key', 'Authorization'], secret: 'things_headers' } };
  const put = (key: string) =>
    writeFileSync(join(secrets, 'things_headers'), `X-Things-Key: ${key}\nAuthorization: Basic YTpi\n`);

  it('gets both, and no value of a client in either', async () => {
    put(KEY);
    await begin(both);
    assert.equal((await world.call('GET /v1/keyed', { 'X-Things-Key': 'mine', x_things_key: 'mine' })).status, 200);
    const lines = lastHead().split('\r\n');
    assert.deepEqual(
      lines.filter((line) => /^(x[_-]things[_-]key|authorization):/i.test(line)),
      [`x-things-key: ${KEY}`, 'authorization: Basic YTpi'],
    );
  });

  it('gets both with the handshake of a WebSocket', async () => {
    put(KEY);
    await begin(both);
    world.upstream.plays((socket) => socket.end(httpAnswer(409, '{"message":"no"}')));
    await world.call('GET /v1/socket', handshake);
    const headers = headersOf(lastHead());
    assert.deepEqual([headers.get('x-things-key'), headers.get('authorization')], [KEY, 'Basic YTpi']);
  });

  it('gets the new ones once one of them has changed', async () => {
    put(KEY);
    await begin(both);
    world.upstream.plays((socket, head) => {
      const isRight = headersOf(head).get('x-things-key') === 'second';
      socket.write(isRight ? httpAnswer(200, '{}') : httpAnswer(401, '{"message":"bad key"}'));
    });
    assertRefusal(await world.call('GET /v1/things'), 'upstream_auth_failed');
    put('second');
    assert.equal((await world.call('GET /v1/things')).status, 200);
  });
});

describe('a service without a credential', () => {
  it('is not told who calls with sendCaller: false', async () => {
    world = await createWorld({}, { sendCaller: false });
    assert.equal((await world.call('GET /v1/things')).status, 200);
    for (const name of ['x-gateway-assertion', 'x-organization-id', 'x-api-key-id'])
      assert.equal(headersOf(lastHead()).has(name), false, name);
  });
});

describe('a service with a token', () => {
  it('gets it as Bearer instead of the client’s own credential', async () => {
    await begin({ bearer: { secret: 'things_token' } });
    assert.equal((await world.call('GET /v1/things')).status, 200);
    assert.equal(headersOf(lastHead()).get('authorization'), 'Bearer abc.def');
  });
});
