// Ranges and conditions cross, so that downloads resume and unchanged answers are not sent again, except where a part could not be checked.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { answerAsFileService, ETAG, FILE, fileDocument, MODIFIED } from '../../support/file-service.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

/** The same paths below another prefix, with further members of the document or of the entry. */
const variant = (prefix: string, says: object = {}) => {
  const entries = Object.entries(fileDocument.paths).map(([path, { get }]) => {
    const id = `${prefix.slice(1)}_${get.operationId}`;
    return [path, { get: { ...get, operationId: id } }];
  });
  return { ...fileDocument, ...says, paths: Object.fromEntries(entries) };
};

describe('a part of an answer', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    upstream = await startUpstream(answerAsFileService);
    const shared = { live: upstream.url, public: true };
    // biome-ignore lint/suspicious/noThenProperty: this is the word of the configuration.
    const rule = { when: { status: 418 }, then: { code: 'upstream_error' } };
    gateway = await startGateway({
      contracts: {
        'files.json': fileDocument,
        'refused.json': variant('/refused', { 'x-gateway-response': 'refuse' }),
        'judged.json': variant('/judged'),
      },
      upstreams: {
        files: { ...shared, contracts: ['files.json'] },
        refused: { ...shared, contracts: ['refused.json'], basePath: '/refused' },
        judged: { ...shared, contracts: ['judged.json'], basePath: '/judged', answers: [rule] },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function get(headers: Record<string, string> = {}, method = 'GET', path = '/file') {
    const received = await fetch(`${gateway.url}${path}`, { method, headers });
    const body = Buffer.from(await received.arrayBuffer());
    return { status: received.status, headers: received.headers, body, reached: upstream.requests.at(-1)?.headers };
  }

  it('crosses as the service made it, with its place and its length', async () => {
    const { status, headers, body } = await get({ range: 'bytes=40000-49999' });
    assert.equal(status, 206);
    assert.ok(body.equals(FILE.subarray(40_000, 50_000)));
    assert.equal(headers.get('content-range'), 'bytes 40000-49999/100000');
    assert.equal(headers.get('content-length'), '10000');
    assert.equal(headers.get('accept-ranges'), 'bytes');
    assert.equal(headers.get('etag'), ETAG);
  });

  it('resumes a download that broke off, while the file is the same', async () => {
    const begun = FILE.subarray(0, 30_000);
    const rest = await get({ range: `bytes=${begun.length}-`, 'if-range': ETAG });
    assert.ok(Buffer.concat([begun, rest.body]).equals(FILE));
    const changed = await get({ range: 'bytes=30000-', 'if-range': '"other"' });
    assert.deepEqual([changed.status, changed.body.equals(FILE)], [200, true]);
  });

  it('behind the end becomes the error object, with the length of the whole', async () => {
    const { status, headers, body } = await get({ range: 'bytes=100000-' });
    assert.equal(status, 416);
    assert.equal(headers.get('content-range'), 'bytes */100000');
    assert.equal(headers.get('content-type'), 'application/json');
    assert.equal(JSON.parse(body.toString()).error.status, 416);
  });

  it('is nothing for HEAD, which gets the length of the whole', async () => {
    const { status, headers, body, reached } = await get({ range: 'bytes=0-9' }, 'HEAD');
    assert.deepEqual([status, headers.get('content-length'), body.length], [200, '100000', 0]);
    assert.equal(reached?.range, undefined);
  });

  it('is no answer to a condition: an unchanged file is a 304 with its validators, without body and length', async () => {
    const { status, headers, body } = await get({ 'if-none-match': ETAG, range: 'bytes=0-9' });
    assert.deepEqual([status, body.length, headers.get('content-length')], [304, 0, null]);
    assert.deepEqual([headers.get('etag'), headers.get('last-modified')], [ETAG, MODIFIED]);
  });

  it('is not requested where answers are checked or judged as a whole, and Accept-Ranges states that', async () => {
    const judged = await get({ range: 'bytes=0-9', 'if-range': ETAG }, 'GET', '/judged/file');
    assert.deepEqual([judged.status, judged.body.equals(FILE)], [200, true]);
    assert.deepEqual([judged.reached?.range, judged.reached?.['if-range']], [undefined, undefined]);
    assert.equal(judged.headers.get('accept-ranges'), 'none');
    const refused = await get({ range: 'bytes=0-9' }, 'GET', '/refused/file');
    assert.deepEqual([refused.status, refused.reached?.range], [502, undefined]);
  });
});
