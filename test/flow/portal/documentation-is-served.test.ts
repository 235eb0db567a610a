// Everything under /docs as a browser gets it: every page that some page links to, with headers that let nothing else in.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import supertest from 'supertest';
import { REFUSALS } from '../../../gateway/catalogue/errors.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { sendRaw } from '../../support/raw.ts';

describe('the documentation', () => {
  let gateway: TestGateway;
  const get = (path: string) => supertest(gateway.url).get(path);
  const visited = new Map<string, supertest.Response>();
  before(async () => {
    gateway = await startGateway({ gateway: { portal: { title: 'Platform API' } } });
    await visit('/docs');
    // Services and older answers may link to codes that the pages do not list.
    for (const code of Object.keys(REFUSALS)) await visit(`/docs/errors/${code}`);
  });
  after(() => gateway?.stop());

  async function visit(path: string): Promise<void> {
    if (visited.has(path)) return;
    const answer = await get(path).set('Accept-Encoding', 'identity');
    visited.set(path, answer);
    if (answer.type === 'text/html') for (const { path } of linksIn(answer.text)) await visit(path || '/docs');
  }

  const pages = () => [...visited].filter(([, { type }]) => type === 'text/html');

  it('has no link that leads nowhere, and none to another host', () => {
    for (const [path, { status }] of visited) assert.equal(status, 200, path);
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
      assert.ok(wordsOf(text).includes(`&quot;type&quot;: &quot;${type}&quot;`), code);
    }
  });

  it('shows every member of the error object of a code that its texts name, and no other address than its own', () => {
    for (const [code, { meaning, remedy, message }] of Object.entries(REFUSALS)) {
      const text = wordsOf(visited.get(`/docs/errors/${code}`)?.text ?? '');
      const names = [...`${meaning} ${remedy} ${message}`.matchAll(/\b(?:[a-z]+_)+[a-z]+\b|\bparam\b/g)].map(
        ([name]) => name,
      );
      const members = names.filter(
        (name) => !Object.hasOwn(REFUSALS, name) && !/^(max_(members|lines)|allow_last|return_to)$/.test(name),
      );
      const [, sample = ''] = /<code>(\{[\s\S]*?)<\/code>/.exec(text) ?? [];
      for (const name of members)
        if (!/^sk_/.test(name)) assert.ok(sample.includes(`&quot;${name}&quot;:`), `${code} lacks ${name}`);
      assert.ok(sample.includes(`${gateway.url}/docs/errors/${code}`) || sample.includes('http://localhost'), code);
    }
  });

  it('links the guides and the errors of an operation', () => {
    const linksOf = (operation: string) => {
      const text = visited.get(`/docs/reference/v1/${operation}`)?.text ?? '';
      // The fields of the error object name codes of other operations.
      const [, main = ''] = text.replace(/<div class="member-text">[\s\S]*?<\/div>/g, '').split('<main');
      return [...main.matchAll(/href="\/docs\/(guides|errors)\/(\w[\w-]*)"/g)].map(([, , name]) => name);
    };
    const list = linksOf('listJobs');
    for (const name of ['authentication', 'pagination', 'rate-limits', 'errors', 'validation_failed', 'invalid_cursor'])
      assert.ok(list.includes(name), `listJobs does not link ${name}`);
    for (const name of ['idempotency', 'idempotency_key_reused', 'invalid_transition', 'body_missing'])
      assert.ok(!list.includes(name), `listJobs links ${name}`);
    const create = linksOf('createJob');
    for (const name of ['idempotency', 'idempotency_key_reused', 'reference_missing', 'body_missing', 'rate_limited'])
      assert.ok(create.includes(name), `createJob does not link ${name}`);
    assert.ok(!create.includes('pagination') && !create.includes('resource_missing'));
    assert.ok(linksOf('updateJob').includes('invalid_transition'));
  });

  it('shows refusals of an operation with the address of the gateway', () => {
    const text = wordsOf(visited.get('/docs/reference/v1/createJob')?.text ?? '');
    assert.ok(text.includes('/docs/errors/reference_missing&quot;'));
    assert.doesNotMatch(text, /api\.example\.com/);
  });

  it('is where doc_url of a refusal points', async () => {
    const { body } = await get('/v1/customers').expect(401);
    assert.ok(visited.has(new URL(body.error.doc_url).pathname));
  });

  it('needs no script or style within its pages, and is not let to load anything from elsewhere', () => {
    for (const [path, { headers, text }] of pages()) {
      assert.doesNotMatch(text, /<style|\sstyle=|\son[a-z]+=|<script(?! src=)|javascript:/, path);
      const policy = headers['content-security-policy'] ?? '';
      assert.match(
        policy,
        /^default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self';/,
      );
      assert.doesNotMatch(policy, /unsafe|https?:|\*/);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['referrer-policy'], 'no-referrer');
      assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
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
      assert.match(text, path === '/docs' ? /<title>Platform API<\/title>/ : /<title>[^<]+ · Platform API<\/title>/);
    }
  });

  it('leads on where there is nothing, to what begins alike and to the page above', async () => {
    const { text } = await get('/docs/reference/v1/customrs').set('Accept', 'text/html').expect(404);
    for (const path of ['/docs/reference/v1/customers', '/docs/reference/v1'])
      assert.ok(text.includes(`<li><a href="${path}"><span class="op-title">`), path);
    assert.match(text, /There is no page at <code>\/docs\/reference\/v1\/customrs<\/code>/);
    assert.match(text, /<span class="op-title">customers<\/span>/i);
    assert.doesNotMatch(text, /aria-current|as Markdown|text\/markdown/);
    const far = await get('/docs/%3Cb%3E/zzzz').set('Accept', 'text/html').expect(404);
    for (const path of ['/docs', '/docs/guides', '/docs/reference', '/docs/errors'])
      assert.ok(far.text.includes(`<li><a href="${path}"><span class="op-title">`), path);
    assert.doesNotMatch(far.text, /<b>/);
  });

  it('tells the form that a value must have, on the page and in Markdown, in words where they suffice', async () => {
    for (const page of ['createBooking', 'createBooking.md']) {
      const { text } = await get(`/docs/reference/v1/${page}`).expect(200);
      assert.match(text, /form: gst_, then 16 digits or letters/, page);
      assert.match(text, /matches [^\n]*#-/, page);
    }
  });

  it('has the purpose and the scope of an operation before its samples', async () => {
    const { text } = await get('/docs/reference/v1/createCustomer').expect(200);
    assert.ok(text.indexOf('class="needs"') < text.indexOf('class="samples"'));
  });

  it('may be cached for a minute and is revalidated by its ETag', async () => {
    const page = '/docs/errors/rate_limited';
    const { headers } = await get(page).expect('cache-control', 'public, max-age=60, must-revalidate');
    const etag = headers.etag ?? '';
    for (const condition of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
      const again = await get(page).set('If-None-Match', condition).expect(304).expect('etag', etag);
      assert.equal(again.text, '');
    }
    await get(page).set('If-None-Match', '"other"').expect(200);
  });

  it('has assets that browsers keep for good; at the address of another version they are those of this one, for a minute', async () => {
    const [, base = '', version = ''] =
      /"((?:\/docs\/assets)\/([\w-]{16}))\/portal\.js"/.exec(visited.get('/docs')?.text ?? '') ?? [];
    const { text } = await get(`${base}/portal.js`)
      .expect(200)
      .expect('cache-control', 'public, max-age=31536000, immutable');
    for (const path of ['/docs/assets/portal.js', `/docs/assets/${'x'.repeat(16)}/portal.js`])
      await get(path).expect(200, text).expect('cache-control', 'public, max-age=60, must-revalidate');
    for (const path of [
      `${base}/nothing.js`,
      `${base}/${version}/portal.js`,
      `/docs/assets/${version}`,
      `/docs/${version}/assets/portal.js`,
    ])
      await get(path).expect(404);
    await get(`${base}/code/html.ts`).expect(200);
  });

  it('is compressed for clients that understand that', async () => {
    const { text } = visited.get('/docs') as supertest.Response;
    await get('/docs')
      .set('Accept-Encoding', 'gzip')
      .expect(200, text)
      .expect('content-encoding', 'gzip')
      .expect('vary', 'Accept, Accept-Encoding');
    const brotli = await fetch(`${gateway.url}/docs`, { headers: { 'accept-encoding': 'gzip, br' } });
    assert.equal(brotli.headers.get('content-encoding'), 'br');
    assert.equal(await brotli.text(), text);
    const refused = await get('/docs').set('Accept-Encoding', 'gzip;q=0').expect(200, text);
    assert.equal(refused.headers['content-encoding'], undefined);
  });

  it('is Markdown for programs that ask for it, and leads them on to Markdown', async () => {
    const { text: page } = await get('/docs/guides/errors').set('Accept', 'text/html,*/*;q=0.8').expect(200);
    assert.match(page, /^<!doctype html>/);
    const { text } = await get('/docs/guides/errors.md').expect('content-type', 'text/markdown; charset=utf-8');
    for (const accept of ['text/markdown', 'text/html;q=0.9, text/markdown', 'text/markdown, text/html, */*'])
      await get('/docs/guides/errors')
        .set('Accept', accept)
        .expect(200, text)
        .expect('content-type', 'text/markdown; charset=utf-8')
        .expect('vary', 'Accept, Accept-Encoding');
    for (const accept of ['*/*', 'text/markdown;q=0', 'text/html, text/markdown;q=0.5'])
      await get('/docs/guides/errors').set('Accept', accept).expect(200, page);
    assert.doesNotMatch(text, /\]\(\/docs\/[\w/-]*[)#]/);
    for (const [, link = ''] of text.matchAll(/\]\((\/docs[^)#]*)/g)) await get(link).expect(200);
    assert.match(visited.get('/docs/agents')?.text ?? '', /llms\.txt/);
    assert.doesNotMatch(visited.get('/docs/agents')?.text ?? '', /Model Context|agents\.js/);
  });

  it('answers HEAD without a body and OPTIONS with the allowed methods', async () => {
    const { text } = visited.get('/docs') as supertest.Response;
    const length = String(Buffer.byteLength(text));
    const docs = supertest(gateway.url);
    const head = await docs
      .head('/docs')
      .set('Accept-Encoding', 'identity')
      .expect(200)
      .expect('content-length', length);
    assert.equal(head.text, undefined);
    await docs.options('/docs').expect(204).expect('allow', 'GET, HEAD, OPTIONS');
    await docs.post('/docs').expect(405).expect('x-error-code', 'method_not_allowed');
  });

  it('leads a path with a slash at its end to the page', async () => {
    await get('/docs/').expect(308).expect('location', '/docs');
  });

  it('answers a path that is not there with the error object to a program, with a page to a reader', async () => {
    for (const path of ['/docs/nothing', '/docs/errors/no_such_code', '/openapi/v9.json', '/docs/guides/constructor']) {
      const { body } = await get(path).expect(404);
      assert.equal(body.error.code, 'route_not_found');
      await get(path)
        .set('Accept', 'text/html,*/*;q=0.8')
        .expect(404, /href="\/docs/)
        .expect('x-error-code', 'route_not_found')
        .expect('cache-control', 'no-store');
    }
    const last = gateway.logLines().at(-1);
    assert.equal(last?.code, 'route_not_found');
  });

  it('serves only listed files, for any path', async () => {
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
    const heading = /<h1><code>some_code_of_a_service<\/code><\/h1>/;
    await get('/docs/errors/some_code_of_a_service').set('Accept', 'text/html').expect(heading);
  });
});

describe('documentation and the rest of the gateway', () => {
  it('is found where the API is, needs no key and spends nothing', async () => {
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

describe('a document that is requested by a request that never ends', () => {
  it('is not written behind the refusal', async () => {
    const gateway = await startGateway({ gateway: { timeouts: { headersMs: 100, requestMs: 100 } } });
    try {
      const unfinished = 'GET /openapi/v1.yaml HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n';
      const answer = await sendRaw(gateway.port, unfinished, { quietMs: 1500 });
      assert.match(answer.text, /^HTTP\/1\.1 (200|408) /);
      assert.equal(answer.text.match(/HTTP\/1\.1 /g)?.length, 1);
      await supertest(gateway.url).get('/docs').expect(200);
    } finally {
      await gateway.stop();
    }
  });
});

/** The links of a page on this host. */
function linksIn(html: string): { path: string; fragment: string }[] {
  return [...html.matchAll(/(?:href|src)="([/#][^"]*)"/g)].map(([, link = '']) => {
    const [path = '', fragment = ''] = link.split('#');
    return { path, fragment };
  });
}

/** A page without the marks of its code. */
function wordsOf(html: string): string {
  return html.replace(/<\/?span[^>]*>/g, '');
}
