// The operations of openapi/gateway/ pass the stages as any others, and the gateway itself executes them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AdministrationAnswer, startAdministration } from '../../support/administration.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { eventually } from '../../support/instances.ts';

const start = closesAfterAll();

const refusedWith = ({ status, body }: AdministrationAnswer) => [status, body?.error?.code];

describe('the gateway as its own upstream', async () => {
  const { gateway, administer } = await start(startAdministration());
  const { key } = await gateway.issueKey({ organization: 'org_acme', scopes: ['gateway:read'] });
  const operator = { organization: 'org_staff', operator: true } as const;
  const { key: reader } = await gateway.issueKey({ ...operator, scopes: ['gateway:configuration:read'] });

  it('answers with the caller’s data, and with the headers of every answer', async () => {
    const answer = await administer('GET /gateway/v1/organization', { key });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, {
      id: 'org_acme',
      name: 'org_acme',
      tier: 'standard',
      state: 'active',
      contacts: [],
      operator: false,
    });
    assert.match(String(answer.headers.get('x-request-id')), /^req_/);
    assert.match(String(answer.headers.get('ratelimit-policy')), /"organization"/);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  });

  it('logs the exchange like one with a service', async () => {
    const answer = await administer('GET /gateway/v1/organization', { key });
    const id = answer.headers.get('x-request-id');
    const line = gateway.logLines().find(({ request_id }) => request_id === id);
    assert.equal(line?.upstream, 'gateway');
    assert.equal(line?.target, 'gateway:');
    assert.equal(line?.upstream_status, 200);
    assert.ok(line && !('trace_id' in line));
  });

  it('answers HEAD without a body', async () => {
    const answer = await administer('HEAD /gateway/v1/organization', { key });
    assert.deepEqual([answer.status, answer.text], [200, '']);
    assert.ok(Number(answer.headers.get('content-length')) > 0);
  });

  it('shows operators the configuration in force', async () => {
    const { status, body } = await administer('GET /gateway/v1/configuration', { key: reader });
    assert.equal(status, 200);
    assert.match(body.digest, /^[0-9a-f]{64}$/);
    assert.equal(body.gateway_version, 'test');
    assert.ok(Date.parse(body.in_force_since) <= Date.now());
  });

  it('refuses test keys, the scope *, and organizations that are no operators', async () => {
    const { key: test } = await gateway.issueKey({ mode: 'test', scopes: ['gateway:read'] });
    const { key: all } = await gateway.issueKey({ scopes: ['*'] });
    const { key: intruder } = await gateway.issueKey({ scopes: ['gateway:configuration:read'] });
    assert.deepEqual(refusedWith(await administer('GET /gateway/v1/organization', { key: test })), [
      403,
      'key_mode_mismatch',
    ]);
    for (const [line, as] of [
      ['GET /gateway/v1/organization', all],
      ['GET /gateway/v1/configuration', all],
      ['GET /gateway/v1/configuration', intruder],
    ] as const)
      assert.deepEqual(refusedWith(await administer(line, { key: as })), [403, 'insufficient_scope'], line);
  });

  it('shows a record that is older than the contract, and reports it', async () => {
    const old = { id: 'org_old', name: 'x'.repeat(201), tier: 'standard', state: 'active', operator: false } as const;
    await gateway.store.organizations.create({ ...old, contacts: ['not an address'] }, 'test');
    const { key: ofOld } = await gateway.issueKey({ organization: 'org_old', scopes: ['gateway:read'] });
    // One answer of each operation is checked in a second.
    await eventually(async () => {
      const { status, headers, body } = await administer('GET /gateway/v1/organization', { key: ofOld });
      assert.deepEqual([status, body.name, body.contacts], [200, old.name, ['not an address']]);
      const line = gateway.logLines().find(({ request_id }) => request_id === headers.get('x-request-id'));
      return Array.isArray(line?.answer_violations) && line.answer_violations.length === 2;
    });
  });

  it('says nothing about a request that its contract refuses', async () => {
    const answer = await administer('GET /gateway/v1/organization?organization_id=org_staff', { key });
    assert.deepEqual(refusedWith(answer), [400, 'validation_failed']);
  });
});
