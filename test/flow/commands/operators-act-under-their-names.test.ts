// Commands that ask the running gateway take the token of an operator with a name: the audit log then names the operator. Without it, they
// say how to give it.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { runInProcess } from '../../support/in-process.ts';

const [anna, bob] = ['anna-has-a-token-of-her-own', 'bob-has-a-token-of-his-own'];
const OPERATOR_TOKENS = `anna act ${anna}\nbob look ${bob}\n`;

describe('a gateway whose only tokens are of operators with names', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ environment: { OPERATOR_TOKENS } });
    await gateway.issueKey();
  });
  after(() => gateway.stop());

  const run = (words: readonly string[], token?: string) =>
    runInProcess(words, {
      environment: {
        ...{ OPERATOR_TOKENS, GATEWAY_DATA: gateway.dataDirectory, ADMIN_PORT: String(gateway.app.adminPort) },
        ...(token !== undefined && { GATEWAY_OPERATOR_TOKEN: token }),
      },
    });
  const latest = async () => (await gateway.store.audit.list({ limit: 1 }))[0];
  const acting = [
    ['alerts', 'silence', 'upstream orders *', '--for', '2h'],
    ['limits', 'reset', '--org', 'org_test'],
  ];

  for (const words of acting) {
    const name = words.slice(0, 2).join(' ');

    it(`${name} without a token says which one, and where to put it`, async () => {
      const before = await latest();
      const { code, stderr } = await run(words);
      assert.equal(code, 1);
      assert.match(stderr, /answered 401: The admin token is required, or that of an operator who may act\./);
      assert.match(stderr, /Put your token of the secret operator_tokens into GATEWAY_OPERATOR_TOKEN\./);
      assert.deepEqual(await latest(), before);
    });

    it(`${name} with the token of an operator who looks changes nothing`, async () => {
      const before = await latest();
      const { code, stderr } = await run(words, bob);
      assert.equal(code, 1);
      assert.match(stderr, /answered 403: This token only looks/);
      assert.deepEqual(await latest(), before);
    });

    it(`${name} with the token of an operator who acts is in the audit log under that name`, async () => {
      const { code, stderr } = await run(words, anna);
      assert.deepEqual([code, stderr], [0, '']);
      assert.equal((await latest())?.by, 'anna');
    });
  }

  it('help names the variable', async () => {
    assert.match((await run(['alerts', 'silence', '--help'])).stdout, /GATEWAY_OPERATOR_TOKEN/);
  });
});
