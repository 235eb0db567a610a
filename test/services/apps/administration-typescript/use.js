// The round of an operator and a developer, with the types that openapi-typescript makes of /openapi/gateway.json. Prints what it got as JSON.
// @ts-check

import createClient from 'openapi-fetch';

const baseUrl = process.env.API_URL ?? '';
const organization_id = 'org_typescript';

/**
 * @param {string} key
 * @returns {import('openapi-fetch').Client<import('./gateway.d.ts').paths>}
 */
function clientWith(key) {
  return createClient({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
}

/**
 * The data of an answer; throws its error.
 *
 * @template Data
 * @param {{ data?: Data, error?: { error: { code: string } } }} answer
 * @returns {NonNullable<Data>}
 */
function dataOf({ data, error }) {
  if (data === undefined || data === null) throw new Error(error?.error.code ?? 'no data');
  return data;
}

/**
 * @param {string} key
 * @param {string} path
 */
async function call(key, path) {
  const answer = await fetch(baseUrl + path, { headers: { authorization: `Bearer ${key}` } });
  await answer.arrayBuffer();
  return { status: answer.status, id: answer.headers.get('x-request-id') ?? '' };
}

const operator = clientWith(process.env.API_KEY ?? '');
const created = dataOf(
  await operator.POST('/gateway/v1/organizations', {
    body: { id: organization_id, name: 'TypeScript', tier: 'standard', contacts: [] },
  }),
);

const params = { path: { organization_id }, header: { 'Idempotency-Key': 'the-first-key' } };
/** @type {import('./gateway.d.ts').components['schemas']['KeyCreate']} */
const body = { mode: 'live', scopes: ['customers:read', 'gateway:read', 'gateway:keys'] };
const first = dataOf(await operator.POST('/gateway/v1/organizations/{organization_id}/keys', { params, body }));
const again = dataOf(await operator.POST('/gateway/v1/organizations/{organization_id}/keys', { params, body }));
const key = first.secret ?? '';

const used = await call(key, '/v1/customers?limit=1');
const refused = await call(key, '/v1/customers?limit=1000');

const own = clientWith(key);
const explanation = dataOf(
  await own.GET('/gateway/v1/requests/{request_id}', { params: { path: { request_id: refused.id } } }),
);

/** Counts are written after seconds. */
async function countedCalls() {
  for (let attempt = 0; attempt < 60; attempt += 1) {
    /** @type {import('./gateway.d.ts').paths['/gateway/v1/usage']['get']['parameters']['query']} */
    const query = { by: 'day', group: ['operation'], operation_id: 'listCustomers' };
    const [count] = dataOf(await own.GET('/gateway/v1/usage', { params: { query } })).data;
    if (count !== undefined && count.requests >= 2) return count.requests;
    await new Promise((resume) => setTimeout(resume, 500));
  }
  return 0;
}
const calls = await countedCalls();

const rotated = dataOf(
  await own.POST('/gateway/v1/keys/{key_id}/rotate', {
    params: { path: { key_id: first.id } },
    body: { overlap_seconds: 3600 },
  }),
);
const successor = clientWith(rotated.secret ?? '');
const revoked = dataOf(
  await successor.POST('/gateway/v1/keys/{key_id}/revoke', {
    params: { path: { key_id: first.id }, query: { wait: 10 } },
    body: { reason: 'replaced', allow_last: false },
  }),
);
const afterwards = await call(key, '/v1/customers?limit=1');

const audit = dataOf(await operator.GET('/gateway/v1/audit', { params: { query: { organization_id } } }));

console.log(
  JSON.stringify({
    created: created.state,
    again: [again.id === first.id, again.secret, again.secret_shown],
    used: used.status,
    refused: refused.status,
    explained: [explanation.request.code, explanation.stages.find(({ outcome }) => outcome === 'refused')?.stage],
    remedy: explanation.remedy !== null,
    calls,
    replaces: rotated.replaces.id === first.id,
    revoked: revoked.state,
    confirmed: revoked.in_force?.confirmed,
    unconfirmed: revoked.in_force?.unconfirmed,
    afterwards: afterwards.status,
    audit: audit.data.map(({ kind }) => kind),
    authors: [...new Set(audit.data.map(({ by }) => by.slice(0, 4)))],
    requests: audit.data.every(({ request_id }) => request_id !== null),
  }),
);
