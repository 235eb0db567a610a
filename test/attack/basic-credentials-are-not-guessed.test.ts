// User name and password are the one credential here that people choose, and the upstream behind them bans addresses with too many
// failures: forwarded guesses would cut the gateway off, and with it all clients. So the gateway compares them itself, no answer shows
// which half of a guess was right, each wrong one counts against its address, and an address with too many guesses is refused without a
// comparison, even if its last guess is right.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { closesAfterAll } from '../support/closing.ts';
import { type Answer, ask, requestOf } from '../support/connection.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstream.ts';

const ENTRY = 'post_office_credential';
const FAILURES = 20;
const password = randomBytes(12).toString('hex');
const pairOf = (secret: string) => `postmaster:${secret}`;
const basic = (pair: string | Buffer) => `Basic ${Buffer.from(pair).toString('base64')}`;

const bearerChallenge = 'Bearer realm="localhost:8080"';
const basicChallenge = 'Basic realm="localhost:8080", charset="UTF-8"';

const responses = { 200: { description: 'done', content: { 'application/json': { schema: { type: 'object' } } } } };
const contract = {
  openapi: '3.1.1',
  info: { title: 'Post office', version: '1' },
  components: {
    securitySchemes: { key: { type: 'http', scheme: 'bearer' }, pair: { type: 'http', scheme: 'basic' } },
  },
  paths: {
    '/v1/boxes': { get: { operationId: 'listBoxes', security: [{ key: ['boxes:read'] }, { pair: [] }], responses } },
    '/v1/stamps': { get: { operationId: 'listStamps', security: [{ key: ['stamps:read'] }], responses } },
  },
};

const start = closesAfterAll();
const secrets = temporaryDirectory();
writeFileSync(join(secrets, ENTRY), `${pairOf(password)}\n`);
const upstream = await start(
  startUpstream((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{}');
  }),
);
const gateway = await start(
  startGateway({
    contracts: { 'post.yaml': contract },
    upstreams: {
      post: {
        contracts: ['post.yaml'],
        live: upstream.url,
        credential: { basic: { user: 'admin', secret: ENTRY } },
        basicForClients: true,
      },
    },
    // Addresses of clients as the tests wish, and a window that does not end while they run.
    gateway: { trustedProxies: ['127.0.0.1/32'] },
    limits: {
      tiers: { standard: { requests: 100_000 }, 'mail-administrator': { requests: 100_000 } },
      addresses: { failures: FAILURES, windowSeconds: 3600 },
    },
    environment: { SECRETS_DIR: secrets },
  }),
);

/** Each test has addresses of its own, so that none suffers from the failures of another. */
let block = 0;
beforeEach(() => {
  block += 1;
});
const addressOf = (host: number) => `198.51.${block}.${host}`;

function call(authorization: string | undefined, { host = 1, path = '/v1/boxes' } = {}): Promise<Answer> {
  const headers = { Authorization: authorization, 'X-Forwarded-For': addressOf(host) };
  return ask(gateway.port, requestOf(`GET ${path}`, headers));
}

const challengesIn = ({ lines }: Answer) =>
  lines.filter(([name]) => name.toLowerCase() === 'www-authenticate').map(([, value]) => value);

function assertInvalid(answer: Answer): void {
  assert.deepEqual([answer.status, answer.error.code], [401, 'basic_credentials_invalid']);
  assert.deepEqual(challengesIn(answer), [bearerChallenge, basicChallenge]);
}

const sentWith = (from: number) => upstream.requests.slice(from).map(({ headers }) => headers.authorization);

describe('guessing', () => {
  it('never reaches the upstream, ends at the throttle, and affects no other address', async () => {
    const before = upstream.requests.length;
    const guesses = Array.from({ length: 40 }, (_, at) => `guess ${at}`);
    const statuses: number[] = [];
    for (const guess of guesses) statuses.push((await call(basic(pairOf(guess)))).status);
    assert.deepEqual(statuses, [...Array(FAILURES).fill(401), ...Array(40 - FAILURES).fill(429)]);

    const right = await call(basic(pairOf(password)));
    assert.deepEqual([right.status, right.error.code], [429, 'auth_attempts_limited'], 'right, but too late');
    assert.equal(upstream.requests.length, before);

    assert.equal((await call(basic(pairOf(password)), { host: 2 })).status, 200);
    assert.deepEqual(sentWith(before), [basic(pairOf(password))]);
  });

  it('is throttled even from an address that was admitted before', async () => {
    assert.equal((await call(basic(pairOf(password)))).status, 200);
    for (let count = 0; count < FAILURES; count += 1) assertInvalid(await call(basic(pairOf(`guess ${count}`))));
    assert.equal((await call(basic(pairOf(password)))).status, 429);
  });

  it('does not lock out a key that is known to be good behind the same address', async () => {
    const { authorization } = await gateway.authorize({ scopes: ['boxes:read', 'stamps:read'] });
    assert.equal((await call(authorization)).status, 200);
    for (let count = 0; count < FAILURES; count += 1) await call(basic(pairOf(`guess ${count}`)));
    assert.equal((await call(basic(pairOf(password)))).status, 429);
    assert.equal((await call(authorization)).status, 200);
  });

  it('does not show which half was right, nor whether there is such a user', async () => {
    const told = async (pair: string, host: number) => {
      const { status, error, lines, body } = await call(basic(pair), { host });
      const { request_id, ...rest } = error;
      const constant = lines.filter(([name]) => !/^(date|x-request-id)$/i.test(name));
      return { status, rest, constant, length: body.length };
    };
    const wrongPassword = await told('postmaster:wrong', 1);
    assert.equal(wrongPassword.status, 401);
    for (const pair of [`nobody:${password}`, 'nobody:wrong', 'postmaster:', `:${password}`, `${password}:postmaster`])
      assert.deepEqual(await told(pair, 2), wrongPassword);
    assert.deepEqual(await told('no colon at all', 3), wrongPassword);
  });

  it('succeeds with neither a part of the password nor more than it', async () => {
    for (const wrong of [password.slice(0, -1), `${password} `, ` ${password}`, password.toUpperCase(), `${password}:`])
      assertInvalid(await call(basic(pairOf(wrong))));
  });
});

describe('in other clothes', () => {
  for (const [what, authorization] of Object.entries({
    'nothing after the scheme': 'Basic',
    'text that is not encoded': `Basic ${pairOf(password)}`,
    'Base64 without padding': basic(pairOf(password)).replace('=', ''),
    'Base64 with something behind it': `${basic(pairOf(password))}!`,
    'two of them': `${basic(pairOf(password))}, ${basic(pairOf(password))}`,
    'a NUL behind the password': basic(`${pairOf(password)}\0`),
    'a newline behind the password': basic(`${pairOf(password)}\n`),
    'bytes that are no UTF-8': basic(Buffer.concat([Buffer.from(pairOf(password)), Buffer.from([0xff])])),
    'a user name in front': basic(`x:${pairOf(password)}`),
    '8 kB of password': basic(pairOf('x'.repeat(8_000))),
  })) {
    it(`${what} is refused and counted`, async () => {
      const before = upstream.requests.length;
      assertInvalid(await call(authorization));
      for (let count = 1; count < FAILURES; count += 1) await call(authorization);
      assert.equal((await call(basic(pairOf(password)))).status, 429);
      assert.equal(upstream.requests.length, before);
    });
  }

  it('the user name in other letters is the same user', async () => {
    assert.equal((await call(basic(` PostMaster :${password}`))).status, 200);
  });

  it('the password as a bearer is no key', async () => {
    for (const value of [password, basic(pairOf(password)).slice(6)])
      assert.equal((await call(`Bearer ${value}`)).error.code, 'api_key_malformed');
  });

  it('an operation that does not accept Basic compares nothing and sends no Basic challenge', async () => {
    const answer = await call(basic(pairOf(password)), { path: '/v1/stamps' });
    assert.deepEqual([answer.status, answer.error.code], [401, 'auth_scheme_unsupported']);
    assert.deepEqual(challengesIn(answer), [bearerChallenge]);
  });

  it('a request without credentials gets both challenges', async () => {
    const answer = await call(undefined);
    assert.deepEqual([answer.status, answer.error.code], [401, 'api_key_missing']);
    assert.deepEqual(challengesIn(answer), [bearerChallenge, basicChallenge]);
  });
});

describe('the traces of a guess', () => {
  it('the upstream gets the credential of the gateway, and nothing of the caller', async () => {
    const before = upstream.requests.length;
    const { authorization } = await gateway.authorize({ scopes: ['boxes:read'] });
    assert.equal((await call(authorization)).status, 200);
    assert.equal((await call(basic(`POSTMASTER:${password}`))).status, 200);
    assert.deepEqual(sentWith(before), [basic(pairOf(password)), basic(pairOf(password))]);
    for (const { headers } of upstream.requests.slice(before)) {
      for (const name of ['x-organization-id', 'x-api-key-id', 'x-gateway-assertion'])
        assert.equal(headers[name], undefined, name);
    }
  });

  it('the log names the built-in caller, and no line holds the password, a guess or their encoding', async () => {
    const guess = randomBytes(12).toString('hex');
    await call(basic(pairOf(guess)));
    await call(basic(pairOf(password)));
    const last = gateway.logLines().findLast(({ client, status }) => client === addressOf(1) && status === 200);
    assert.deepEqual([last?.organization, last?.tier], ['mail-administrator', 'mail-administrator']);
    assert.equal(last?.key_id, undefined, 'there was no key');
    const log = JSON.stringify(gateway.logLines());
    for (const secret of [password, guess, basic(pairOf(password)).slice(6), basic(pairOf(guess)).slice(6)])
      assert.ok(!log.includes(secret));
  });

  it('a password that was replaced is good for nothing from then on', async () => {
    const next = randomBytes(12).toString('hex');
    writeFileSync(join(secrets, ENTRY), `${pairOf(next)}\n`);
    let isIn = false;
    // Each wrong one counts, so that the guesses are spread over addresses.
    for (let host = 1; host < 255 && !isIn; host += 1) {
      isIn = (await call(basic(pairOf(next)), { host })).status === 200;
      if (!isIn) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.ok(isIn);
    assertInvalid(await call(basic(pairOf(password)), { host: 255 }));
    assert.equal(upstream.requests.at(-1)?.headers.authorization, basic(pairOf(next)));
  });
});
