// Every valid key, also a test key, lists and explains the requests that were sent with it. With gateway:read it sees those of its
// organization. It sees no request of another organization, and a test key none of live mode.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Administer, type AdministrationAnswer, administerAt } from '../../support/administration.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';
import { ownContractAndThings } from '../../support/own-contract.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const refusal = ({ status, body }: AdministrationAnswer) => [status, body?.error?.code];
const MISSING = [404, 'resource_missing'];

describe('a key', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let administer: Administer;
  before(async () => {
    upstream = await startUpstream((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{"data":[]}');
    });
    const { upstreams, ...others } = ownContractAndThings(upstream.url, { test: upstream.url });
    gateway = await startGateway({ ...others, upstreams, limits: { tiers: { standard: { requests: 100_000 } } } });
    administer = administerAt(gateway);
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const issue = (mode: 'live' | 'test', scopes: readonly string[] = ['*'], organization = 'org_mine') =>
    gateway.issueKey({ mode, scopes, organization });
  /** @returns the id of a request that `validate` refuses */
  async function refused(key: string, headers = {}) {
    const { status, headers: own } = await administer('GET /v1/things?q=1&q=2', { key, headers });
    assert.equal(status, 400);
    return String(own.get('x-request-id'));
  }
  const explain = (id: string, key: string) => administer(`GET /gateway/v1/requests/${id}`, { key });
  const idsSeenBy = async (key: string, query = ''): Promise<string[]> => {
    const { body } = await administer(`GET /gateway/v1/requests?operation_id=listThings&limit=100${query}`, { key });
    return body.data.map(({ request_id: id }: { request_id: string }) => id);
  };

  for (const mode of ['live', 'test'] as const)
    it(`of ${mode} mode with the scope * alone explains and lists what was sent with it`, async () => {
      const { key, id: keyId } = await issue(mode);
      const id = await refused(key);
      const { status, body } = await explain(id, key);
      assert.deepEqual([status, body.request.request_id, body.request.key_id], [200, id, keyId]);
      assert.match(body.verdict, /^GET \/v1\/things was refused by validate with 400 validation_failed/);
      assert.deepEqual(await idsSeenBy(key), [id]);
    });

  it('sees no request of another key of its organization, of another organization, nor one without a key', async () => {
    const mine = await issue('test');
    for (const other of [await issue('test'), await issue('live'), await issue('test', ['*'], 'org_other')]) {
      const id = await refused(other.key, { 'x-request-id': 'shared-1' });
      assert.deepEqual(refusal(await explain(id, mine.key)), MISSING);
      assert.deepEqual(refusal(await explain('shared-1', mine.key)), MISSING);
      assert.deepEqual(await idsSeenBy(mine.key, `&key_id=${other.id}`), []);
    }
    assert.deepEqual(await idsSeenBy(mine.key), []);
    const anonymous = await fetch(`${gateway.url}/v1/things`);
    assert.deepEqual(refusal(await explain(String(anonymous.headers.get('x-request-id')), mine.key)), MISSING);
  });

  it('finds its request although another key of the organization uses its id', async () => {
    const mine = await issue('test');
    const other = await issue('test');
    const id = await refused(mine.key, { 'x-request-id': 'shared-2' });
    for (let count = 0; count < 30; count += 1)
      await refused(other.key, { 'x-request-id': count % 2 ? 'shared-2' : id });
    assert.equal((await explain(id, mine.key)).body.request.request_id, id);
    assert.equal((await explain('shared-2', mine.key)).body.request.request_id, id);
  });

  it('of test mode with gateway:read sees the test requests of its organization, and no live one', async () => {
    const organization = 'org_modes';
    const reader = await issue('test', ['gateway:read'], organization);
    const liveReader = await issue('live', ['gateway:read'], organization);
    const ofTest = await refused((await issue('test', ['*'], organization)).key);
    const ofLive = await refused((await issue('live', ['*'], organization)).key);
    assert.equal((await explain(ofTest, reader.key)).status, 200);
    assert.deepEqual(refusal(await explain(ofLive, reader.key)), MISSING);
    assert.deepEqual(await idsSeenBy(reader.key), [ofTest]);
    assert.deepEqual(await idsSeenBy(liveReader.key), [ofLive, ofTest]);
  });

  it('gets no page of another key by a cursor', async () => {
    const mine = await issue('live');
    const other = await issue('live');
    for (const { key } of [mine, other, mine, other]) await refused(key);
    const line = 'GET /gateway/v1/requests?operation_id=listThings&limit=1';
    const { cursor } = (await administer(line, { key: other.key })).body;
    const { status, body } = await administer(`${line}&cursor=${cursor}`, { key: mine.key });
    assert.equal(status, 200);
    assert.ok(body.data.every(({ key_id: id }: { key_id: string }) => id === mine.id));
  });

  it('gets nothing after it was revoked', async () => {
    const { key, id: keyId } = await issue('test');
    const id = await refused(key);
    await gateway.store.keys.revoke(keyId, 'test', 'a reason');
    await eventually(async () => (await explain(id, key)).status === 401);
    assert.deepEqual(refusal(await explain(id, key)), [401, 'api_key_revoked']);
  });

  it('of test mode reaches no other operation of the gateway, even with their scopes', async () => {
    const { key, id } = await issue('test', ['*', 'gateway:read', 'gateway:keys']);
    for (const line of ['organization', 'limits', 'usage', 'events', 'keys', `keys/${id}`])
      assert.deepEqual(refusal(await administer(`GET /gateway/v1/${line}`, { key })), [403, 'key_mode_mismatch'], line);
    const create = { key, body: { mode: 'live', name: 'a', scopes: ['gateway:keys'] } };
    assert.deepEqual(refusal(await administer('POST /gateway/v1/keys', create)), [403, 'key_mode_mismatch']);
    assert.deepEqual(refusal(await administer(`POST /gateway/v1/keys/${id}/rotate`, { key })), [
      403,
      'key_mode_mismatch',
    ]);
  });
});
