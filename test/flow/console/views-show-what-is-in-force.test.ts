// The views of the console: the audit log, the routes, the configuration in force with its last change, and a request that is tried out.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import supertest from 'supertest';
import { createAuthority } from '../../support/certificates.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { ownContractAndThings } from '../../support/own-contract.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { until } from '../reload/files.ts';

const ADMIN = 'a-token-of-an-admin-made-for-this-test';
const VIEWER = 'a-token-of-a-viewer-made-for-this-test';
const SCRIPT = '<script>alert(1)</script>';

describe('the views of the console', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let keyId: string;
  const seen: string[] = [];
  before(async () => {
    upstream = await startUpstream(({ url = '' }, response) => {
      seen.push(url);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    const pair = createAuthority().issue({ names: ['api.test'] });
    gateway = await startGateway({
      ...ownContractAndThings(upstream.url),
      limits: { tiers: { standard: { requests: 6 } } },
      gateway: { publicUrl: 'https://api.test', tls: { certificates: [{ certificate: 'api.pem', key: 'api.key' }] } },
      files: { 'api.pem': pair.certificate, 'api.key': pair.key },
      environment: { ADMIN_TOKEN: ADMIN, VIEWER_TOKEN: VIEWER },
    });
    keyId = (await gateway.issueKey({ organization: 'org_acme', scopes: ['things:read'] })).id;
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const get = async (path: string, token = VIEWER) =>
    (await supertest(gateway.adminUrl).get(`/console/${path}`).set('authorization', `Bearer ${token}`).expect(200))
      .body;

  it('the audit log, page by page, and that of one organization', async () => {
    const { changes, older } = await get('audit');
    assert.equal(older, null);
    const [first] = changes.filter(({ kind }: { kind: string }) => kind === 'key.created');
    assert.deepEqual([first.key, first.organization, first.by], [keyId, 'org_acme', 'test']);
    for (let count = 0; count < 60; count += 1)
      await gateway.store.organizations[count % 2 === 0 ? 'suspend' : 'resume']('org_acme', 'test');
    const newest = await get('audit?organization=org_acme');
    assert.equal(newest.changes.length, 50);
    const rest = await get(`audit?organization=org_acme&before=${newest.older}`);
    assert.ok(
      rest.changes.length >= 12 && rest.changes.every(({ sequence }: { sequence: number }) => sequence < newest.older),
    );
    for (const query of ['before=x', 'before=-1', 'before=1e99', `organization=${encodeURIComponent(SCRIPT)}`])
      await get(`audit?${query}`);
  });

  it('the routes that `gateway routes` prints, those of the gateway itself last', async () => {
    const { routes } = await get('routes');
    const upstreams: string[] = routes.map(({ upstream: of }: { upstream: string }) => of);
    assert.ok(upstreams.includes('gateway') && upstreams.includes('things'));
    assert.ok(upstreams.indexOf('gateway') > upstreams.lastIndexOf('things'), upstreams.join());
    const [one] = routes.filter(({ operation }: { operation: string }) => operation === 'getThing');
    assert.deepEqual(one, {
      ...{ method: 'GET', path: '/v1/things/{id}', operation: 'getThing', scopes: ['things:read'], public: false },
      ...{ limits: ['tier'], upstream: 'things', contract: one.contract },
    });
  });

  it('the configuration in force and what its last reload changed, without any key', async () => {
    const path = join(gateway.directory, 'config/limits.yaml');
    const first = await get('configuration');
    assert.deepEqual([first.before, first.changes], [null, []]);
    assert.equal(
      first.files.find(({ file }: { file: string }) => file.endsWith('limits.yaml')).text,
      readFileSync(path, 'utf8'),
    );
    writeFileSync(path, readFileSync(path, 'utf8').replace('6', '7'));
    await until(async () => (await get('configuration')).before !== null);
    const next = await get('configuration');
    assert.equal(next.before.version, first.version);
    const [change, ...others] = next.changes;
    assert.deepEqual([others, change.kind], [[], 'changed']);
    const lines: string[] = change.lines.filter((line: string) => /^[+-]/.test(line));
    assert.deepEqual([lines.length, /^-.*6/.test(lines[0] ?? ''), /^\+.*7/.test(lines[1] ?? '')], [2, true, true]);
    assert.doesNotMatch(JSON.stringify(next), /PRIVATE KEY|BEGIN CERTIFICATE/);
    writeFileSync(path, readFileSync(path, 'utf8').replace('7', '6'));
    await until(async () => (await get('configuration')).version === first.version);
    const { latest } = await get('configuration');
    assert.deepEqual(
      latest.map(({ version, before: of }: { version: string; before: string }) => [version, of]),
      [
        [first.version, next.version],
        [next.version, first.version],
      ],
    );
    assert.deepEqual(latest[1].changes, next.changes, 'the lines of an earlier change are kept');
  });

  const explain = (body: unknown, headers: Record<string, string> = {}) =>
    supertest(gateway.adminUrl)
      .post('/console/explain')
      .set({
        authorization: `Bearer ${VIEWER}`,
        'x-console-action': '1',
        'content-type': 'application/json',
        ...headers,
      })
      .send(typeof body === 'string' ? body : JSON.stringify(body));

  it('a request that is tried out: who is refused why, and nothing is sent', async () => {
    await gateway.store.organizations.resume('org_acme', 'test');
    const verdictOf = async (body: object) => {
      const { body: told } = await explain({ method: 'GET', ...body }).expect(200);
      return told.problem ?? told.report.verdict;
    };
    assert.match(await verdictOf({ target: '/v1/things', caller: keyId }), /^GET \/v1\/things would be sent to http/);
    assert.match(await verdictOf({ target: '/v1/things', caller: 'org_acme' }), /would be sent to/);
    assert.match(
      await verdictOf({ target: '/v1/things' }),
      /would be refused by authenticate with 401 api_key_missing/,
    );
    const write = { method: 'POST', target: '/v1/things', caller: keyId, body: '{"name":"x"}' };
    assert.match(await verdictOf(write), /refused by authorize with 403/);
    assert.match(await verdictOf({ ...write, scopes: 'things:write', body: '{' }), /refused by validate with 400/);
    assert.match(
      await verdictOf({ target: '/v1/nowhere', caller: keyId }),
      /refused by match with 404 route_not_found/,
    );
    assert.match(
      await verdictOf({ target: '/v1/things', caller: 'org_none' }),
      /^There is no organization or key org_none/,
    );
    assert.deepEqual(seen, []);
    const { limits } = await get('organizations/org_acme');
    assert.equal(limits[0].used, 0);
  });

  it('answers the worst inputs with a sentence', async () => {
    const rows: [body: unknown, status: number, says: RegExp][] = [
      ['{', 400, /failed/],
      ['[]', 400, /not a JSON object/],
      [{}, 400, /method is a word/],
      [{ method: 'GET', target: 1 }, 400, /target is not a text/],
      [{ method: 'GET\r\nX: y', target: '/' }, 400, /method is a word/],
      [{ method: 'GET', target: '/a b' }, 400, /has no blanks/],
      [{ method: 'GET', target: 'http://other.test/' }, 400, /begins with \//],
      [{ method: 'GET', target: '/', headers: 'no colon' }, 200, /not a header/],
      [{ method: 'GET', target: '/', headers: 'A: b\u0000' }, 200, /not a header/],
      [{ method: 'GET', target: '/', headers: 'Authorization: Bearer x' }, 200, /Name the caller/],
      [{ method: 'GET', target: '/v1/things', headers: 'Content-Length: 5', caller: 'org_acme' }, 200, /./],
      [{ method: 'GET', target: '/v1/things', headers: 'Transfer-Encoding: chunked\nContent-Length: 3' }, 200, /./],
      [{ method: 'GET', target: '/', client: 'x' }, 200, /not an address/],
      [{ method: 'CONNECT', target: '/' }, 200, /./],
      [{ method: 'GET', target: '/', body: 'x'.repeat(70_000) }, 413, /failed/],
    ];
    for (const [body, status, says] of rows) {
      const answer = await explain(body).timeout(10_000);
      assert.equal(answer.status, status, JSON.stringify(body)?.slice(0, 80));
      assert.match(answer.text, says);
    }
    await explain({ method: 'GET', target: '/' }, { 'x-console-action': '', 'content-type': 'text/plain' }).expect(415);
    await explain({ method: 'GET', target: '/' }, { origin: 'http://other.test' }).expect(403);
  });
});
