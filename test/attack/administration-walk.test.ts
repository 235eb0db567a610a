// Every operation of the gateway's own contract × every caller that must not get it. The answers are pinned: a new operation has to be
// added to the table, with what another organization gets.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { type AdministrationAnswer, startAdministration } from '../support/administration.ts';
import { closesAfterAll } from '../support/closing.ts';
import { mistyped } from '../support/mistyped.ts';

interface Operation {
  readonly line: string;
  /** Undefined: every key may use it, also a test key, and sees its own requests by it. */
  readonly scope: string | undefined;
  readonly body?: object;
  /** What the key of another organization gets that has the scope and is no operator. */
  readonly other: string;
}

interface Declared {
  readonly operationId: string;
  readonly security: readonly { readonly apiKey: readonly string[] }[];
}

const read = 'gateway:read';
const keys = 'gateway:keys';
const seen = '200';
const missing = '404 resource_missing';
/** Operator scopes work for operator organizations only, however a key came by one. */
const refused = '403 insufficient_scope';

/** `{key}`: a key of org_acme; `{request}`: a request of org_acme. */
const operations: Readonly<Record<string, Operation>> = {
  getOrganization: { line: 'GET /gateway/v1/organization', scope: read, other: seen },
  getLimits: { line: 'GET /gateway/v1/limits', scope: read, other: seen },
  getUsage: { line: 'GET /gateway/v1/usage?key_id={key}', scope: read, other: seen },
  listEvents: { line: 'GET /gateway/v1/events', scope: read, other: seen },
  listKeys: { line: 'GET /gateway/v1/keys', scope: read, other: seen },
  createKey: { line: 'POST /gateway/v1/keys?dry_run=true', scope: keys, body: { scopes: [keys] }, other: '201' },
  getKey: { line: 'GET /gateway/v1/keys/{key}', scope: read, other: missing },
  updateKey: { line: 'PATCH /gateway/v1/keys/{key}', scope: keys, body: { name: 'stolen' }, other: missing },
  rotateKey: { line: 'POST /gateway/v1/keys/{key}/rotate', scope: keys, body: {}, other: missing },
  revokeKey: { line: 'POST /gateway/v1/keys/{key}/revoke', scope: keys, body: { allow_last: true }, other: missing },
  listRequests: { line: 'GET /gateway/v1/requests?key_id={key}', scope: undefined, other: seen },
  explainRequest: { line: 'GET /gateway/v1/requests/{request}', scope: undefined, other: missing },
  listOrganizations: operators('GET /gateway/v1/organizations', 'organizations:read'),
  createOrganization: operators('POST /gateway/v1/organizations', 'organizations:write', {
    id: 'org_new',
    name: 'New',
    tier: 'standard',
  }),
  getOrganizationById: operators('GET /gateway/v1/organizations/org_acme', 'organizations:read'),
  updateOrganization: operators('PATCH /gateway/v1/organizations/org_acme', 'organizations:write', { tier: 'premium' }),
  suspendOrganization: operators('POST /gateway/v1/organizations/org_acme/suspend', 'organizations:write'),
  resumeOrganization: operators('POST /gateway/v1/organizations/org_acme/resume', 'organizations:write'),
  listOrganizationKeys: operators('GET /gateway/v1/organizations/org_acme/keys', 'keys:read'),
  createOrganizationKey: operators('POST /gateway/v1/organizations/org_acme/keys', 'keys:write', { scopes: [read] }),
  getOrganizationKey: operators('GET /gateway/v1/organizations/org_acme/keys/{key}', 'keys:read'),
  updateOrganizationKey: operators('PATCH /gateway/v1/organizations/org_acme/keys/{key}', 'keys:write', { name: 'x' }),
  rotateOrganizationKey: operators('POST /gateway/v1/organizations/org_acme/keys/{key}/rotate', 'keys:write', {}),
  revokeOrganizationKey: operators('POST /gateway/v1/organizations/org_acme/keys/{key}/revoke', 'keys:write', {}),
  getOrganizationLimits: operators('GET /gateway/v1/organizations/org_acme/limits', 'limits:read'),
  resetOrganizationLimits: operators('POST /gateway/v1/organizations/org_acme/limits/reset', 'limits:write'),
  getOrganizationUsage: operators('GET /gateway/v1/organizations/org_acme/usage', 'usage:read'),
  listOrganizationSessions: operators('GET /gateway/v1/organizations/org_acme/sessions', 'sessions:read'),
  endOrganizationSession: operators('POST /gateway/v1/organizations/org_acme/sessions/ses_1/end', 'sessions:write'),
  listUpstreams: operators('GET /gateway/v1/upstreams', 'upstreams:read'),
  retryUpstream: operators('POST /gateway/v1/upstreams/gateway/retry', 'upstreams:write'),
  listAlerts: operators('GET /gateway/v1/alerts', 'alerts:read'),
  silenceAlerts: operators('POST /gateway/v1/alerts/silence', 'alerts:write', { causes: 'redis', seconds: 60 }),
  listDeprecatedUses: operators('GET /gateway/v1/deprecated-uses', 'deprecations:read'),
  listCertificates: operators('GET /gateway/v1/certificates', 'certificates:read'),
  getConfiguration: operators('GET /gateway/v1/configuration', 'configuration:read'),
  listAudit: operators('GET /gateway/v1/audit', 'audit:read'),
};

function operators(line: string, scope: string, body?: object): Operation {
  return { line, scope: `gateway:${scope}`, other: refused, ...(body !== undefined && { body }) };
}

const everyScope = [...new Set(Object.values(operations).flatMap(({ scope }) => scope ?? []))];
const start = closesAfterAll();

function told({ status, body }: AdministrationAnswer): string {
  const code = body?.error?.code;
  return code === undefined ? String(status) : `${status} ${code}`;
}

describe("the gateway's own contract", async () => {
  const { gateway, administer } = await start(startAdministration());
  const { store, issueKey } = gateway;
  const acme = { organization: 'org_acme' } as const;
  const victim = await issueKey({ ...acme, scopes: [read, keys, 'customers:read'] });
  const requestOfAcme = await administer('GET /gateway/v1/organization', { key: victim.key });
  const request = String(requestOfAcme.headers.get('x-request-id'));
  gateway.logLines();

  const suspended = await issueKey({ organization: 'org_suspended', operator: true, scopes: everyScope });
  await store.organizations.suspend('org_suspended', 'test');
  const revoked = await issueKey({ ...acme, scopes: everyScope });
  await store.keys.revoke(revoked.id, 'test', undefined);
  const expired = await issueKey({ ...acme, scopes: everyScope, expiresAtMs: Date.now() - 1 });
  const staff = { organization: 'org_staff', operator: true } as const;
  const test = await issueKey({ ...staff, scopes: everyScope, mode: 'test' });
  const all = await issueKey({ ...staff, scopes: ['*'] });
  const other = await issueKey({ organization: 'org_other', scopes: everyScope });
  const elsewhere = await issueKey({ ...staff, scopes: everyScope, allowedCidrs: ['192.0.2.0/24'] });
  /** By scope: a key of an operator that has every scope but that one. */
  const without = new Map<string, string>();
  for (const scope of everyScope) {
    const scopes = ['*', ...everyScope.filter((one) => one !== scope)];
    without.set(scope, (await issueKey({ ...staff, scopes })).key);
  }
  const changesBefore = (await store.audit.list({ limit: 1 }))[0]?.sequence;

  const send = ({ line, body }: Operation, key?: string) =>
    administer(line.replace('{key}', victim.id).replace('{request}', request), {
      key,
      ...(body !== undefined && { body }),
    });

  it('has no operation that this table lacks', () => {
    const files = ['openapi/gateway/account.yaml', 'openapi/gateway/administration.yaml'];
    const declared = files.flatMap((file) =>
      Object.entries<Record<string, Declared>>(parse(readFileSync(file, 'utf8')).paths).flatMap(([path, item]) =>
        Object.entries(item).map(([method, { operationId, security }]) => [
          operationId,
          `${method.toUpperCase()} ${path}`,
          security.flatMap(({ apiKey }) => apiKey),
        ]),
      ),
    );
    const here = Object.entries(operations).map(([id, { line, scope }]) => {
      const path = line
        .replace(/\?.*/, '')
        .replace('org_acme', '{organization_id}')
        .replace('{key}', '{key_id}')
        .replace('{request}', '{request_id}')
        .replace('ses_1', '{session_id}')
        .replace('upstreams/gateway/', 'upstreams/{upstream}/');
      return [id, path, scope === undefined ? [] : [scope]];
    });
    assert.deepEqual(here.sort(), declared.sort());
  });

  for (const [id, operation] of Object.entries(operations)) {
    it(`refuses ${id} to all but those who may`, async () => {
      const answers = {
        'no key': told(await send(operation)),
        'a key that does not exist': told(await send(operation, mistyped(victim.key))),
        'a key without the scope': told(await send(operation, without.get(operation.scope ?? read))),
        'a key with the scope *': told(await send(operation, all.key)),
        'a key of a suspended organization': told(await send(operation, suspended.key)),
        'a revoked key': told(await send(operation, revoked.key)),
        'an expired key': told(await send(operation, expired.key)),
        'a test key': told(await send(operation, test.key)),
        'a key from another address': told(await send(operation, elsewhere.key)),
      };
      const isFree = operation.scope === undefined;
      assert.deepEqual(answers, {
        'no key': '401 api_key_missing',
        'a key that does not exist': '401 api_key_malformed',
        'a key without the scope': isFree ? operation.other : '403 insufficient_scope',
        'a key with the scope *': isFree ? operation.other : '403 insufficient_scope',
        'a key of a suspended organization': '403 account_inactive',
        'a revoked key': '401 api_key_revoked',
        'an expired key': '401 api_key_expired',
        'a test key': isFree ? operation.other : '403 key_mode_mismatch',
        'a key from another address': '403 ip_not_allowed',
      });
    });

    it(`gives another organization nothing by ${id}`, async () => {
      const answer = await send(operation, other.key);
      assert.equal(told(answer), operation.other);
      assert.doesNotMatch(answer.text, new RegExp(`org_acme|customers:read|${victim.id}|${request}`));
    });
  }

  it('has changed nothing by all of this', async () => {
    const [latest] = await store.audit.list({ limit: 1 });
    assert.equal(latest?.sequence, changesBefore);
    assert.equal((await store.organizations.get('org_acme'))?.state, 'active');
    assert.equal((await store.keys.get(victim.id))?.revokedAtMs, undefined);
  });
});
