// The actions of the console: what each would do, that it does just that, in the name of the admin token, and what it refuses.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import supertest from 'supertest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const ADMIN = 'an-admin-token-for-this-test';

describe('an action of the console', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    // It refuses the credential of the gateway.
    upstream = await startUpstream((_request, response) => response.writeHead(401).end());
    gateway = await startGateway({
      ...thingsAt(upstream.url, { credential: { basic: { user: 'gateway', secret: 'login' } } }),
      limits: { tiers: { standard: { requests: 10 }, premium: { requests: 100 } } },
      environment: { ADMIN_TOKEN: ADMIN, LOGIN: 'a-password-that-is-refused' },
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function act(action: string, body: object) {
    const {
      status,
      body: answer,
      headers,
    } = await supertest(gateway.adminUrl)
      .post(`/console/actions/${action}`)
      .set({ Authorization: `Bearer ${ADMIN}`, 'X-Console-Action': '1' })
      .send(body);
    return { status, answer, id: String(headers['x-request-id']) };
  }
  const plan = (action: string, target: string, more = {}) => act(action, { target, dry_run: true, ...more });
  const carryOut = (action: string, target: string, more = {}) => act(action, { target, dry_run: false, ...more });

  async function changesSince(sequence: number) {
    const { changes } = await gateway.store.audit.since(sequence, 100);
    return changes.map(({ kind, by, organization, key, details }) => ({ kind, by, organization, key, details }));
  }
  const latest = async () => (await gateway.store.audit.since(Number.MAX_SAFE_INTEGER, 1)).latest;

  it('suspends and resumes an organization, after a plan that changes nothing', async () => {
    await gateway.issueKey({ organization: 'org_state' });
    await gateway.issueKey({ organization: 'org_state', expiresAtMs: 1 });
    const start = await latest();
    const planned = await plan('suspend-organization', 'org_state');
    const { if_match: tag, ...told } = planned.answer;
    assert.deepEqual(told, {
      action: 'suspend-organization',
      target: 'org_state',
      organization: 'org_state',
      dry_run: true,
      before: { state: 'active' },
      after: { state: 'suspended' },
      usable_keys: { before: 1, after: 1 },
    });
    assert.equal(await latest(), start);
    const done = await carryOut('suspend-organization', 'org_state', { if_match: tag });
    assert.deepEqual([done.status, done.answer.dry_run], [200, false]);
    const [change, ...more] = await changesSince(start);
    assert.deepEqual([change?.kind, change?.by, more], ['organization.suspended', 'admin_token', []]);
    const { request_id, before: was, after: is } = change?.details ?? {};
    assert.deepEqual([request_id, was, is], [done.id, { state: 'active' }, { state: 'suspended' }]);
    assert.match(done.id, /^admin_/);
    // The operator has seen another state than that of now.
    const stale = await carryOut('resume-organization', 'org_state', { if_match: tag });
    assert.deepEqual([stale.status, stale.answer.code], [412, 'precondition_failed']);
    assert.equal((await carryOut('resume-organization', 'org_state')).status, 200);
    assert.equal((await gateway.store.organizations.get('org_state'))?.state, 'active');
  });

  it('changes a tier to one that exists', async () => {
    await gateway.issueKey({ organization: 'org_tier' });
    const planned = await plan('change-tier', 'org_tier', { tier: 'premium' });
    assert.deepEqual(
      [planned.answer.before, planned.answer.after],
      [
        { tier: 'standard', limit: '10 in 60 s' },
        { tier: 'premium', limit: '100 in 60 s' },
      ],
    );
    for (const tier of ['gold', 'constructor', '__proto__'])
      for (const ask of [plan, carryOut]) {
        const { status, answer } = await ask('change-tier', 'org_tier', { tier });
        assert.deepEqual([status >= 400 && status < 500, answer.error], [true, 'There is no such tier.'], tier);
      }
    await carryOut('change-tier', 'org_tier', { tier: 'premium' });
    assert.equal((await gateway.store.organizations.get('org_tier'))?.tier, 'premium');
  });

  it('revokes a key, and the last usable one only if that is asked for', async () => {
    const first = await gateway.issueKey({ organization: 'org_keys' });
    const last = await gateway.issueKey({ organization: 'org_keys' });
    const planned = await plan('revoke-key', first.id);
    assert.deepEqual(planned.answer.usable_keys, { before: 2, after: 1 });
    assert.deepEqual([planned.answer.last_key, planned.answer.organization], [false, 'org_keys']);
    const start = await latest();
    const done = await carryOut('revoke-key', first.id, { reason: 'leaked', if_match: planned.answer.if_match });
    assert.equal(done.status, 200);
    const [change] = await changesSince(start);
    assert.deepEqual([change?.kind, change?.by, change?.key], ['key.revoked', 'admin_token', first.id]);
    assert.deepEqual([change?.details.reason, change?.details.request_id], ['leaked', done.id]);
    const again = await plan('revoke-key', first.id);
    assert.deepEqual([again.answer.before, again.answer.usable_keys], [{ state: 'revoked' }, { before: 1, after: 1 }]);
    assert.equal((await plan('revoke-key', last.id)).answer.last_key, true);
    const refused = await carryOut('revoke-key', last.id, { allow_last: false });
    assert.deepEqual([refused.status, refused.answer.code], [409, 'last_key']);
    assert.equal((await gateway.store.keys.get(last.id))?.revokedAtMs, undefined);
    assert.equal((await carryOut('revoke-key', last.id, { allow_last: true })).status, 200);
    assert.notEqual((await gateway.store.keys.get(last.id))?.revokedAtMs, undefined);
  });

  it('is done once, however often it is sent at the same time', async () => {
    await gateway.issueKey({ organization: 'org_often' });
    const start = await latest();
    const { if_match } = (await plan('suspend-organization', 'org_often')).answer;
    const all = await Promise.all(
      Array.from({ length: 8 }, () => carryOut('suspend-organization', 'org_often', { if_match })),
    );
    assert.ok(all.every(({ status }) => status === 200 || status === 412));
    assert.equal((await changesSince(start)).length, 1);
  });

  it('resets limits', async () => {
    const { authorization } = await gateway.authorize({ organization: 'org_limits' });
    for (let count = 0; count < 3; count += 1)
      await (await fetch(`${gateway.url}/v1/things`, { headers: { authorization } })).arrayBuffer();
    const planned = await plan('reset-limits', 'org_limits');
    assert.deepEqual([planned.answer.before, planned.answer.after], [{ organization: 3 }, { organization: 0 }]);
    const start = await latest();
    const done = await carryOut('reset-limits', 'org_limits');
    const [change] = await changesSince(start);
    assert.deepEqual([change?.kind, change?.by, change?.organization], ['limits.reset', 'admin_token', 'org_limits']);
    assert.equal(change?.details.request_id, done.id);
    assert.deepEqual((await plan('reset-limits', 'org_limits')).answer.before, { organization: 0 });
  });

  it('lets a latched credential be tried again', async () => {
    const { authorization } = await gateway.authorize({ organization: 'org_upstream' });
    const upstreams = async () => (await supertest(gateway.adminUrl).get('/status')).body.upstreams;
    await (await fetch(`${gateway.url}/v1/things`, { headers: { authorization } })).arrayBuffer();
    const planned = await plan('retry-upstream', 'things');
    assert.deepEqual(
      [planned.answer.before, planned.answer.after],
      [{ credential: 'latched' }, { credential: 'unproven' }],
    );
    assert.equal((await upstreams()).things.credential, 'latched');
    const start = await latest();
    const done = await carryOut('retry-upstream', 'things');
    assert.equal(done.status, 200);
    const [change, ...more] = await changesSince(start);
    assert.deepEqual([change?.kind, change?.by, more], ['upstream.retried', 'admin_token', []]);
    assert.deepEqual([change?.details.upstream, change?.details.request_id], ['things', done.id]);
    assert.equal((await upstreams()).things.credential, 'unproven');
  });

  it('refuses a target that does not exist', async () => {
    const targets = ['org_nobody', 'constructor', '__proto__', 'org_state/../org_tier', '*', 'org_%00', ' org_state'];
    const actions = ['suspend-organization', 'resume-organization', 'revoke-key', 'reset-limits', 'retry-upstream'];
    for (const action of actions)
      for (const target of targets)
        for (const ask of [plan, carryOut]) {
          const { status, answer } = await ask(action, target);
          assert.deepEqual([status, answer.code], [404, 'resource_missing'], `${action} ${target}`);
        }
  });

  it('is in force on the one instance soon', async () => {
    await gateway.issueKey({ organization: 'org_force' });
    await carryOut('suspend-organization', 'org_force');
    const endsAt = Date.now() + 5000;
    const read = async () => (await supertest(gateway.adminUrl).get('/console/in-force').expect(200)).body;
    let state = await read();
    while (state.unconfirmed.length > 0 && Date.now() < endsAt) state = await read();
    assert.deepEqual(state, { confirmed: 1, unconfirmed: [] });
  });
});
