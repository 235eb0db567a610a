// From a code, an operation or an organization to its recent exchanges, and from there to what `explain` tells; organizations and keys with
// the commands that change them. No secret and nothing of a client's query or body is among it.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import supertest from 'supertest';
import type { ExchangeRow } from '../../../gateway/console/exchanges.ts';
import { exchangeReport } from '../../../gateway/explain/report.ts';
import { knownCommands } from '../../../tools/docs/command-list.ts';
import { commandLines, complaintAbout } from '../../support/documented-commands.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const SECRET = 'a-value-that-only-the-client-may-know';
const SCRIPT = '<script>alert(1)</script>';
const pageDirectory = fileURLToPath(new URL('../../../gateway/console/page/', import.meta.url));

interface Organization {
  readonly id: string;
  readonly keys: readonly {
    readonly id: string;
    readonly last_four: string;
    readonly commands: readonly { line: string }[];
  }[];
  readonly limits: readonly { readonly policy: string; readonly used: number; readonly rule_at: string }[];
  readonly commands: readonly { readonly line: string }[];
  readonly last_used_at: string | null;
}

describe('the data of the console: exchanges, organizations and keys', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let key: { readonly id: string; readonly key: string };
  before(async () => {
    upstream = await startUpstream(({ url }, response) => {
      const status = url === '/v1/strict' ? 500 : 200;
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
    gateway = await startGateway({ ...thingsAt(upstream.url), limits: { tiers: { standard: { requests: 6 } } } });
    await gateway.store.organizations.create(
      { id: 'org_acme', name: `Acme ${SCRIPT}`, tier: 'standard', state: 'active', contacts: [], operator: false },
      'test',
    );
    key = await gateway.issueKey({ organization: 'org_acme' });
    const other = await gateway.issueKey({ organization: 'org_other' });
    for (const path of ['/v1/nowhere', '/v1/strict', '/v1/things?limit=5', ...Array(6).fill('/v1/things/1')])
      await ask(path, key.key);
    await ask('/v1/things', other.key);
    await ask(`/v1/things/${SECRET}?token=${SECRET}`, `${SECRET}`);
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function ask(path: string, credential: string): Promise<void> {
    const headers = { authorization: `Bearer ${credential}`, 'x-request-id': 'an-id-of-the-client', cookie: SECRET };
    await (await fetch(gateway.url + path, { headers })).arrayBuffer();
  }

  const get = (path: string) => supertest(gateway.adminUrl).get(`/console/${path}`);
  const listOf = async (query: string): Promise<ExchangeRow[]> =>
    (await get(`exchanges?${query}`).expect(200)).body.exchanges;
  const tell = (rows: readonly ExchangeRow[]) =>
    rows.map((row) => `${row.operation} ${row.status} ${row.code ?? ''}`.trim());

  it('lists exchanges, the newest first, by every filter', async () => {
    assert.equal((await listOf('')).length, 11);
    assert.deepEqual(tell(await listOf('limit=1')), ['GET /v1/things/{id} 401 api_key_malformed']);
    assert.deepEqual(tell(await listOf('code=upstream_error')), ['GET /v1/strict 500 upstream_error']);
    assert.deepEqual(tell(await listOf('status=5xx')), ['GET /v1/strict 500 upstream_error']);
    assert.deepEqual(tell(await listOf('status=404&operation=GET%20unmatched')), ['GET unmatched 404 route_not_found']);
    assert.equal((await listOf('operation=GET%20/v1/things/{id}')).length, 7);
    assert.deepEqual(tell(await listOf('organization=org_other')), ['GET /v1/things 200']);
    assert.equal((await listOf(`key=${key.id}`)).length, 8);
    assert.equal((await listOf('status=failed&organization=org_acme')).length, 4);
    const [{ upstream: name } = { upstream: null }] = await listOf('code=upstream_error');
    assert.equal((await listOf(`upstream=${name}&status=2xx`)).length, 5);
    assert.deepEqual(await listOf('min_ms=60000'), []);
    const [, second] = await listOf('');
    assert.ok((await listOf(`from=${second?.at}`)).length >= 2);
    assert.equal((await listOf(`to=${second?.at}`)).filter(({ at }) => at >= (second?.at ?? '')).length, 0);
    for (const query of [
      'limit=-1',
      'limit=x',
      'from=x',
      'min_ms=',
      'status=nonsense',
      `code=${SCRIPT}`,
      'operation=x',
    ])
      await get(`exchanges?${query}`).expect(200);
  });

  it('tells what the gateway refused from what the service failed, of all and of one operation, organization, upstream or code', async () => {
    assert.deepEqual(tell(await listOf('status=refused')).sort(), [
      'GET /v1/things 400 validation_failed',
      'GET /v1/things/{id} 401 api_key_malformed',
      'GET /v1/things/{id} 429 rate_limited',
      'GET /v1/things/{id} 429 rate_limited',
      'GET unmatched 404 route_not_found',
    ]);
    const { subject } = (await get('feed?organization=org_acme').expect(200)).body.history;
    assert.deepEqual([subject.total.requests, subject.total.server_errors, subject.total.refused], [8, 1, 3]);
    const { body } = await get('breakdown?organization=org_acme').expect(200);
    const shown = { name: 'GET /v1/things/{id}', requests: 6, failed: 0, refused: 2, unserved: 0, broken: 0 };
    assert.deepEqual(body.operations[0], shown);
    assert.deepEqual(body.codes.map(({ name }: { name: string }) => name).sort(), [
      'rate_limited',
      'upstream_error',
      'validation_failed',
    ]);
    for (const [member, requests] of [
      ['operation=GET%20/v1/strict', 1],
      ['upstream=things', 6],
    ] as const)
      assert.equal((await get(`feed?${member}`).expect(200)).body.history.subject?.total.requests, requests, member);
    assert.equal((await get('feed?code=rate_limited').expect(200)).body.history.subject.total, 2);
    assert.equal((await get('codes/rate_limited').expect(200)).body.catalogue.place, 'the client');
    await get('codes/__proto__').expect(404);
    for (const query of [
      `operation=${encodeURIComponent(SCRIPT)}`,
      'from=x&to=y',
      'from=2000-01-01&to=2000-01-02',
      'code=',
    ])
      await get(`feed?${query}`).expect(200);
  });

  it('splits the duration into the share of the gateway and that of the upstream', async () => {
    const [asked] = await listOf('code=upstream_error');
    assert.ok((asked?.upstream_ms ?? 0) > 0 && (asked?.upstream_ms ?? 0) <= (asked?.duration_ms ?? 0));
    const [refused] = await listOf('code=route_not_found');
    assert.equal(refused?.upstream_ms, null);
    assert.match(asked?.at ?? '', /^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('tells of an exchange what explain tells, by its id and by that of the client', async () => {
    const [row] = await listOf('code=upstream_error');
    const { body } = await get(`exchanges/${row?.request_id}`).expect(200);
    const line = gateway.logLines().find(({ request_id }) => request_id === row?.request_id);
    assert.deepEqual(body.exchanges, JSON.parse(JSON.stringify([exchangeReport(line ?? {})])));
    assert.ok((await get('exchanges/an-id-of-the-client').expect(200)).body.exchanges.length > 1);
    assert.deepEqual((await get('exchanges/req_unknown').expect(200)).body.exchanges, []);
    assert.deepEqual((await get(`exchanges/${encodeURIComponent(SCRIPT)}`).expect(200)).body.exchanges, []);
    await get('exchanges/%E0%A4%A').expect((answer) => assert.ok(answer.status < 500));
  });

  it('holds no key, cookie, path parameter or query value', async () => {
    const { exchanges } = (await get('exchanges').expect(200)).body as { exchanges: ExchangeRow[] };
    const stories = await Promise.all(exchanges.map(({ request_id }) => get(`exchanges/${request_id}`)));
    const everything = JSON.stringify([exchanges, stories.map(({ body }) => body)]);
    for (const secret of [SECRET, key.key, 'limit=5']) assert.ok(!everything.includes(secret), secret);
  });

  it('finds an organization by id, by a part of its name, and by its keys', async () => {
    const idsOf = async (text: string) => {
      const { body } = await get(`organizations?find=${encodeURIComponent(text)}`).expect(200);
      assert.equal(body.complete, true);
      return (body.organizations as { id: string }[]).map(({ id }) => id);
    };
    assert.deepEqual((await idsOf('')).sort(), ['org_acme', 'org_other']);
    for (const text of ['org_acme', 'ACME', SCRIPT, key.id, key.key.slice(-4)])
      assert.deepEqual(await idsOf(text), ['org_acme']);
    assert.deepEqual(await idsOf('nothing is called so'), []);
  });

  it('finds a key by its visible end, with its own state and its commands, in one step', async () => {
    const gone = await gateway.issueKey({ organization: 'org_other' });
    await gateway.store.keys.revoke(gone.id, 'test', 'leaked');
    const keysOf = async (text: string) =>
      (await get(`organizations?find=${text}`).expect(200)).body.keys as (Organization['keys'][0] & {
        state: string;
      })[];
    const [live] = (await keysOf(key.key.slice(-4))).filter(({ id }) => id === key.id);
    assert.equal(live?.state, 'active');
    assert.deepEqual(
      live?.commands.map(({ line }) => line.split(' ').slice(1, 3).join(' ')),
      ['keys rotate', 'keys rotate', 'keys revoke'],
    );
    const [revoked] = (await keysOf(gone.key.slice(-4))).filter(({ id }) => id === gone.id);
    assert.deepEqual([revoked?.state, revoked?.commands], ['revoked', []]);
  });

  it('names the client of a request without an organization, and finds its others', async () => {
    const [refused] = await listOf('code=api_key_malformed');
    assert.deepEqual([refused?.organization, refused?.client], [null, '127.0.0.1']);
    assert.ok((await listOf('client=127.0.0.1')).length > 5);
    assert.deepEqual(await listOf('client=192.0.2.1'), []);
  });

  it('tells which path no operation has, without what may be a value', async () => {
    await ask(`/v1/nowhere/cus_5Hq8ZrT2mWx9LbKd/Dana/${SECRET}?token=${SECRET}`, key.key);
    const [row] = await listOf('code=route_not_found');
    const { body } = await get(`exchanges/${row?.request_id}`).expect(200);
    assert.equal(body.exchanges[0].record.path, '/v1/nowhere/{…}/{…}/{…}');
    assert.equal(row?.path, '/v1/nowhere/{…}/{…}/{…}');
    const match = body.exchanges[0].stages.find(({ stage }: { stage: string }) => stage === 'match');
    assert.deepEqual(match.told, ['GET /v1/nowhere/{…}/{…}/{…}', 'no operation has this method and path']);
  });

  it('shows an organization with its limits now, its keys, and commands that exist', async () => {
    const { body } = await get('organizations/org_acme').expect(200);
    const { limits, keys, commands, last_used_at: used } = body as Organization;
    assert.deepEqual([limits[0]?.policy, limits[0]?.used], ['organization', 6]);
    assert.match(limits[0]?.rule_at ?? '', /config\/limits\.yaml:\d+$/);
    assert.deepEqual([keys[0]?.id, keys[0]?.last_four, keys.length], [key.id, key.key.slice(-4), 1]);
    assert.ok(used === null || Date.parse(used) > 0);
    const all = [...commands, ...(keys[0]?.commands ?? [])].map(({ line }) => line);
    assert.ok(all.includes(`bin/gateway keys revoke ${key.id} --reason '' --wait`));
    assert.ok(all.includes(`bin/gateway keys rotate ${key.id} --overlap 0s --wait`));
    assert.ok(all.includes(`bin/gateway keys rotate ${key.id} --overlap 24h`));
    const program = await knownCommands();
    for (const line of all) {
      const [words] = commandLines(`\`\`\`sh\n${line}\n\`\`\`\n`);
      assert.equal(complaintAbout(words ?? [], program), undefined, line);
    }
    assert.ok(!JSON.stringify(body).includes(key.key));
    await get('organizations/org_nobody').expect(404);
  });

  it('quotes in a command what a shell would run', async () => {
    const id = "org_$(touch it)';reboot";
    await gateway.store.organizations.create(
      { id, name: id, tier: 'standard', state: 'active', contacts: [], operator: false },
      'test',
    );
    const { body } = await get(`organizations/${encodeURIComponent(id)}`).expect(200);
    const [first] = (body as Organization).commands;
    assert.equal(first?.line, "bin/gateway limits show --org 'org_$(touch it)'\\'';reboot'");
  });

  it('has no command that revokes a key twice', async () => {
    const gone = await gateway.issueKey({ organization: 'org_other' });
    await gateway.store.keys.revoke(gone.id, 'test', undefined);
    const { body } = await get('organizations/org_other').expect(200);
    assert.deepEqual((body as Organization).keys.find(({ id }) => id === gone.id)?.commands, []);
  });

  it('shows the section of the runbook that a cause names', async () => {
    const { body } = await get('runbook/GatewayKeyStoreAway').expect(200);
    assert.equal(body.title, 'GatewayKeyStoreAway');
    assert.match(body.text, /^The gateway cannot look up keys/);
    assert.equal((await get('runbook/gatewaykeystoreaway').expect(200)).body.title, 'GatewayKeyStoreAway');
    assert.equal((await get('runbook/backup-and-restore').expect(200)).body.title, 'Backup and restore');
    const breaker = (await get('runbook/GatewayBreakerOpen').expect(200)).body.text as string;
    const directory = /`([^`]*)\/upstreams\.yaml`/.exec(breaker)?.[1] ?? '';
    assert.ok(existsSync(`${directory}/upstreams.yaml`), breaker);
    await get('runbook/Nothing').expect(404);
    await get('runbook/..%2f..%2fpackage.json').expect(404);
    const folder = new URL('../../../gateway/console/causes/', import.meta.url);
    const files = [...readdirSync(folder).map((name) => `causes/${name}`), 'feed/feed.ts'];
    const sources = files.map((name) => readFileSync(new URL(`../${name}`, folder), 'utf8'));
    const named = new Set(
      sources
        .join()
        .match(/'Gateway[A-Z]\w+'/g)
        ?.map((name) => name.slice(1, -1)),
    );
    assert.ok(named.size > 8);
    for (const name of named) await get(`runbook/${name}`).expect(200);
  });

  it('puts what it is told into the page as text, never as markup', () => {
    for (const name of readdirSync(pageDirectory).filter((file) => file.endsWith('.js'))) {
      const source = readFileSync(pageDirectory + name, 'utf8');
      assert.doesNotMatch(
        source,
        /innerHTML\s*=[^=]|outerHTML\s*=[^=]|insertAdjacentHTML|document\.write|\beval\b/,
        name,
      );
    }
  });

  it('has every time in a form that people read', async () => {
    const { body: feed } = await get('feed?range=24h').expect(200);
    const { status, statuses, ...rest } = feed;
    assert.equal(statuses.length, 1);
    const numbers = JSON.stringify(rest).match(/\b1[6-9]\d{11}\b/g);
    assert.deepEqual(numbers, null);
    assert.match(status.limits.since_at, /^\d{4}-.*Z$/);
    assert.equal(Date.parse(status.limits.since_at), status.limits.since);
    assert.equal(Date.parse(status.keys.read_at), status.keys.readAtMs);
    assert.equal(feed.history.range, '24h');
  });
});
