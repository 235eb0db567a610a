// Everything under /docs as a browser gets it: every page that some page links to, with headers that let nothing else in.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REFUSALS } from '../../../gateway/error-catalogue.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { sendRaw } from '../../support/raw.ts';

interface Visited {
  readonly answer: Response;
  readonly text: string;
}

describe('the documentation', () => {
  let gateway: TestGateway;
  const visited = new Map<string, Visited>();
  before(async () => {
    gateway = await startGateway();
    await visit('/docs');
  });
  after(() => gateway?.stop());

  async function visit(path: string): Promise<void> {
    if (visited.has(path)) return;
    const answer = await fetch(gateway.url + path, { redirect: 'manual' });
    const text = await answer.text();
    visited.set(path, { answer, text });
    if (answer.headers.get('content-type')?.startsWith('text/html')) {
      for (const { path } of linksIn(text)) await visit(path || '/docs');
    }
  }

  const pages = () =>
    [...visited].filter(([, { answer }]) => answer.headers.get('content-type')?.startsWith('text/html'));

  it('has no link that leads nowhere, and none to another host', () => {
    for (const [path, { answer }] of visited) assert.equal(answer.status, 200, path);
    for (const [page, { text }] of pages()) {
      for (const { path, fragment } of linksIn(text)) {
        const target = visited.get(path || page)?.text ?? '';
        if (fragment) assert.ok(target.includes(`id="${fragment}"`), `${page} → ${path}#${fragment}`);
      }
      const foreign = [...text.matchAll(/(?:href|src)="(?!\/|#)([^"]*)"/g)].map(([, link]) => link);
      assert.deepEqual(foreign, [], page);
    }
    assert.ok(pages().length > 70);
  });

  it('has a page for every code of the catalogue, with its status and an example', () => {
    for (const [code, { status, type }] of Object.entries(REFUSALS)) {
      const text = visited.get(`/docs/errors/${code}`)?.text ?? '';
      assert.match(text, new RegExp(`<h1><code>${code}</code></h1>`));
      assert.match(text, new RegExp(`<dd>${status}</dd>`));
      assert.ok(text.includes(`&quot;type&quot;: &quot;${type}&quot;`), code);
    }
  });

  it('is where doc_url of a refusal points', async () => {
    const { error } = (await (await fetch(`${gateway.url}/v1/customers`)).json()) as { error: { doc_url: string } };
    assert.ok(visited.has(new URL(error.doc_url).pathname));
  });

  it('needs no script or style within its pages, and is not let to load anything from elsewhere', () => {
    for (const [path, { answer, text }] of pages()) {
      assert.doesNotMatch(text, /<style|\sstyle=|\son[a-z]+=|<script(?! src=)|javascript:/, path);
      const policy = answer.headers.get('content-security-policy') ?? '';
      assert.match(
        policy,
        /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';/,
      );
      assert.doesNotMatch(policy, /unsafe|https?:|\*/);
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
      assert.equal(answer.headers.get('cross-origin-opener-policy'), 'same-origin');
      assert.equal(answer.headers.get('cross-origin-resource-policy'), 'same-origin');
    }
  });

  it('has landmarks, one first heading, a language and a way past the navigation on every page', () => {
    for (const [path, { text }] of pages()) {
      assert.equal(text.match(/<h1/g)?.length, 1, path);
      for (const part of [
        '<html lang="en">',
        '<main id="main"',
        '<header',
        '<footer',
        'href="#main">',
        '<meta name="viewport"',
      ]) {
        assert.ok(text.includes(part), `${path} lacks ${part}`);
      }
      assert.match(text, /<title>[^<]+ · Platform API<\/title>/);
    }
  });

  it('may be kept for a minute and is asked for again by its ETag', async () => {
    const { answer } = visited.get('/docs/errors/rate_limited') as Visited;
    assert.equal(answer.headers.get('cache-control'), 'public, max-age=60, must-revalidate');
    const etag = answer.headers.get('etag') ?? '';
    for (const condition of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
      const again = await fetch(`${gateway.url}/docs/errors/rate_limited`, { headers: { 'if-none-match': condition } });
      assert.equal(again.status, 304, condition);
      assert.equal(again.headers.get('etag'), etag);
      assert.equal(await again.text(), '');
    }
    const other = await fetch(`${gateway.url}/docs/errors/rate_limited`, { headers: { 'if-none-match': '"other"' } });
    assert.equal(other.status, 200);
    await other.text();
  });

  it('is compressed for whoever understands that', async () => {
    const compressed = await fetch(`${gateway.url}/docs`, { headers: { 'accept-encoding': 'br, gzip' } });
    assert.equal(compressed.headers.get('content-encoding'), 'gzip');
    assert.equal(compressed.headers.get('vary'), 'Accept-Encoding');
    assert.equal(await compressed.text(), visited.get('/docs')?.text);
    const refused = await fetch(`${gateway.url}/docs`, { headers: { 'accept-encoding': 'gzip;q=0' } });
    assert.equal(refused.headers.get('content-encoding'), null);
    assert.equal(await refused.text(), visited.get('/docs')?.text);
  });

  it('answers HEAD without a body and OPTIONS with what is allowed', async () => {
    const head = await fetch(`${gateway.url}/docs`, { method: 'HEAD', headers: { 'accept-encoding': 'identity' } });
    assert.equal(head.status, 200);
    assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(visited.get('/docs')?.text ?? '')));
    assert.equal(await head.text(), '');
    const options = await fetch(`${gateway.url}/docs`, { method: 'OPTIONS' });
    assert.equal(options.status, 204);
    assert.equal(options.headers.get('allow'), 'GET, HEAD, OPTIONS');
    const post = await fetch(`${gateway.url}/docs`, { method: 'POST' });
    assert.equal(post.status, 405);
    assert.equal(post.headers.get('x-error-code'), 'method_not_allowed');
    await post.text();
  });

  it('leads a path with a slash at its end to the page', async () => {
    const answer = await fetch(`${gateway.url}/docs/`, { redirect: 'manual' });
    assert.equal(answer.status, 308);
    assert.equal(answer.headers.get('location'), '/docs');
  });

  it('tells a program of a path that is not there by the error object, a reader by a page', async () => {
    for (const path of ['/docs/nothing', '/docs/errors/no_such_code', '/openapi/v9.json', '/docs/guides/constructor']) {
      const forPrograms = await fetch(gateway.url + path);
      assert.equal(forPrograms.status, 404);
      assert.equal(((await forPrograms.json()) as { error: { code: string } }).error.code, 'route_not_found');
      const forReaders = await fetch(gateway.url + path, { headers: { accept: 'text/html,*/*;q=0.8' } });
      assert.equal(forReaders.status, 404);
      assert.equal(forReaders.headers.get('x-error-code'), 'route_not_found');
      assert.equal(forReaders.headers.get('cache-control'), 'no-store');
      assert.match(await forReaders.text(), /href="\/docs/);
    }
    const last = gateway.logLines().at(-1);
    assert.equal(last?.code, 'route_not_found');
  });

  it('serves nothing but what is on its list, whatever the path says', async () => {
    const tricks = [
      '..%2f..%2fpackage.json',
      '%2e%2e/portal.ts',
      '..%5cportal.ts',
      'portal.css%00',
      'package.json',
      '',
    ];
    for (const trick of tricks) {
      const text = `GET /docs/assets/${trick} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
      assert.match((await sendRaw(gateway.port, text)).text, /^HTTP\/1\.1 (400|404) /, trick);
    }
  });

  it('shows a code of a service as text', async () => {
    const answer = await fetch(`${gateway.url}/docs/errors/some_code_of_a_service`, {
      headers: { accept: 'text/html' },
    });
    assert.match(await answer.text(), /<h1><code>some_code_of_a_service<\/code><\/h1>/);
  });
});

describe('documentation and the rest of the gateway', () => {
  it('is found where the API is, asks for no key and spends nothing', async () => {
    const hosts = { api: 'api.example.com', mail: 'mail.example.com' };
    const gateway = await startGateway({
      gateway: { hosts, publicUrl: 'https://api.example.com' },
      limits: { tiers: { standard: { requests: 1 } } },
    });
    const ask = async (host: string, path: string, headers = '') =>
      (await sendRaw(gateway.port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}Connection: close\r\n\r\n`))
        .text;
    try {
      const { authorization } = await gateway.authorize();
      for (let count = 0; count < 3; count++) {
        const answer = await ask('api.example.com', '/docs', `Authorization: ${authorization}\r\n`);
        assert.match(answer, /^HTTP\/1\.1 200 /);
        assert.doesNotMatch(answer, /ratelimit/i);
      }
      assert.match(await ask('mail.example.com', '/docs'), /^HTTP\/1\.1 404 /);
      assert.match(await ask('mail.example.com', '/openapi/v1.json'), /^HTTP\/1\.1 404 /);
      assert.match(await ask('other.example.com', '/docs'), /^HTTP\/1\.1 421 /);
      const paid = await ask('api.example.com', '/v1/customers', `Authorization: ${authorization}\r\n`);
      assert.match(paid, /^HTTP\/1\.1 200 /);
    } finally {
      await gateway.stop();
    }
  });
});

describe('a document that is asked for by a request that never ends', () => {
  it('is not written behind the refusal', async () => {
    const gateway = await startGateway({ gateway: { timeouts: { headersMs: 100, requestMs: 100 } } });
    try {
      const unfinished = 'GET /openapi/v1.yaml HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n';
      const answer = await sendRaw(gateway.port, unfinished, { quietMs: 1500 });
      assert.match(answer.text, /^HTTP\/1\.1 (200|408) /);
      assert.equal(answer.text.match(/HTTP\/1\.1 /g)?.length, 1);
      assert.equal((await fetch(`${gateway.url}/docs`)).status, 200);
    } finally {
      await gateway.stop();
    }
  });
});

/** What a page refers to on this host. */
function linksIn(html: string): { path: string; fragment: string }[] {
  return [...html.matchAll(/(?:href|src|data-document)="([/#][^"]*)"/g)].map(([, link = '']) => {
    const [path = '', fragment = ''] = link.split('#');
    return { path, fragment };
  });
}
