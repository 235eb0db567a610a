// The console page and its data: access, headers, and that it shows what happened and no secrets.

import assert from 'node:assert/strict';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import supertest from 'supertest';
import type { Feed } from '../../../gateway/console/feed/feed.ts';
import type { HistoryReport } from '../../../gateway/console/history/history-report.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const TOKEN = 'a-token-made-for-this-test';

const feedOf = async ({ adminUrl }: TestGateway): Promise<Feed & { readonly history: HistoryReport }> =>
  (await supertest(adminUrl).get('/console/feed').expect(200)).body;

describe('the console on loopback', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    upstream = await startUpstream(({ url }, response) => {
      const status = url === '/v1/strict' ? 500 : 200;
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
    gateway = await startGateway({
      ...thingsAt(upstream.url),
      limits: {
        tiers: { standard: { requests: 10 } },
        extra: { watched: { requests: 2, windowSeconds: 60, per: 'organization', enforce: false } },
        operations: { getThing: { extra: 'watched' } },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  it('is a page that loads only its own files, and that no other page may frame', async () => {
    const { headers, text: page } = await supertest(gateway.adminUrl)
      .get('/')
      .expect(200)
      .expect('content-type', 'text/html; charset=utf-8')
      .expect('content-security-policy', /^default-src 'none'; script-src 'self'; style-src 'self';/)
      .expect('content-security-policy', /form-action 'none'; frame-ancestors 'none'$/)
      .expect('x-frame-options', 'DENY')
      .expect('x-content-type-options', 'nosniff')
      .expect('cache-control', 'no-store');
    assert.ok(!headers['content-security-policy']?.includes('unsafe'));
    const linked = [...page.matchAll(/(?:src|href)="([^#][^"]*)"/g)].map(([, path]) => path as string);
    const base = await consoleBase(gateway);
    assert.deepEqual(
      linked,
      ['icon.svg', 'look.css', 'console.css', 'theme.js', 'console.js'].map((name) => `${base}/${name}`),
    );
    assert.doesNotMatch(page, /<script(?!( type="module")? src=)|<style| style=| on\w+=|https?:/);
  });

  it('is found at the address that people type', async () => {
    for (const path of ['/console', '/console/'])
      await supertest(gateway.adminUrl).get(path).expect(302).expect('location', '/');
  });

  it('is made of files that are all there, and of no others', async () => {
    const base = await consoleBase(gateway);
    for (const face of ['text', 'text-more', 'code', 'code-more'])
      await supertest(gateway.adminUrl).get(`${base}/${face}.woff2`).expect(200).expect('content-type', 'font/woff2');
    const wanted = new Set(['look.css', 'console.css', 'icon.svg', 'console.js'].map((name) => `${base}/${name}`));
    for (const path of wanted) {
      const { body, text = String(body) } = await supertest(gateway.adminUrl)
        .get(path)
        .expect(200)
        .expect('content-type', typeOf(path));
      for (const [, name] of text.matchAll(/(?: from |import\()'\.\/([^']+)'/g)) wanted.add(`${base}/${name}`);
    }
    assert.ok(wanted.size > 30);
    const bytes = (await Promise.all([...wanted].map((path) => bytesAt(gateway, path)))).reduce(sum);
    assert.ok(bytes < 200_000, `${bytes} bytes`);
    const other = base.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
    for (const path of [
      ...['/console/console.js', '/console/..%2fconsole.ts', '/console/index.html', base],
      ...[`${base}/nothing.js`, `${base}/index.html`, `${base}/..%2fconsole.ts`, `${other}/console.js`],
    ])
      await supertest(gateway.adminUrl).get(path).expect(404);
  });

  it('is kept by browsers for good and sent compressed, each file in the form that the client takes', async () => {
    const base = await consoleBase(gateway);
    const get = (path: string, coding: string) => supertest(gateway.adminUrl).get(path).set('Accept-Encoding', coding);
    const plain = await get(`${base}/console.css`, 'identity').expect(200);
    assert.equal(plain.headers['content-encoding'], undefined);
    for (const [asked, sent] of [
      ['gzip', 'gzip'],
      ['gzip, br', 'br'],
      ['br;q=0.2, gzip', 'gzip'],
      ['br;q=0, gzip;q=0', undefined],
    ] as const) {
      const { headers } = await fetch(`${gateway.adminUrl}${base}/console.css`, {
        headers: { 'accept-encoding': asked },
      });
      assert.equal(headers.get('content-encoding'), sent ?? null, asked);
      assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assert.equal(headers.get('vary'), 'Accept-Encoding');
      if (sent) assert.ok(Number(headers.get('content-length')) * 3 < plain.text.length);
    }
    await get('/', 'gzip').expect('content-encoding', 'gzip').expect('cache-control', 'no-store');
    const figures = await get('/console/feed', 'gzip').expect('content-encoding', 'gzip');
    assert.equal(figures.body.history.range, '15m');
  });

  it('answers neither other host names nor pages of other origins', async () => {
    for (const path of [
      '/',
      `${await consoleBase(gateway)}/console.js`,
      '/console/feed',
      '/console/exchanges',
      '/status',
    ]) {
      const get = () => supertest(gateway.adminUrl).get(path);
      await get().set('Host', 'evil.example.com').expect(421);
      await get().set('Origin', 'https://evil.example.com').expect(403);
      await get().set('Host', 'localhost').expect(200);
    }
  });

  it('shows the requests and their results, and the organizations near or over a limit', async () => {
    const { authorization } = await gateway.authorize({ organization: 'org_asking' });
    const paths = ['/v1/nowhere', '/v1/strict', ...Array(4).fill('/v1/things/1'), ...Array(7).fill('/v1/things')];
    for (const path of paths) await (await fetch(gateway.url + path, { headers: { authorization } })).arrayBuffer();
    const { history, organizations, status, statuses } = await feedOf(gateway);
    const told = history.operations.map(({ name, total }) => [name, total.requests, total.client_errors]);
    assert.deepEqual(told, [
      ['GET /v1/things', 7, 2],
      ['GET /v1/things/{id}', 4, 0],
      ['GET /v1/strict', 1, 0],
      ['GET unmatched', 1, 1],
    ]);
    const { minute } = history.all;
    assert.deepEqual([minute.requests, minute.client_errors, minute.server_errors], [13, 3, 1]);
    assert.ok((minute.p50_ms ?? 0) > 0 && (minute.p99_ms ?? 0) >= (minute.p50_ms ?? 0));
    assert.equal(history.others, null);
    const codes = history.codes.map(({ code, stage, total }) => `${code} ${stage} ${total}`);
    assert.deepEqual(codes, ['rate_limited limit 2', 'route_not_found match 1', 'upstream_error forward 1']);
    const pressed = organizations.map((one) => [one.policy, one.near, one.refused, one.shadow_refused]);
    assert.deepEqual(pressed, [
      ['organization', 2, 2, 0],
      ['watched', 0, 0, 2],
    ]);
    assert.ok(organizations.every(({ organization, tier }) => organization === 'org_asking' && tier === 'standard'));
    assert.equal((status as { lifecycle: string }).lifecycle, 'serving');
    assert.deepEqual(statuses[0]?.stores, [
      { name: 'key store', state: 'reachable', details: '' },
      { name: 'limit store', state: 'up', details: 'process' },
      { name: 'idempotency store', state: 'up', details: 'sqlite' },
      { name: 'store of deprecated calls', state: 'unused', details: '' },
      { name: 'usage store', state: 'up', details: '' },
    ]);
  });

  it('counts a request once, for any number and order of readers', async () => {
    const before = (await feedOf(gateway)).history.all.total.requests;
    await (await fetch(`${gateway.url}/v1/nowhere`)).arrayBuffer();
    const feeds = await Promise.all(Array.from({ length: 10 }, () => feedOf(gateway)));
    assert.equal((await feedOf(gateway)).history.all.total.requests, before + 1);
    assert.ok(feeds.every(({ history }) => history.all.total.requests <= before + 1));
  });
});

describe('the console of a gateway that was restarted', () => {
  it('goes on with the counts and marks of the process before, from a file that only its owner can read', async () => {
    const dataDirectory = temporaryDirectory();
    try {
      const first = await startGateway({ dataDirectory });
      for (let count = 0; count < 3; count += 1) await (await fetch(`${first.url}/v1/nowhere`)).arrayBuffer();
      await first.stop();
      assert.equal(statSync(join(dataDirectory, 'console-history')).mode & 0o777, 0o600);
      const second = await startGateway({ dataDirectory });
      try {
        await (await fetch(`${second.url}/v1/nowhere`)).arrayBuffer();
        const { body } = await supertest(second.adminUrl).get('/console/feed?range=1h').expect(200);
        assert.equal(body.history.all.total.requests, 4);
        assert.equal(body.events.filter(({ kind }: { kind: string }) => kind === 'start').length, 2);
      } finally {
        await second.stop();
      }
    } finally {
      rmSync(dataDirectory, { recursive: true, force: true });
    }
  });
});

describe('the console off loopback', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ environment: { ADMIN_HOST: '0.0.0.0', ADMIN_TOKEN: TOKEN } });
  });
  after(() => gateway.stop());
  const get = (path: string, token?: string) =>
    supertest(gateway.adminUrl)
      .get(path)
      .set(token ? { Authorization: `Bearer ${token}` } : {});

  it('is 401 with the page that prompts for the token, which shows nothing by itself', async () => {
    await get('/')
      .expect(401)
      .expect('www-authenticate', 'Bearer realm="admin"')
      .expect(/<form id="login"/);
    await get('/', TOKEN).expect(200);
    await get(`${await consoleBase(gateway)}/console.js`).expect(200);
  });

  it('answers probes without the token, and metrics and status with it only', async () => {
    await get('/livez').expect(200);
    await get('/readyz').expect(200);
    for (const path of ['/metrics', '/status', '/exchanges/req_1']) {
      await get(path).expect(401);
      await get(path, 'wrong').expect(401);
    }
    await get('/metrics', TOKEN).expect(200);
    await get('/status', TOKEN).expect(200);
  });

  it('shows nothing without the token, and takes it only from its header', async () => {
    await get('/console/feed').expect(401);
    await get('/console/feed', 'wrong').expect(401);
    await get(`/console/feed?token=${TOKEN}`).expect(401);
    await get('/console/feed').set('Cookie', `admin-token=${TOKEN}`).expect(401);
    for (const path of [
      'nothing',
      'exchanges',
      'exchanges/req_1',
      'organizations',
      'organizations/org_1',
      'runbook/Redis',
    ])
      await get(`/console/${path}`).expect(401);
    await get('/console/nothing', TOKEN).expect(404);
    await get('/console/feed', TOKEN).expect(200);
  });
});

/** The folder of the files of the page, with their version. */
async function consoleBase({ adminUrl }: TestGateway): Promise<string> {
  const page = await (await fetch(`${adminUrl}/`)).text();
  return /"(\/console\/[\w-]{16})\/console\.js"/.exec(page)?.[1] ?? assert.fail(page);
}

const sum = (one: number, other: number) => one + other;

async function bytesAt({ adminUrl }: TestGateway, path: string): Promise<number> {
  return (await (await fetch(adminUrl + path)).arrayBuffer()).byteLength;
}

function typeOf(path: string): RegExp {
  if (path.endsWith('.css')) return /^text\/css/;
  return path.endsWith('.svg') ? /^image\/svg\+xml/ : /^text\/javascript/;
}
