// A refused credential gets the reason, in the one error object and with the challenge of RFC 6750.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ask, requestOf } from '../../support/connection.ts';
import { runCases } from '../../support/errors.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { credentialCases } from './credentials.cases.ts';

describe('credentials', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway(thingsAt(upstream.url));
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  it('spell their scheme as they like', async () => {
    const { authorization } = await gateway.authorize();
    for (const spelling of [authorization, authorization.replace('Bearer', 'bEARER')]) {
      const answer = await ask(gateway.port, requestOf('GET /v1/things', { Authorization: spelling }));
      assert.equal(answer.status, 200);
    }
  });

  runCases(credentialCases, () => gateway);

  it('that were refused reached no upstream', () => {
    const sent = upstream.requests.map(({ headers }) => headers['x-api-key-id']);
    assert.ok(sent.every((id) => id !== undefined));
  });
});
