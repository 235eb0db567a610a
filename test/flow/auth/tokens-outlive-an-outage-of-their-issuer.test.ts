// An issuer that is away for ten minutes affects no token whose signing key is known; when it returns, all its tokens work.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ask, requestOf, until } from '../../support/connection.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { startIssuer, type TestIssuer } from '../../support/issuer.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { fakeClock } from '../../unit/auth/samples.ts';

describe('while an issuer is away', () => {
  const clock = fakeClock();
  let upstream: FakeUpstream;
  let issuer: TestIssuer;
  let gateway: TestGateway;
  before(async () => {
    upstream = await startUpstream();
    issuer = await startIssuer(clock.now);
    gateway = await startGateway({
      ...thingsAt(upstream.url),
      gateway: { issuers: { web: issuer.entry } },
      now: clock.now,
    });
    await gateway.issueKey();
  });
  after(async () => {
    await gateway.stop();
    await issuer.close();
    await upstream.close();
  });

  const call = (token: string) => ask(gateway.port, requestOf('GET /v1/things', { Authorization: `Bearer ${token}` }));
  const statusOf = async (token: string) => (await call(token)).status;

  it('known tokens, and new tokens of known keys, work for ten minutes; a token that cannot be checked is not called invalid', async () => {
    const known = issuer.sign();
    assert.equal(await statusOf(known), 200);
    issuer.goAway();
    const statuses: number[] = [];
    for (let minute = 0; minute < 10; minute += 1) {
      clock.advance(60_000);
      statuses.push(await statusOf(known), await statusOf(issuer.sign({ jti: `${minute}` })));
    }
    assert.deepEqual(statuses, Array(20).fill(200));

    const before = issuer.key();
    issuer.rotate();
    assert.deepEqual((await call(issuer.sign())).headers['x-error-code'], 'auth_unavailable');
    assert.equal(await statusOf(issuer.sign({}, { kid: before.kid })), 401, 'a token with a known key is checked');
    assert.equal(await statusOf(known), 200);
  });

  it('operators see it, and clients get only the time to retry', async () => {
    const { body, headers } = await call(issuer.sign());
    assert.doesNotMatch(body.toString(), /127\.0\.0\.1|UND_ERR|ECONN|keys/);
    assert.equal(headers['retry-after'], '2');
    const status = await (await fetch(`${gateway.adminUrl}/status`)).json();
    assert.match((status as { issuers: { web: { failure: string } } }).issuers.web.failure, /^(UND_ERR|ECONN)/);
    const warnings = gateway.logLines().filter((line) => line.issuer === 'web' && line.level === 40);
    assert.equal(warnings.length, 1);
  });

  it('its return is noticed without a restart: the new key is read as soon as a token names it', async () => {
    issuer.publish();
    clock.advance(30_000);
    assert.equal(await statusOf(issuer.sign()), 200);
    await until(() => gateway.logLines().some((line) => line.issuer === 'web' && line.level === 30));
  });
});
