// A refused token gets the reason, in the one error object and with the challenge of RFC 6750.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runCases } from '../../support/errors.ts';
import { startGateway } from '../../support/gateway.ts';
import { startIssuer } from '../../support/issuer.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { type TokenWorld, tokenCases } from './token.cases.ts';

describe('tokens', () => {
  let upstream: FakeUpstream;
  let world: TokenWorld;
  before(async () => {
    upstream = await startUpstream();
    const [issuer, unreachable] = [await startIssuer(), await startIssuer()];
    unreachable.goAway();
    const issuers = { web: issuer.entry, away: unreachable.entry };
    const gateway = await startGateway({ ...thingsAt(upstream.url), gateway: { issuers } });
    await gateway.issueKey();
    await gateway.issueKey({ organization: 'org_suspended' });
    await gateway.store.organizations.suspend('org_suspended', 'test');
    world = { gateway, issuer, unreachable };
  });
  after(async () => {
    await world.gateway.stop();
    await world.issuer.close();
    await world.unreachable.close();
    await upstream.close();
  });

  runCases(tokenCases, () => world);

  it('that were refused reached no upstream and left no trace of themselves in the log', () => {
    assert.deepEqual(upstream.requests, []);
    assert.doesNotMatch(JSON.stringify(world.gateway.logLines()), /eyJ/);
  });

  it('of an issuer that was down at the boot do not prevent the start, and a log line reports it', () => {
    const warning = world.gateway.logLines().find(({ issuer }) => issuer === 'away');
    assert.deepEqual([warning?.level, typeof warning?.reason], [40, 'string']);
  });
});
