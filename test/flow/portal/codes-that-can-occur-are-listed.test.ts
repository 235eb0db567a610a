// The documentation lists the codes that the configuration in force can give, and names them at the operations that can give them.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { type GatewayOptions, startGateway, type TestGateway } from '../../support/gateway.ts';
import { ownContractAndThings } from '../../support/own-contract.ts';
import { thingsAt } from '../../support/things.ts';

const SERVICE = 'http://127.0.0.1:9';
const gateways: TestGateway[] = [];
after(() => Promise.all(gateways.map((gateway) => gateway.stop())));

async function codesAt(options: GatewayOptions) {
  const gateway = await startGateway(options);
  gateways.push(gateway);
  const text = async (path: string) => (await fetch(gateway.url + path)).text();
  return {
    text,
    async codes(path: string) {
      const [, main = ''] = (await text(path)).split('<main');
      return new Set([...main.matchAll(/href="\/docs\/errors\/(\w+)"/g)].map(([, code = '']) => code));
    },
  };
}

const lackingHere = [
  ...['session_required', 'login_failed', 'token_expired', 'basic_credentials_invalid', 'last_key', 'tls_required'],
  ...['misdirected_request', 'version_sunset', 'tool_answer_too_large'],
];

describe('a gateway with one service', async () => {
  const { text, codes } = await codesAt(thingsAt(SERVICE));

  it('lists codes of keys, repeats and services, and none of what it does not have', async () => {
    const listed = await codes('/docs/errors');
    for (const code of ['api_key_invalid', 'key_mode_mismatch', 'idempotency_key_missing', 'upstream_timeout'])
      assert.ok(listed.has(code), code);
    assert.deepEqual(
      lackingHere.filter((code) => listed.has(code)),
      [],
    );
    const [list, index] = [await text('/docs/errors.md'), await text('/docs/search.json')];
    for (const code of lackingHere) assert.ok(!list.includes(code) && !index.includes(`/errors/${code}"`), code);
  });

  it('says on the page of such a code that it does not occur', async () => {
    assert.match(await text('/docs/errors/session_required'), /does not refuse requests with this code at present/);
    assert.doesNotMatch(await text('/docs/errors/api_key_invalid'), /at present/);
  });

  it('names at an operation what it can be refused with', async () => {
    const [read, write] = [await codes('/docs/reference/v1/listThings'), await codes('/docs/reference/v1/createThing')];
    assert.ok(read.has('insufficient_scope') && write.has('insufficient_scope'));
    assert.ok(!read.has('idempotency_key_reused') && write.has('idempotency_key_reused'));
    assert.ok(!write.has('idempotency_key_missing'), 'the key is optional');
    for (const code of ['api_key_malformed', 'account_inactive', 'ip_not_allowed', 'upstream_overloaded'])
      assert.ok(read.has(code) && write.has(code), code);
    for (const code of ['duplicate_json_member', 'idempotency_outcome_unknown'])
      assert.ok(!read.has(code) && write.has(code), code);
    assert.ok(!write.has('malformed_form'), 'it takes JSON');
  });
});

it('lists what a configuration adds', async () => {
  const { codes } = await codesAt({
    ...ownContractAndThings(SERVICE, { test: SERVICE }),
    gateway: {
      hosts: { api: '127.0.0.1' },
      operations: { listThings: { deprecated: '2026-01-17', sunset: '2099-07-17' } },
      mcp: { entries: ['things'] },
    },
  });
  const listed = await codes('/docs/errors');
  for (const code of [
    'last_key',
    'misdirected_request',
    'version_sunset',
    'tool_answer_too_large',
    'key_mode_mismatch',
  ])
    assert.ok(listed.has(code), code);
  const own = await codes('/docs/reference/gateway/getLimits');
  assert.ok(own.has('gateway_overloaded') && !own.has('upstream_timeout'), 'no service has part in it');
  const read = await codes('/docs/reference/v1/listThings');
  assert.ok(!read.has('key_mode_mismatch'), 'test keys reach a target of their own');
});
