// Limits, events, the audit log, alerts, upstreams and certificates through the gateway's own contract.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Administer, type AdministrationAnswer, administerAt } from '../../support/administration.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { allPages, ownContractAndThings } from '../../support/own-contract.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const refusal = ({ status, body }: AdministrationAnswer) => [status, body?.error?.code];

describe('what the gateway knows', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let administer: Administer;
  let mine: { readonly id: string; readonly key: string };
  let staff: { readonly id: string; readonly key: string };
  before(async () => {
    upstream = await startUpstream(
      (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
    );
    gateway = await startGateway({
      ...ownContractAndThings(upstream.url),
      gateway: { operations: { listThings: { deprecated: '2026-01-17', sunset: '2099-07-17' } } },
      limits: { tiers: { standard: { requests: 1000 } } },
    });
    administer = administerAt(gateway);
    mine = await gateway.issueKey({ organization: 'org_mine', scopes: ['*', 'gateway:read'] });
    const scopes = ['limits:read', 'limits:write', 'audit:read', 'upstreams:read', 'upstreams:write'];
    const more = ['certificates:read', 'deprecations:read', 'alerts:read', 'alerts:write'];
    staff = await gateway.issueKey({
      organization: 'org_staff',
      operator: true,
      scopes: ['gateway:read', ...[...scopes, ...more].map((scope) => `gateway:${scope}`)],
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const asMine = (line: string) => administer(line, { key: mine.key });
  const asStaff = (line: string) => administer(line, { key: staff.key });

  it('limits: clients see their own, operators see and reset all; a reset is previewed, audited and in force', async () => {
    for (let count = 0; count < 5; count += 1) await asMine('GET /v1/things');
    const { body } = await asMine('GET /gateway/v1/limits');
    assert.deepEqual(Object.keys(body.data[0]).sort(), [
      ...[
        'enforced',
        'key_id',
        'limit',
        'next_freed_at',
        'operations',
        'policy',
        'remaining',
        'used',
        'window_seconds',
      ],
    ]);
    assert.deepEqual([body.organization_id, body.tier, body.data[0].used], ['org_mine', 'standard', 6]);
    const path = '/gateway/v1/organizations/org_mine/limits';
    assert.equal((await asStaff(`GET ${path}`)).body.data[0].used, 6);
    assert.deepEqual(refusal(await asMine(`GET ${path}`)), [403, 'insufficient_scope']);
    assert.deepEqual(refusal(await asMine(`POST ${path}/reset`)), [403, 'insufficient_scope']);
    for (const line of [
      'GET /gateway/v1/organizations/org_none/limits',
      'POST /gateway/v1/organizations/org_none/limits/reset',
    ])
      assert.deepEqual(refusal(await asStaff(line)), [404, 'resource_missing'], line);
    const tried = await asStaff(`POST ${path}/reset?dry_run=true`);
    assert.equal((await asStaff(`GET ${path}`)).body.data[0].used, 6);
    const made = await asStaff(`POST ${path}/reset?wait=5`);
    assert.equal(made.body.counters, tried.body.counters);
    assert.deepEqual([made.body.in_force.confirmed, made.body.in_force.unconfirmed], [1, 0]);
    assert.equal((await asStaff(`GET ${path}`)).body.data[0].used, 0);
    const { data } = (await asStaff('GET /gateway/v1/audit?organization_id=org_mine&limit=1')).body;
    const limitsOf = (used: number) => ({ limits: [{ policy: 'organization', key_id: null, used }] });
    const [{ id: _, at: __, ...entry }] = data;
    assert.deepEqual(entry, {
      ...{ kind: 'limits.reset', by: staff.id, organization_id: 'org_mine', key_id: null },
      request_id: made.headers.get('x-request-id'),
      details: { before: limitsOf(6), after: limitsOf(0) },
    });
  });

  it('events: own changes, without the names of operators, and deprecated operations; each once, in pages', async () => {
    const { store } = gateway;
    await store.organizations.suspend('org_mine', 'ada@example.com');
    await store.organizations.resume('org_mine', 'ada@example.com');
    await store.organizations.change(
      'org_mine',
      { contacts: ['a@b.example'] },
      { by: mine.id, requestId: 'req_own', organization: 'org_mine' },
    );
    await store.audit.append('configuration.changed', 'reload', { outcome: 'applied' });
    let added = 0;
    const events = await allPages(administer, 'GET /gateway/v1/events?limit=1', mine.key, async () => {
      added += 1;
      await store.organizations.change('org_mine', { contacts: [`a${added}@b.example`] }, 'ada@example.com');
    });
    assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
    assert.deepEqual(
      events.map(({ kind, by }) => [kind, by]),
      [
        ['organization.changed', mine.id],
        ['organization.resumed', 'operator'],
        ['organization.suspended', 'operator'],
        ['limits.reset', 'operator'],
        ['key.created', 'operator'],
        ['organization.created', 'operator'],
        ['operation.deprecated', null],
      ],
    );
    assert.deepEqual([events[0].request_id, events[3].request_id], ['req_own', null]);
    assert.doesNotMatch(JSON.stringify(events), /ada@|org_staff|by_organization/);
    const { operation_id: operation, sunset, requests, state } = events.at(-1).details;
    assert.deepEqual([operation, sunset, requests, state], ['listThings', '2099-07-17', 5, 'deprecated']);
    const other = await allPages(administer, 'GET /gateway/v1/events', staff.key);
    assert.ok(other.every(({ kind, key_id: id }) => kind !== 'operation.deprecated' && id !== mine.id));
  });

  it('the audit log: in pages, by organization and time', async () => {
    const all = await allPages(administer, 'GET /gateway/v1/audit?limit=3', staff.key);
    const sequences = all.map(({ id }) => Number(id));
    assert.deepEqual(
      sequences,
      sequences.toSorted((one, other) => other - one),
    );
    assert.equal(sequences.length, new Set(sequences).size);
    const { latest } = await gateway.store.audit.since(0, 1);
    assert.equal(sequences[0], latest);
    const later = new Date(Date.now() + 60_000).toISOString();
    assert.deepEqual(await allPages(administer, `GET /gateway/v1/audit?from=${later}`, staff.key), []);
    const { cursor } = (await asStaff('GET /gateway/v1/audit?limit=1&organization_id=org_mine')).body;
    assert.deepEqual(refusal(await asStaff(`GET /gateway/v1/audit?cursor=${cursor}`)), [400, 'invalid_cursor']);
    assert.deepEqual(refusal(await asMine('GET /gateway/v1/audit')), [403, 'insufficient_scope']);
  });

  it('upstreams, a retry, certificates and uses of deprecated operations', async () => {
    const { data } = (await asStaff('GET /gateway/v1/upstreams')).body;
    assert.deepEqual(data, [
      { name: 'things', state: 'ready', targets: [{ address: upstream.url, mode: 'live', state: 'up' }] },
      { name: 'gateway', state: 'ready', targets: [{ address: 'gateway:', mode: 'live', state: 'up' }] },
    ]);
    // It has refused no credential.
    for (const query of ['', '?dry_run=true']) {
      const { body } = await asStaff(`POST /gateway/v1/upstreams/things/retry${query}`);
      assert.deepEqual(body, { ...data[0], retried: false });
    }
    assert.deepEqual(refusal(await asStaff('POST /gateway/v1/upstreams/nothing/retry')), [404, 'resource_missing']);
    assert.deepEqual((await asStaff('GET /gateway/v1/certificates')).body, { data: [] });
    const uses = await allPages(administer, 'GET /gateway/v1/deprecated-uses?limit=1', staff.key);
    assert.deepEqual(
      uses.map(({ organization_id, operation_id, requests, sunset_at }) => [
        organization_id,
        operation_id,
        requests,
        sunset_at,
      ]),
      [['org_mine', 'listThings', 5, '2099-07-17T00:00:00.000Z']],
    );
  });

  it('alerts: what needs attention, and silences, which are tried out, made, noted and ended', async () => {
    const silence = (body: object, query = '') =>
      administer(`POST /gateway/v1/alerts/silence${query}`, { key: staff.key, body });
    const silences = async () => (await asStaff('GET /gateway/v1/alerts')).body.silences;
    const { status, body } = await asStaff('GET /gateway/v1/alerts');
    assert.deepEqual([status, body], [200, { configured: false, causes: [], alerts: [], receivers: [], silences: [] }]);

    const wanted = { causes: 'upstream things *', seconds: 3600, reason: 'moves' };
    const tried = await silence(wanted, '?dry_run=true');
    assert.deepEqual([tried.body.causes, await silences()], [wanted.causes, []]);
    const made = await silence(wanted);
    const { causes, until, by, reason } = (await silences())[0];
    assert.deepEqual([causes, until, by, reason], [wanted.causes, made.body.silent_until, staff.id, 'moves']);
    const [entry] = (await asStaff('GET /gateway/v1/audit?limit=1')).body.data;
    assert.deepEqual(
      [entry.kind, entry.by, entry.request_id, entry.details.causes],
      ['alerts.silenced', staff.id, made.headers.get('x-request-id'), wanted.causes],
    );
    assert.deepEqual((await silence({ causes: wanted.causes, seconds: 0 })).body, {
      causes: wanted.causes,
      silent_until: null,
    });
    assert.deepEqual(await silences(), []);

    for (const [wrong, param] of [
      [{ causes: 'upstraem things', seconds: 60 }, 'causes'],
      [{ causes: 'redis', seconds: 59 }, 'seconds'],
      [{ causes: 'redis', seconds: 2_592_001 }, 'seconds'],
    ] as const) {
      const refused = await silence(wrong);
      assert.deepEqual([...refusal(refused), refused.body.error.param], [400, 'validation_failed', param]);
    }
    assert.deepEqual(refusal(await asMine('GET /gateway/v1/alerts')), [403, 'insufficient_scope']);
  });
});
