// An organization reads its recent requests and the explanation of each, and nothing about anything else.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Administer, type AdministrationAnswer, administerAt } from '../../support/administration.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { allPages, ownContractAndThings } from '../../support/own-contract.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const MARKER = 'marker-of-the-upstream';
const QUERY = 'marker-of-a-query';
const BODY = 'marker-of-a-body';

interface Row {
  readonly request_id: string;
  readonly at: string;
  readonly operation_id: string | null;
  readonly code: string | null;
  readonly key_id: string | null;
  readonly status: number;
}

const refusal = ({ status, body }: AdministrationAnswer) => [status, body?.error?.code];

describe('the requests of an organization', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let administer: Administer;
  let mine: { readonly id: string; readonly key: string };
  let second: { readonly id: string; readonly key: string };
  let other: { readonly id: string; readonly key: string };
  before(async () => {
    upstream = await startUpstream(({ url }, response) => {
      response.setHeader('content-type', 'application/json');
      response.setHeader(`x-${MARKER}`, MARKER);
      response.setHeader('server', MARKER);
      if (url.includes('broken')) response.writeHead(500);
      if (url.includes('denied')) response.writeHead(401);
      if (url.includes('gone')) response.destroy();
      else response.end(JSON.stringify({ id: '1', [MARKER]: MARKER, error: `${MARKER} at db-7.internal:5432` }));
    });
    gateway = await startGateway({
      ...ownContractAndThings(upstream.url, { timeoutMs: 2000 }),
      gateway: { operations: { updateThing: { deprecated: '2024-01-17', sunset: '2025-07-17' } } },
      limits: {
        tiers: { standard: { requests: 100_000 }, tight: { requests: 1 } },
        extra: { rare: { requests: 2, per: 'key', enforce: true } },
        operations: { getStrict: { extra: 'rare' } },
      },
    });
    administer = administerAt(gateway);
    const scopes = ['*', 'gateway:read'];
    mine = await gateway.issueKey({ organization: 'org_mine', scopes });
    second = await gateway.issueKey({ organization: 'org_mine', scopes: ['things:read', 'gateway:read'] });
    other = await gateway.issueKey({ organization: 'org_other', scopes });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  /** @returns the id of the answer */
  async function call(line: string, key = mine.key, init: { body?: unknown; headers?: Record<string, string> } = {}) {
    const { headers, status, body } = await administer(line, { key, ...init });
    return { id: headers.get('x-request-id') ?? '', status, code: body?.error?.code as string | undefined };
  }
  const explain = (id: string, key = mine.key) => administer(`GET /gateway/v1/requests/${id}`, { key });
  const list = async (query: string, key = mine.key): Promise<Row[]> =>
    (await administer(`GET /gateway/v1/requests?${query}`, { key })).body.data;

  it('are listed, newest first, without requests of other organizations', async () => {
    const own = await call('GET /v1/things');
    const theirs = await call('GET /v1/things', other.key);
    const refused = await call('GET /v1/things', second.key, { headers: { 'x-request-id': 'from-the-client' } });
    const [first, next] = await list('operation_id=listThings');
    assert.deepEqual([first?.request_id, next?.request_id], [refused.id, own.id]);
    const everything = await allPages(administer, 'GET /gateway/v1/requests?limit=100', mine.key);
    assert.ok(!everything.some(({ request_id }: Row) => request_id === theirs.id));
    const [row] = await list('operation_id=listThings', other.key);
    assert.equal(row?.request_id, theirs.id);
    assert.deepEqual(Object.keys(row ?? {}), [
      ...['request_id', 'at', 'method', 'path', 'operation_id', 'key_id', 'status', 'stage', 'code', 'duration_ms'],
    ]);
  });

  it('are explained to another key after their key was revoked', async () => {
    const dead = await gateway.issueKey({ organization: 'org_mine' });
    await gateway.store.keys.revoke(dead.id, 'test', 'a reason');
    const { id, status } = await call('GET /v1/things', dead.key);
    assert.equal(status, 401);
    const [row] = await list(`key_id=${dead.id}`);
    assert.deepEqual([row?.request_id, row?.code], [id, 'api_key_revoked']);
    const { body } = await explain(id);
    assert.match(body.verdict, /revoked/);
    assert.deepEqual(refusal(await explain(id, other.key)), [404, 'resource_missing']);
  });

  it('are filtered by operation, status, class, code, key and time, and by several of them', async () => {
    const began = new Date(Date.now() - 1).toISOString();
    const missing = await call('POST /v1/things', mine.key, { body: { name: 1 } });
    const scope = await call('POST /v1/things', second.key, { body: { name: 'a' } });
    const failed = await call('GET /v1/things/broken', second.key);
    const fine = await call('GET /v1/things', second.key);
    const since = `from=${began}`;
    const idsOf = async (query: string) => (await list(`${since}&${query}`)).map(({ request_id: id }) => id);
    assert.deepEqual(await idsOf('operation_id=createThing'), [scope.id, missing.id]);
    assert.deepEqual(await idsOf('status=failed'), [failed.id, scope.id, missing.id]);
    assert.deepEqual(await idsOf('status=4xx'), [scope.id, missing.id]);
    assert.deepEqual(await idsOf('status=403'), [scope.id]);
    assert.deepEqual(await idsOf(`code=${missing.code}`), [missing.id]);
    assert.deepEqual(await idsOf(`key_id=${second.id}&operation_id=listThings`), [fine.id]);
    assert.deepEqual(await idsOf(`key_id=${second.id}&status=5xx`), [failed.id]);
    assert.deepEqual(await list(`to=${began}&operation_id=createThing`), []);
    assert.deepEqual(await idsOf(`key_id=${other.id}`), []);
    const [row] = await list(`${since}&code=${missing.code}`);
    assert.deepEqual(
      [row?.status, row?.key_id, row?.operation_id, row?.code],
      [400, mine.id, 'createThing', 'validation_failed'],
    );
  });

  it('come in pages that further requests do not move: each once, a thousand of them', async () => {
    const { key } = await gateway.issueKey({ organization: 'org_many', scopes: ['*', 'gateway:read'] });
    const sent: string[] = [];
    const send = async (count: number) => {
      const calls = await Promise.all(Array.from({ length: count }, () => call('GET /v1/things', key)));
      sent.push(...calls.map(({ id }) => id));
    };
    for (let round = 0; round < 20; round += 1) await send(50);
    const known = new Set(sent);
    const line = 'GET /gateway/v1/requests?operation_id=listThings&limit=100';
    const listed: Row[] = await allPages(administer, line, key, () => send(3));
    assert.equal(listed.length, 1000);
    assert.deepEqual(new Set(listed.map(({ request_id: id }) => id)), known);
    const times = listed.map(({ at }) => at);
    assert.deepEqual(times, times.toSorted().reverse());
  });

  it('refuse a cursor of another list, filter or organization, and one that a client made', async () => {
    for (let count = 0; count < 3; count += 1) {
      await call('GET /v1/things');
      await call('GET /v1/things', other.key);
    }
    const line = 'GET /gateway/v1/requests?limit=1';
    const { cursor } = (await administer(`${line}&status=2xx`, { key: mine.key })).body;
    const use = (path: string, key = mine.key) => administer(path, { key });
    assert.equal((await use(`GET /gateway/v1/requests?limit=2&status=2xx&cursor=${cursor}`)).status, 200);
    const forged = Buffer.from(`${'A'.repeat(22)}1 req_0`).toString('base64url');
    const turned = `${cursor.slice(0, -2)}${cursor.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const [path, key] of [
      [`${line}&cursor=${cursor}`, mine.key],
      [`${line}&status=4xx&cursor=${cursor}`, mine.key],
      [`${line}&status=2xx&cursor=${cursor}`, other.key],
      [`GET /gateway/v1/events?cursor=${cursor}`, mine.key],
      ...[forged, turned, 'x', '%00', 'e30'].map((one) => [`${line}&status=2xx&cursor=${one}`, mine.key] as const),
    ] as const)
      assert.deepEqual(refusal(await use(path, key)), [400, 'invalid_cursor'], path);
  });

  it('are explained by the request id, and by the client’s own id', async () => {
    const { id } = await call('POST /v1/things', mine.key, {
      body: { name: 7, surprise: BODY },
      headers: { 'x-request-id': 'mine-1' },
    });
    const { status, body } = await explain(id);
    assert.equal(status, 200);
    assert.match(
      body.verdict,
      /^POST \/v1\/things was refused by validate with 400 validation_failed after [\d.]+ ms\./,
    );
    assert.equal(body.request.request_id, id);
    assert.match(body.remedy, /errors/);
    assert.match(body.doc_url, /^https?:\/\/[^/]+\/docs\/errors\/validation_failed$/);
    assert.doesNotMatch(body.remedy, /\]\(\//);
    const one = await call('POST /v1/things', mine.key, { body: { name: 7 } });
    assert.equal((await explain(one.id)).body.remedy, 'Correct `body /name`: it must be a string.');
    const stageOf = (name: string) => body.stages.find(({ stage }: { stage: string }) => stage === name);
    assert.deepEqual(
      body.stages.map(({ outcome }: { outcome: string }) => outcome),
      [...Array(6).fill('passed'), 'refused', 'not reached', 'not reached'],
    );
    assert.deepEqual(stageOf('validate').facts.slice(1).sort(), [
      'a field that the contract does not name is not known here (unknown)',
      'body /name must be a string (wrong_type)',
    ]);
    assert.ok(stageOf('validate').duration_ms >= 0);
    assert.deepEqual(stageOf('match').facts, ['createThing: POST /v1/things']);
    assert.deepEqual(stageOf('authenticate').facts, [
      `key ${mine.id}, organization org_mine, tier standard, mode live`,
    ]);
    assert.match(stageOf('limit').facts.join(), /^organization: admitted; [\d,]+ of 100,000 left$/);
    assert.deepEqual((await explain('mine-1')).body, body);
    const fine = (await explain((await call('GET /v1/things')).id)).body;
    assert.deepEqual([fine.remedy, fine.doc_url, fine.request.code], [null, null, null]);
  });

  it('are not explained to another organization, nor hidden by one that uses the same id', async () => {
    const { id } = await call('GET /v1/things', mine.key, { headers: { 'x-request-id': 'shared-1' } });
    assert.deepEqual(refusal(await explain(id, other.key)), [404, 'resource_missing']);
    assert.deepEqual(refusal(await explain('shared-1', other.key)), [404, 'resource_missing']);
    for (let count = 0; count < 30; count += 1)
      await call('GET /v1/things', other.key, { headers: { 'x-request-id': count % 2 ? 'shared-1' : id } });
    assert.equal((await explain('shared-1')).body.request.request_id, id);
    assert.equal((await explain(id)).body.request.request_id, id);
    assert.notEqual((await explain(id, other.key)).body.request.request_id, id);
    assert.deepEqual(refusal(await explain('req_nobody')), [404, 'resource_missing']);
    const anonymous = await fetch(`${gateway.url}/v1/nothing`);
    assert.deepEqual(refusal(await explain(String(anonymous.headers.get('x-request-id')))), [404, 'resource_missing']);
  });

  it('reveal nothing about upstreams, secrets, other clients or the machine, at every stage', async () => {
    const tight = await gateway.issueKey({ organization: 'org_tight', tier: 'tight', scopes: ['*', 'gateway:read'] });
    await call('GET /v1/things', other.key);
    const reused = { 'idempotency-key': 'order-1' };
    const at = `?q=${QUERY}`;
    await call('POST /v1/orders', mine.key, { body: { name: 'a' }, headers: reused });
    const exchanges = {
      match: await call('PATCH /v1/things/1', mine.key, { body: {} }),
      authorize: await call('POST /v1/things', second.key, { body: { name: BODY } }),
      validate: await call(`GET /v1/things${at}&q=${QUERY}`),
      replay: await call('POST /v1/orders', mine.key, { body: { name: BODY }, headers: reused }),
      error: await call('GET /v1/things/broken'),
      denied: await call('GET /v1/things/denied'),
      gone: await call('GET /v1/things/gone'),
      violation: await call('GET /v1/strict'),
      again: await call('GET /v1/strict'),
      limit: await call('GET /v1/strict'),
      answered: await call(`GET /v1/things${at}`, mine.key, {
        headers: { cookie: `a=${BODY}`, traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
      }),
      missing: await call(`GET /v1/${QUERY}`),
    };
    const lines = gateway.logLines();
    const secrets = [mine.key, second.key, other.key, tight.key];
    const forbidden = [
      ...[MARKER, QUERY, BODY, 'db-7.internal', upstream.url, new URL(upstream.url).host, new URL(upstream.url).port],
      ...secrets.flatMap((secret) => [secret, secret.slice(8, 30)]),
      ...['org_other', 'org_tight', other.id, tight.id, gateway.directory, 'limits.yaml', 'tiers.', 'upstreams.yaml'],
      ...['things.yaml', 'ECONNRESET', 'socket hang up', ' at file:', 'node_modules', 'this process', 'a'.repeat(32)],
      ...lines.flatMap(({ trace_id: trace }) => (typeof trace === 'string' ? [trace] : [])),
    ];
    const told: string[] = [];
    for (const [name, { id }] of Object.entries(exchanges)) {
      const { status, text, body } = await explain(id);
      // A request that no operation has is nobody's: its key was not looked at.
      assert.equal(status, name === 'missing' || name === 'match' ? 404 : 200, name);
      const own = text
        .replaceAll(id, '')
        .replaceAll(/"(at|request_id)":"[^"]*"/g, '')
        .replaceAll(/[\d.]+ ms|_ms":[\d.]+/g, '');
      for (const mark of forbidden) assert.ok(!own.includes(mark), `${name}: ${mark} in ${text}`);
      told.push(body.verdict ?? '');
    }
    assert.ok(
      told.some((verdict) => verdict.includes('upstream_')),
      told.join('\n'),
    );
  });
});
