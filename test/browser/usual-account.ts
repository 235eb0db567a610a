// The account of the pictures: what an organization of some size has of everything.

import { type AccountData, keyRecord } from './account-service.ts';

/** The form of a key, so that secret scanners do not take it for one. */
export const SECRET = `sk_${'live'}_8Fq2bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbKw3J`;
export const OTHER = `sk_${'live'}_Zp4xccccccccccccccccccccccccccccccQm8d`;

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

/** About a month of traffic, with weekends. */
export const wave = (height: number) =>
  Array.from({ length: 60 }, (_, day) => Math.round(height * ([5, 6].includes(day % 7) ? 0.3 : 1 + Math.sin(day) / 4)));

export const request = (members: object) => ({
  request_id: 'req_01K9Z6M3V8Q4T2R7',
  at: minutesAgo(3),
  method: 'GET',
  path: '/v1/jobs',
  operation_id: 'listJobs',
  key_id: 'key_own',
  status: 400,
  stage: 'validate',
  code: 'validation_failed',
  duration_ms: 1.4,
  ...members,
});

export const explanation = (one: Record<string, unknown>) => ({
  request: one,
  verdict: 'GET /v1/jobs was refused by validate with 400 validation_failed.',
  remedy: 'Correct every field that errors names.',
  doc_url: 'https://api.example.com/docs/errors/validation_failed',
  stages: [
    { stage: 'admit', outcome: 'passed', facts: [], duration_ms: 0.05 },
    { stage: 'authenticate', outcome: 'passed', facts: ['the key is key_own of org_acme'], duration_ms: 0.2 },
    { stage: 'validate', outcome: 'refused', facts: ['query limit: must be at most 100, is 500'], duration_ms: 0.4 },
    { stage: 'forward', outcome: 'not reached', facts: [] },
  ],
});

export const limit = (members: object) => ({
  policy: 'organization',
  key_id: null,
  operations: null,
  enforced: true,
  limit: 1000,
  window_seconds: 60,
  used: 120,
  remaining: 880,
  next_freed_at: new Date(Date.now() + 17_000).toISOString(),
  ...members,
});

export const failed = request({});
export const usual: AccountData = {
  organization: {
    id: 'org_acme',
    name: 'Acme Cleaning',
    tier: 'premium',
    state: 'active',
    contacts: ['api@acme.example'],
    operator: false,
  },
  limits: [
    limit({}),
    limit({ policy: 'key', key_id: 'key_own', limit: 100, used: 91, remaining: 9 }),
    limit({ policy: 'exports', limit: 5, window_seconds: 3600, used: 5, remaining: 0, operations: ['exportInvoices'] }),
    limit({ policy: 'watched', limit: 50, window_seconds: 1, used: 2, remaining: 48, enforced: false }),
  ],
  use: {
    listCustomers: wave(900),
    createJob: wave(320),
    listJobs: wave(610),
    retrieveInvoice: wave(140),
    updateJob: wave(90),
    listInvoices: wave(55),
    deleteCustomer: wave(4),
  },
  requests: [
    failed,
    request({
      request_id: 'req_02',
      status: 503,
      code: 'upstream_unavailable',
      operation_id: 'createJob',
      method: 'POST',
    }),
    request({ request_id: 'req_03', status: 429, code: 'rate_limited', operation_id: 'exportInvoices' }),
    request({ request_id: 'req_left', status: 499, stage: 'forward', code: null, operation_id: 'watchJobs' }),
    request({ request_id: 'req_04', status: 404, code: 'route_not_found', operation_id: null, path: null }),
  ],
  explanations: { [String(failed.request_id)]: explanation(failed) },
  keys: [
    keyRecord({ id: 'key_own', secret: SECRET, name: 'My laptop', scopes: ['*', 'gateway:keys', 'gateway:read'] }),
    keyRecord({ id: 'key_import', secret: OTHER, name: 'Nightly import', scopes: ['customers:read', 'jobs:write'] }),
    keyRecord({
      ...{ id: 'key_old', secret: OTHER, name: 'Old import', state: 'revoked' },
      ...{ revoked_at: '2026-10-20T10:00:00Z', revoked_reason: 'Found in a public repository' },
    }),
  ],
};
