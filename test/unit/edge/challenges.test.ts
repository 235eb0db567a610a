// How answers of 401 and 403 name the accepted credentials, written by a real server: RFC 9110 section 11.6.1, RFC 6750 section 3, RFC
// 7617.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { withBasicChallenge } from '../../../gateway/auth/credentials.ts';
import type { CatalogueEntry } from '../../../gateway/catalogue/catalogue-entry.ts';
import { type ErrorCode, GatewayError, REFUSALS } from '../../../gateway/catalogue/errors.ts';
import { createRefusals } from '../../../gateway/edge/refusal/refusals.ts';
import type { Operation, SecurityAlternative } from '../../../gateway/exchange/operation.ts';
import { Trail } from '../../../gateway/exchange/trail.ts';
import { ask, requestOf } from '../../support/connection.ts';

const key: SecurityAlternative = { scheme: 'apiKey', scopes: ['post:read'] };
const pair: SecurityAlternative = { scheme: 'basic', scopes: [] };
const bearer = 'Bearer realm="api.test"';
const basic = 'Basic realm="api.test", charset="UTF-8"';

const codes = Object.keys(REFUSALS) as ErrorCode[];
const refusalOf = (code: ErrorCode): CatalogueEntry => REFUSALS[code];
const ofStatus401 = codes.filter((code) => refusalOf(code).status === 401);

/** The challenges of a refusal, a line each, of an operation with these ways in. */
async function startRefusing(t: TestContext) {
  let thrown: unknown;
  const { refuse } = createRefusals({ publicUrl: 'https://api.test', countRefusal: () => undefined });
  const server = createServer((request, response) => {
    const trail = new Trail('req_1', 'GET');
    const shared = { trail, state: trail, clientAddress: undefined, commonHeaders: [] };
    refuse({ id: 'req_1', request, response, ...shared }, thrown);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return async function challengesOf(error: GatewayError, security?: readonly SecurityAlternative[]) {
    thrown = security ? withBasicChallenge(error, { security } as Operation) : error;
    const { lines } = await ask(port, requestOf('GET /', { Connection: 'close' }));
    return lines.filter(([name]) => name === 'WWW-Authenticate').map(([, value]) => value);
  };
}

test('every 401 of an operation that accepts both names both, each on a separate line', async (t) => {
  const challengesOf = await startRefusing(t);
  assert.ok(ofStatus401.length >= 10);
  for (const code of ofStatus401) {
    for (const security of [
      [key, pair],
      [pair, key],
    ]) {
      const [first = '', ...others] = await challengesOf(new GatewayError(code), security);
      assert.ok(first === bearer || first.startsWith(`${bearer}, error="invalid_token"`), `${code}: ${first}`);
      assert.deepEqual(others, [basic], code);
    }
  }
});

test('every 401 of other operations, and of none, names Bearer alone', async (t) => {
  const challengesOf = await startRefusing(t);
  for (const code of ofStatus401) {
    for (const security of [[key], [key, key], [], undefined]) {
      const challenges = await challengesOf(new GatewayError(code), security);
      assert.equal(challenges.length, 1, code);
      assert.match(
        challenges[0] ?? '',
        /^Bearer realm="api\.test"(, error="invalid_token", error_description="[^"]+")?$/,
      );
    }
  }
});

test('an operation for user name and password alone does not require a key', async (t) => {
  const challengesOf = await startRefusing(t);
  for (const code of ofStatus401) assert.deepEqual(await challengesOf(new GatewayError(code), [pair]), [basic], code);
});

test('a caller without a scope gets the name of the scope, and no password challenge', async (t) => {
  const challengesOf = await startRefusing(t);
  const lacking = new GatewayError('insufficient_scope', { fields: { required_scopes: ['post:read'] } });
  assert.deepEqual(await challengesOf(lacking, [key, pair]), [
    `${bearer}, error="insufficient_scope", scope="post:read"`,
  ]);
});

test('no other refusal has a challenge', async (t) => {
  const challengesOf = await startRefusing(t);
  for (const code of codes.filter((one) => refusalOf(one).challenge === undefined))
    assert.deepEqual(await challengesOf(new GatewayError(code), [key, pair]), [], code);
});
