// The paths that the gateway answers by itself do not run through the pipeline. If they also skipped its first stage, a request that is
// ambiguous everywhere else would be accepted there, and a connection could be prepared on them for a request that is smuggled behind.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { sendRaw } from '../support/raw.ts';

describe('the published keys', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ upstreams: { platform: { contracts: ['v1/*.yaml'], live: 'http://127.0.0.1:1' } } });
  });
  after(() => gateway.stop());

  const ask = (head: string) => sendRaw(gateway.port, `GET /.well-known/jwks.json HTTP/1.1\r\n${head}\r\n\r\n`);

  it('are answered to a plain request', async () => {
    const answer = await ask('Host: a');
    assert.equal(answer.status, 200);
    assert.equal(JSON.parse(answer.body).keys[0].crv, 'Ed25519');
    assert.match(answer.headers['x-request-id'] ?? '', /^req_/);
  });

  for (const [what, head, code] of [
    ['two Host lines', 'Host: a\r\nHost: b', 'malformed_http'],
    [
      'two Authorization lines',
      'Host: a\r\nAuthorization: Bearer x\r\nAuthorization: Bearer y',
      'authorization_ambiguous',
    ],
    ['a transfer coding that is not chunked', 'Host: a\r\nTransfer-Encoding: gzip, chunked', 'malformed_http'],
    ['an unknown expectation', 'Host: a\r\nExpect: everything', 'expectation_failed'],
  ] as const) {
    it(`are refused to a request with ${what}`, async () => {
      const answer = await ask(head);
      assert.equal(answer.error?.code, code, answer.text);
      assert.equal(answer.error?.request_id, answer.headers['x-request-id']);
    });
  }
});
