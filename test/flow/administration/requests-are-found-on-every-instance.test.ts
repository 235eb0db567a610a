// What one instance is asked concerns all: requests of an organization are found wherever they were, and a credential that an upstream has
// refused is sent again by each. A peer that is silent or talks nonsense takes nothing from the answer, and ends nothing.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis } from '../../../gateway/redis/client.ts';
import { subscribe } from '../../../gateway/redis/subscribe.ts';
import { type Administer, administerAt } from '../../support/administration.ts';
import { eventually, type Instances, startInstances } from '../../support/instances.ts';
import { ownContractAndThings } from '../../support/own-contract.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const CHANNEL = '{gateway}:console:0';
const idsOf = (rows: readonly { request_id: string }[]) => rows.map(({ request_id: id }) => id).sort();

describe('two instances', () => {
  let redis: TestRedis;
  let upstream: FakeUpstream;
  let instances: Instances;
  let administers: Administer[];
  let key: string;
  let staff: string;
  let isRefusing = false;
  const ids: string[] = [];
  before(async () => {
    redis = await startRedis();
    upstream = await startUpstream(
      (_request, response) =>
        void response.writeHead(isRefusing ? 401 : 200, { 'content-type': 'application/json' }).end('{}'),
    );
    instances = await startInstances([redis.url, redis.url], {
      ...ownContractAndThings(upstream.url, { credential: { basic: { user: 'gateway', secret: 'login' } } }),
      environment: { LOGIN: 'a-password-of-this-test' },
    });
    administers = instances.gateways.map(administerAt);
    const [one] = instances.gateways;
    ({ key } = (await one?.issueKey({ organization: 'org_mine', scopes: ['*', 'gateway:read'] })) ?? { key: '' });
    const scopes = ['gateway:upstreams:read', 'gateway:upstreams:write', 'gateway:audit:read'];
    ({ key: staff } = (await one?.issueKey({ organization: 'org_staff', operator: true, scopes })) ?? { key: '' });
    const { key: theirs = '' } = (await one?.issueKey({ organization: 'org_other', scopes: ['*'] })) ?? {};
    for (const administer of administers) {
      for (let count = 0; count < 3; count += 1) {
        const answer = await administer('GET /v1/things', { key });
        assert.equal(answer.status, 200);
        ids.push(answer.headers.get('x-request-id') ?? '');
      }
      assert.equal((await administer('GET /v1/things', { key: theirs })).status, 200);
    }
  });
  after(async () => {
    await instances.close();
    await upstream.close();
    await redis.stop();
  });

  const listed = async (administer: Administer) => {
    const { status, body } = await administer('GET /gateway/v1/requests?operation_id=listThings', { key });
    assert.equal(status, 200);
    return idsOf(body.data);
  };

  it('list the requests of both, and explain each', async () => {
    for (const administer of administers) {
      await eventually(async () => (await listed(administer)).length === ids.length);
      assert.deepEqual(await listed(administer), ids.toSorted());
      for (const id of ids)
        assert.equal((await administer(`GET /gateway/v1/requests/${id}`, { key })).body.request.request_id, id);
    }
  });

  it('answer operators about a request of the other, on the admin listener', async () => {
    for (const { adminUrl } of instances.gateways)
      for (const id of ids) {
        const { exchanges } = (await (await fetch(`${adminUrl}/exchanges/${id}`)).json()) as { exchanges: object[] };
        assert.equal(exchanges.length, 1);
      }
  });

  it('send a refused credential again, both, after a retry at one of them, which is noted once', async () => {
    const [asked] = administers as [Administer, Administer];
    const statuses = () =>
      Promise.all(administers.map(async (administer) => (await administer('GET /v1/things', { key })).status));
    const states = async () => {
      const answers = await Promise.all(
        administers.map((administer) => administer('GET /gateway/v1/upstreams', { key: staff })),
      );
      return answers.map(({ body }) => body.data[0].state);
    };
    const retry = (query = '') => asked(`POST /gateway/v1/upstreams/things/retry${query}`, { key: staff });
    const entries = async () => {
      const { body } = await asked('GET /gateway/v1/audit?limit=100', { key: staff });
      return body.data.filter(({ kind }: { kind: string }) => kind === 'upstream.retried');
    };

    isRefusing = true;
    assert.deepEqual(await statuses(), [502, 502]);
    assert.deepEqual(await states(), ['credential_refused', 'credential_refused']);
    isRefusing = false;
    const { length: sent } = upstream.requests;
    assert.deepEqual(await statuses(), [502, 502]);
    assert.equal((await retry('?dry_run=true')).body.retried, true);
    assert.deepEqual(await states(), ['credential_refused', 'credential_refused']);
    assert.deepEqual([upstream.requests.length, await entries()], [sent, []]);

    const retried = await retry();
    assert.deepEqual([retried.status, retried.body.retried, retried.body.state], [200, true, 'ready']);
    assert.deepEqual(await statuses(), [200, 200]);
    assert.equal((await retry()).body.retried, false);
    const [entry, ...more] = await entries();
    assert.deepEqual([entry.request_id, more], [retried.headers.get('x-request-id'), []]);
    assert.deepEqual(entry.details, {
      upstream: 'things',
      before: { credential: 'refused' },
      after: { credential: 'unproven' },
    });
    ids.length = 0;
    ids.push(...(await listed(asked)));
  });

  it('are ended by nothing that is said on their channel, and tell nothing that a peer forges', async (t) => {
    const client = connectRedis({ url: redis.url });
    t.after(() => client.disconnect());
    const line = {
      request_id: 'req_forged',
      time: Date.now(),
      method: 'GET',
      stage: 'forward',
      status: 200,
      duration_ms: 1,
    };
    const own = { ...line, organization: 'org_mine', operation: 'listThings' };
    const values = [
      ...['x', 7, null, {}, [null, 7, 'x', [], {}], [{ ...own, time: 'soon' }], [{ ...own, status: 'fine' }]],
      ...[[{ ...own, time: 8.64e15 + 1 }], [{ ...own, stage: 'nowhere' }], [{ ...own, organization: 'org_other' }]],
      ...[
        [{ ...own, operation: 'getThing' }],
        [{ ...own, key_id: {} }],
        [{ ...own, code: '<b>' }],
        [{ ...own, duration_ms: -1 }],
      ],
    ];
    const instance = { id: 'con_forged', name: 'forged', version: '0', started_at: '' };
    let turn = 0;
    const end = subscribe({
      url: redis.url,
      channels: () => [CHANNEL],
      onMessage(_, text) {
        const [, id, from] = /^\{"kind":"question","id":"(\w{16})","from":"(con_\w+)"/.exec(text) ?? [];
        if (id === undefined) return;
        const value = values[turn % values.length];
        turn += 1;
        for (const nonsense of ['{', 'null', '7', '{"kind":"answer"}', `{"kind":"answer","id":"${id}","instance":7}`])
          void client.publish(`${CHANNEL}:${from}`, nonsense);
        void client.publish(`${CHANNEL}:${from}`, JSON.stringify({ kind: 'answer', id, instance, value }));
      },
    });
    t.after(end);
    await sleep(200);
    for (const nonsense of [
      '{',
      '[]',
      'null',
      '{"kind":"question"}',
      '{"kind":"question","id":"1","from":"x","to":"all"}',
    ])
      await client.publish(CHANNEL, nonsense);
    for (const question of [
      null,
      7,
      {},
      { about: 'recent' },
      { about: 'recent', filter: 7 },
      { about: 'exchange', id: {} },
    ])
      await client.publish(CHANNEL, JSON.stringify({ kind: 'question', id: '1', from: 'x', to: 'all', question }));
    for (let count = 0; count < values.length; count += 1)
      assert.deepEqual(
        await listed(administers[count % 2] as Administer),
        ids.toSorted(),
        JSON.stringify(values[count]),
      );
    assert.ok(turn >= values.length);
    const [administer] = administers as [Administer];
    assert.equal((await administer('GET /gateway/v1/requests/req_forged', { key })).status, 404);
  });

  it('wait for a silent peer no longer than a second', async (t) => {
    const end = subscribe({ url: redis.url, channels: () => [CHANNEL], onMessage: () => undefined });
    t.after(end);
    await sleep(200);
    const startedAt = performance.now();
    assert.deepEqual(await listed(administers[0] as Administer), ids.toSorted());
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs > 900 && tookMs < 3000, `${tookMs} ms`);
  });
});
