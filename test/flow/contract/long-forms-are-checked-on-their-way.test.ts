import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const schema = {
  type: 'object',
  required: ['title', 'file'],
  additionalProperties: false,
  properties: {
    title: { type: 'string', maxLength: 10 },
    file: { type: 'string', format: 'binary', maxLength: 8_000_000 },
    note: { type: 'string' },
    last: { type: 'string' },
  },
};
const content = { 'multipart/form-data': { schema, encoding: { file: { contentType: 'video/mp4' } } } };
const document = {
  openapi: '3.1.0',
  info: { title: 'Films', version: '1' },
  paths: {
    '/films': {
      post: {
        operationId: 'createFilm',
        'x-gateway-body': 'stream',
        requestBody: { required: true, content },
        responses: { 200: { description: 'Done.' } },
      },
    },
    '/stills': {
      post: {
        operationId: 'createStill',
        requestBody: { required: true, content },
        responses: { 200: { description: 'Done.' } },
      },
    },
  },
};

const MEGABYTE = Buffer.alloc(1_048_576, 'film');
const field = (name: string, text: string, more = '') =>
  Buffer.from(`--cut\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${text}\r\n`);
const title = field('title', 'Metropolis');
const head = (mediaType = 'video/mp4') =>
  Buffer.from(
    `--cut\r\nContent-Disposition: form-data; name="file"; filename="f.mp4"\r\nContent-Type: ${mediaType}\r\n\r\n`,
  );
const line = Buffer.from('\r\n');
const end = Buffer.from('--cut--\r\n');
const film = (megabytes: number) => [head(), ...Array<Buffer>(megabytes).fill(MEGABYTE), line];

/** The service's copy of one request. */
interface Arrived {
  readonly bytes: number;
  readonly digest: string;
  readonly isComplete: boolean;
}

interface Answer {
  readonly status: number;
  readonly error:
    | { code?: string; errors?: { in: string; pointer?: string; param: string; code: string }[] }
    | undefined;
}

describe('a form that is longer than the gateway buffers', () => {
  let service: Server;
  let gateway: TestGateway;
  let authorization: string;
  const arrived: Promise<Arrived>[] = [];
  before(async () => {
    service = createServer((incoming, response) => {
      arrived.push(readAll(incoming));
      incoming.on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
      incoming.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(service, 'listening');
    gateway = await startGateway({
      contracts: { 'films.json': document },
      upstreams: {
        films: {
          contracts: ['films.json'],
          live: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
          security: { apiKey: ['films:write'] },
        },
      },
    });
    ({ authorization } = await gateway.authorize({ scopes: ['films:write'] }));
  });
  after(async () => {
    await gateway.stop();
    service.closeAllConnections();
    service.close();
  });

  async function readAll(incoming: IncomingMessage): Promise<Arrived> {
    const digest = createHash('sha256');
    let bytes = 0;
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      digest.update(chunk);
    });
    await new Promise((resolve) => incoming.once('close', resolve));
    return { bytes, digest: digest.digest('hex'), isComplete: incoming.complete };
  }

  interface Post {
    readonly path?: string;
    readonly headers?: Record<string, string>;
    readonly isCounted?: boolean;
  }

  async function post(pieces: readonly Buffer[], { path = '/films', headers = {}, isCounted = true }: Post = {}) {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const outgoing = request(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'multipart/form-data; boundary=cut',
        ...(isCounted ? { 'content-length': length } : {}),
        ...headers,
      },
    });
    outgoing.on('error', () => undefined);
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    Readable.from(pieces).pipe(outgoing);
    const [response] = await answered;
    const text = Buffer.concat(await response.toArray()).toString();
    outgoing.destroy();
    return { status: response.statusCode ?? 0, error: JSON.parse(text).error } satisfies Answer;
  }

  const found = ({ error }: Answer) => error?.errors?.map((one) => `${one.in} ${one.pointer ?? one.param} ${one.code}`);

  for (const isCounted of [true, false]) {
    it(`passes byte by byte, ${isCounted ? 'with its length' : 'in chunks'}`, async () => {
      const pieces = [title, ...film(6), end];
      assert.equal((await post(pieces, { isCounted })).status, 200);
      const whole = Buffer.concat(pieces);
      assert.deepEqual(await arrived.at(-1), {
        bytes: whole.length,
        digest: createHash('sha256').update(whole).digest('hex'),
        isComplete: true,
      });
    });

    it(`never arrives completely if it is wrong at its end, ${isCounted ? 'with its length' : 'in chunks'}`, async () => {
      for (const [pieces, expected] of [
        [[...film(3), end], ['body /title required']],
        [[title, ...film(3), field('last', 'x'), field('last', 'y'), end], ['body /last duplicate']],
        [[...film(3), field('title', 'much too long'), end], ['body /title too_long']],
      ] as const) {
        const before = arrived.length;
        const answer = await post(pieces, { isCounted });
        assert.deepEqual([answer.status, found(answer)], [400, expected]);
        if (arrived.length === before) continue;
        const { isComplete, bytes } = (await arrived.at(-1)) as Arrived;
        assert.equal(isComplete, false);
        assert.ok(bytes < Buffer.concat([...pieces]).length);
      }
      for (const pieces of [
        [title, ...film(3)],
        [title, ...film(3), Buffer.from('--cut-')],
        [title, ...film(3), Buffer.from('--cutter\r\n')],
        [title, ...film(3), end, Buffer.from('more')],
      ]) {
        const before = arrived.length;
        const answer = await post(pieces, { isCounted });
        assert.deepEqual([answer.status, answer.error?.code], [400, 'malformed_form']);
        if (arrived.length > before) assert.equal((await arrived.at(-1))?.isComplete, false);
      }
    });
  }

  it('is refused at the first part that is wrong', async () => {
    for (const [pieces, expected] of [
      [[title, head('video/webm'), ...Array<Buffer>(64).fill(MEGABYTE), line, end], 'body /file not_allowed'],
      [[title, ...film(64), end], 'body /file too_long'],
    ] as const) {
      const before = arrived.length;
      const answer = await post(pieces);
      assert.deepEqual([answer.status, found(answer)], [400, [expected]]);
      if (arrived.length === before) continue;
      const { isComplete, bytes } = (await arrived.at(-1)) as Arrived;
      assert.equal(isComplete, false);
      assert.ok(bytes < 12_000_000, String(bytes));
    }
    assert.equal((await post([title, ...film(2), end])).status, 200);
  });

  it('does not count against the service', async () => {
    for (let times = 0; times < 12; times += 1) assert.equal((await post([...film(2), end])).status, 400);
    assert.equal((await post([title, ...film(2), end])).status, 200);
  });

  it('has bounded text', async () => {
    const answer = await post([title, field('note', MEGABYTE.toString()), field('last', 'x'), end]);
    assert.deepEqual([answer.status, answer.error?.code], [413, 'body_too_large']);
  });

  it('cannot have an Idempotency-Key', async () => {
    const before = arrived.length;
    const headers = { 'idempotency-key': 'film-1' };
    for (const isCounted of [true, false]) {
      const answer = await post([title, ...film(2), end], { headers, isCounted });
      assert.deepEqual([answer.status, found(answer)], [400, ['header idempotency-key not_allowed']]);
    }
    assert.equal(arrived.length, before);
  });

  it('is too large where the operation does not stream', async () => {
    const before = arrived.length;
    assert.equal((await post([title, ...film(2), end], { path: '/stills' })).error?.code, 'body_too_large');
    assert.equal(arrived.length, before);
  });

  it('is checked before anything is sent if it is short, and repeated by its Idempotency-Key', async () => {
    const before = arrived.length;
    const short = [head(), Buffer.from('x'), line, end];
    assert.deepEqual(found(await post(short)), ['body /title required']);
    const headers = { 'idempotency-key': 'film-2' };
    for (const body of [
      [title, ...short],
      [title, ...short],
    ])
      assert.equal((await post(body, { headers })).status, 200);
    const renamed = Buffer.from(
      Buffer.concat([title, ...short])
        .toString()
        .replaceAll('--cut', '--other'),
    );
    const type = { 'content-type': 'multipart/form-data; boundary=other' };
    assert.equal((await post([renamed], { headers: { ...headers, ...type } })).status, 200);
    assert.equal(arrived.length, before + 1);
    const other = await post([title, field('note', 'x'), ...short], { headers });
    assert.equal(other.error?.code, 'idempotency_key_reused');
  });

  it('is awaited by a client that sends Expect first', async () => {
    const headers = { expect: '100-continue' };
    assert.equal((await post([title, ...film(2), end], { headers })).status, 200);
  });
});
