// A token of one of the platform's own applications is as good as a key of its organization, as far as it and its issuer say.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { startIssuer, type TestIssuer } from '../../support/issuer.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

describe('a token', () => {
  let upstream: FakeUpstream;
  let issuer: TestIssuer;
  let restricted: TestIssuer;
  let gateway: TestGateway;
  before(async () => {
    upstream = await startUpstream();
    issuer = await startIssuer();
    restricted = await startIssuer(Date.now, 'ES256');
    const extra = { own: { requests: 1, per: 'key' } };
    gateway = await startGateway({
      ...thingsAt(upstream.url, { test: upstream.url }),
      gateway: {
        issuers: {
          web: { ...issuer.entry, scopesMax: ['*', 'mail:read'] },
          kiosk: { ...restricted.entry, scopesMax: ['things:read'], mode: 'test', claims: { scopes: 'scp' } },
        },
      },
      limits: { extra, operations: { getThing: { extra: 'own' } } },
    });
    for (const organization of ['org_test', 'org_tier', 'org_state']) await gateway.issueKey({ organization });
  });
  after(async () => {
    await gateway.stop();
    await issuer.close();
    await restricted.close();
    await upstream.close();
  });

  const call = (token: string, line = 'GET /v1/things', headers: Record<string, string> = {}): Promise<Answer> =>
    ask(gateway.port, requestOf(line, { Authorization: `Bearer ${token}`, ...headers }));
  const codeOf = async (token: string) => (await call(token)).headers['x-error-code'];
  const sent = () => upstream.requests.at(-1)?.headers ?? {};
  const assertion = () => decodeJwt(String(sent()['x-gateway-assertion']));

  it('reaches the upstream as an assertion of the gateway, and itself never does', async () => {
    const token = issuer.sign({ scope: 'things:read jobs:write' });
    assert.equal((await call(token, 'GET /v1/things', { 'X-Api-Key-Id': 'forged' })).status, 200);
    const { iss: _, aud: __, iat: ___, exp: ____, ...said } = assertion();
    const scopes = ['things:read', 'jobs:write'];
    const token_issuer = 'web';
    assert.deepEqual(said, { sub: 'user-1', token_issuer, org: 'org_test', tier: 'standard', mode: 'live', scopes });
    assert.equal(sent()['x-organization-id'], 'org_test');
    assert.equal(sent()['x-api-key-id'], undefined, 'there is no key');
    assert.equal(sent().authorization, undefined);
    assert.ok(!JSON.stringify(sent()).includes(token.split('.')[2] ?? ''));
  });

  it('is one caller for the requests it comes with: they share an assertion', async () => {
    const token = issuer.sign();
    await call(token);
    const first = sent()['x-gateway-assertion'];
    await call(token);
    assert.equal(sent()['x-gateway-assertion'], first);
  });

  it('is distinguished from a token of another issuer with the same subject', async () => {
    const whoIs = async (from: TestIssuer) => {
      await call(from.sign({ sub: 'same', scp: '*' }));
      const { token_issuer, sub } = assertion();
      return [token_issuer, sub];
    };
    assert.deepEqual(
      [await whoIs(issuer), await whoIs(restricted)],
      [
        ['web', 'same'],
        ['kiosk', 'same'],
      ],
    );
    const { key } = await gateway.issueKey();
    await call(key);
    assert.ok(!('token_issuer' in assertion()), 'a key has no issuer');
  });

  it('is named in the log by its issuer and subject', async () => {
    const answer = await call(issuer.sign({ sub: 'auth0|7' }));
    const line = gateway.logLines().find(({ request_id }) => request_id === answer.headers['x-request-id']);
    const { token_issuer, subject, key_id, organization, tier, mode } = line ?? {};
    assert.deepEqual(
      { token_issuer, subject, key_id, organization, tier, mode },
      {
        token_issuer: 'web',
        subject: 'auth0|7',
        key_id: undefined,
        organization: 'org_test',
        tier: 'standard',
        mode: 'live',
      },
    );
  });

  it('gets the scopes that its issuer may grant, in the mode of the issuer', async () => {
    await call(restricted.sign({ scp: ['*'], scope: '*' }));
    assert.deepEqual([assertion().scopes, assertion().mode], [['things:read'], 'test']);
    const refused = await call(restricted.sign({ scp: '*' }), 'PATCH /v1/things/1');
    assert.deepEqual(
      [refused.headers['x-error-code'], refused.error.required_scopes],
      ['insufficient_scope', ['things:write']],
    );
  });

  it('of an organization that is no operator gets no operator scope, even if it names one', async () => {
    await call(issuer.sign({ scope: '* mail:read mail:write' }));
    assert.deepEqual(assertion().scopes, ['*']);
  });

  it('is counted with its organization, and per key by its issuer and subject', async () => {
    const ask = async (from: TestIssuer, sub: string) =>
      (await call(from.sign({ sub, scp: '*' }), 'GET /v1/things/1')).headers['x-error-code'];
    assert.deepEqual(
      [await ask(issuer, 'one'), await ask(issuer, 'one'), await ask(issuer, 'two'), await ask(restricted, 'one')],
      [undefined, 'rate_limited', undefined, undefined],
    );
  });

  it('that is known has the new tier of its organization within a second', async () => {
    const token = issuer.sign({ org: 'org_tier' });
    assert.equal((await call(token)).headers['x-ratelimit-limit'], '100000');
    await gateway.store.organizations.change('org_tier', { tier: 'premium' }, 'test');
    await within(async () => (await call(token)).headers['x-ratelimit-limit'] === '1000000');
    assert.equal(assertion().tier, 'premium');
  });

  it('that is known is refused within a second when its organization is suspended, and good again when that ends', async () => {
    const token = issuer.sign({ org: 'org_state' });
    assert.equal(await codeOf(token), undefined);
    await gateway.store.organizations.suspend('org_state', 'test');
    await within(async () => (await codeOf(token)) === 'account_inactive');
    await gateway.store.organizations.resume('org_state', 'test');
    await within(async () => (await codeOf(token)) === undefined);
  });

  it('of an organization that did not exist is good as soon as it does', async () => {
    const token = issuer.sign({ org: 'org_later' });
    assert.equal(await codeOf(token), 'token_invalid');
    await gateway.issueKey({ organization: 'org_later' });
    await within(async () => (await codeOf(token)) === undefined);
  });

  it('and a key go side by side', async () => {
    const { authorization } = await gateway.authorize();
    assert.equal((await call(authorization.slice(7))).status, 200);
  });

  it('is seen in the state of the gateway by the keys of its issuer', async () => {
    const { issuers } = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as {
      issuers: Record<string, { keys: object[]; readAtMs: number }>;
    };
    assert.deepEqual(issuers.web?.keys, [{ kid: issuer.key().kid, algorithm: 'EdDSA' }]);
    assert.ok(Math.abs((issuers.kiosk?.readAtMs ?? 0) - Date.now()) < 60_000);
  });
});

describe('a known token', () => {
  it('passes where unknown ones are throttled', async () => {
    const issuer = await startIssuer();
    const upstream = await startUpstream();
    const gateway = await startGateway({
      ...thingsAt(upstream.url),
      gateway: { issuers: { web: issuer.entry } },
      limits: { addresses: { failures: 3 } },
    });
    await gateway.issueKey();
    const codeOf = async (token: string) =>
      (await ask(gateway.port, requestOf('GET /v1/things', { Authorization: `Bearer ${token}` }))).headers[
        'x-error-code'
      ];
    try {
      const token = issuer.sign();
      assert.equal(await codeOf(token), undefined);
      for (let failures = 0; failures < 3; failures += 1) await codeOf(issuer.sign({ aud: 'other' }));
      await within(async () => (await codeOf(issuer.sign({ jti: 'unknown' }))) === 'auth_attempts_limited');
      assert.equal(await codeOf(token), undefined);
    } finally {
      await gateway.stop();
      await issuer.close();
      await upstream.close();
    }
  });
});

/** Bounded by two seconds: a change has one to take effect. */
async function within(holds: () => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + 2000;
  while (!(await holds())) {
    if (performance.now() > endsAt) throw new Error('it did not happen within two seconds');
    await sleep(20);
  }
}
