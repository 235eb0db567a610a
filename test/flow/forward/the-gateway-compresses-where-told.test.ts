// With this setting of an entry, the gateway compresses text that the service sends without a coding: for clients that accept a coding,
// with matching headers, and without holding anything back.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { beforeEach, describe, it, mock } from 'node:test';
import zlib, { constants } from 'node:zlib';
import { ENCODERS } from '../../../gateway/upstream/encoding/encoders.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { decode } from '../../support/codings.ts';
import { ask, openConnection, type Answer as Received, requestOf, until } from '../../support/connection.ts';
import { startGateway } from '../../support/gateway.ts';
import { type Answer, startUpstream } from '../../support/upstream.ts';

const page = JSON.stringify({ data: Array.from({ length: 200 }, (_, id) => ({ id, name: `thing ${id}` })) });
const MEGABYTE = 1_048_576;

const operation = (operationId: string, described: object = {}) => ({
  operationId,
  responses: { 200: { description: 'done', ...described }, 304: { description: 'the same' } },
});
const strict = { 200: { description: 'done', content: { 'application/json': { schema: { type: 'object' } } } } };
const document = {
  openapi: '3.1.1',
  info: { title: 'Things', version: '1' },
  components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
  security: [{ apiKey: ['things:write'] }],
  paths: {
    '/things': { get: operation('listThings'), post: operation('createThing') },
    '/files': { get: operation('getFile', { content: { '*/*': {} } }) },
    '/strict': { get: { operationId: 'getStrict', 'x-gateway-response': 'refuse', responses: strict } },
  },
};
let answer: Answer;

const start = closesAfterAll();
const upstream = await start(startUpstream((...all) => answer(...all)));
const entry = (basePath: string, compression: unknown) => ({
  contracts: [`${basePath}.json`],
  live: upstream.url,
  basePath: `/${basePath}`,
  compression,
});
const renamed = (suffix: string) =>
  JSON.parse(
    JSON.stringify(document).replaceAll(/"(listThings|createThing|getFile|getStrict)"/g, `"$1${suffix}"`),
  ) as object;
const gateway = await start(
  startGateway({
    contracts: { 'on.json': document, 'off.json': renamed('Off'), 'gzip.json': renamed('Gzip') },
    upstreams: {
      on: entry('on', 'on'),
      off: { ...entry('off', 'off') },
      gzip: entry('gzip', { codings: ['gzip', 'br'], bytesMin: 100 }),
    },
  }),
);
const { authorization } = await gateway.authorize();
beforeEach(() => {
  answer = answers({});
  mock.restoreAll();
});

/** Answers a JSON page, or `body`, with `headers` on top. */
function answers(headers: Record<string, string | undefined>, body: string | Buffer = page, status = 200): Answer {
  return (_request, response) => {
    const all = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)), ...headers };
    response.writeHead(status, Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)));
    response.end(body);
  };
}

const call = (line: string, headers: Record<string, string | undefined> = {}, body?: string): Promise<Received> =>
  ask(gateway.port, requestOf(line, { Authorization: authorization, ...headers }, body));
const lastLine = () => gateway.logLines().at(-1);

describe('a compressed answer', () => {
  for (const coding of ['zstd', 'br', 'gzip'] as const) {
    it(`in ${coding} has the content of the service and headers of its own`, async () => {
      answer = answers({ etag: '"v1"', vary: 'Accept-Language', 'accept-ranges': 'bytes' });
      const { status, headers, body } = await call('GET /on/things', { 'Accept-Encoding': coding });
      assert.deepEqual([status, headers['content-encoding']], [200, coding]);
      assert.equal(decode(body, coding).toString(), page);
      assert.ok(body.length < page.length / 2);
      assert.equal(headers['content-length'], String(body.length));
      assert.equal(headers.vary, 'Accept-Language, Accept-Encoding');
      assert.deepEqual([headers.etag, headers['accept-ranges']], ['W/"v1"', undefined]);
      assert.deepEqual([lastLine()?.compressed, lastLine()?.bytes_out], [coding, body.length]);
    });
  }

  it('that is longer streams, with the same content', async () => {
    const long = JSON.stringify({ text: page.repeat(30) });
    answer = answers({ etag: 'W/"v1"', vary: 'accept-encoding' }, long);
    for (const path of ['/on/things', '/on/strict']) {
      const { headers, body } = await call(`GET ${path}`, { 'Accept-Encoding': 'br' });
      assert.deepEqual([headers['content-encoding'], headers['content-length']], ['br', undefined]);
      assert.deepEqual([headers.etag, headers.vary], ['W/"v1"', 'accept-encoding']);
      assert.equal(decode(body, 'br').toString(), long);
      assert.equal(lastLine()?.bytes_out, body.length);
    }
  });

  it('was checked against the contract before it was compressed', async () => {
    answer = answers({}, JSON.stringify([page]));
    const { status, error } = await call('GET /on/strict', { 'Accept-Encoding': 'gzip' });
    assert.deepEqual([status, error.code], [502, 'upstream_contract_violation']);
    answer = answers({});
    assert.equal((await call('GET /on/strict', { 'Accept-Encoding': 'gzip' })).headers['content-encoding'], 'gzip');
  });

  it('reaches a client of HTTP/1.0 whole', async () => {
    const long = page.repeat(30);
    for (const [sent, length] of [
      [page, true],
      [long, false],
    ] as const) {
      answer = answers({ 'content-type': 'text/plain' }, sent);
      const request = `GET /on/things HTTP/1.0\r\nAuthorization: ${authorization}\r\nAccept-Encoding: gzip\r\n\r\n`;
      const { headers, body } = await ask(gateway.port, request);
      assert.equal(headers['transfer-encoding'], undefined);
      assert.equal(headers['content-length'] !== undefined, length);
      assert.equal(decode(body, 'gzip').toString(), sent);
    }
  });

  for (const type of [
    ...['application/json; charset=utf-8', 'Application/Problem+JSON', 'text/html', 'text/csv;header=present'],
    ...['application/xml', 'image/svg+xml', 'application/javascript', 'application/x-ndjson', 'application/jsonl'],
  ]) {
    it(`may be ${type}`, async () => {
      answer = answers({ 'content-type': type });
      const { headers } = await call('GET /gzip/files', { 'Accept-Encoding': 'gzip' });
      assert.equal(headers['content-encoding'], 'gzip');
    });
  }
});

describe('the coding is the client’s choice', () => {
  for (const [accepted, on, gzip] of [
    ['gzip, deflate, br, zstd', 'zstd', 'gzip'],
    ['gzip, br', 'br', 'gzip'],
    ['gzip;q=0.5, br;q=0.8', 'br', 'br'],
    ['zstd;q=0.1, gzip;q=0.2', 'gzip', 'gzip'],
    ['*', 'zstd', 'gzip'],
    ['zstd;q=0, *;q=0.5', 'br', 'gzip'],
    ['X-GZIP', 'gzip', 'gzip'],
    ['identity, gzip', 'gzip', 'gzip'],
    ['identity;q=0, gzip;q=0.001', 'gzip', 'gzip'],
    ['identity, gzip;q=0.5', undefined, undefined],
    [undefined, undefined, undefined],
    ['', undefined, undefined],
    ['identity', undefined, undefined],
    ['deflate, dcb', undefined, undefined],
    ['gzip;q=0', undefined, undefined],
    ['gzip;q=7', undefined, undefined],
    ['*;q=0', undefined, undefined],
    ['identity;q=0', undefined, undefined],
    ['identity;q=0, *;q=0', undefined, undefined],
  ] as const) {
    it(`${JSON.stringify(accepted)} gets ${on ?? 'no coding'}`, async () => {
      for (const [entry, coding] of [
        ['on', on],
        ['gzip', gzip],
      ] as const) {
        const { status, headers, body } = await call(`GET /${entry}/things`, { 'Accept-Encoding': accepted });
        assert.deepEqual([status, headers['content-encoding'], headers.vary], [200, coding, 'Accept-Encoding']);
        assert.equal(decode(body, coding).toString(), page);
      }
    });
  }
});

describe('an answer stays as the service sent it', () => {
  const short = 'x'.repeat(1023);
  const cases: readonly (readonly [string, Answer, Record<string, string>?])[] = [
    ['by default', answers({})],
    ['if it is short', answers({}, JSON.stringify(short.slice(2)))],
    ['if it is short and of unknown length', answers({ 'content-length': undefined }, '{"a":1}')],
    ['if its type is not text', answers({ 'content-type': 'image/png' })],
    ['if it has no type', answers({ 'content-type': undefined })],
    ['if it is a stream of events', answers({ 'content-type': 'text/event-stream' }, `data: ${page}\n\n`)],
    ['if the service forbids a change', answers({ 'cache-control': 'max-age=5, No-Transform' })],
    ['if the client forbids a change', answers({}), { 'Cache-Control': 'no-transform' }],
    ['if it has a coding already', answers({ 'content-encoding': 'deflate' }, zlib.deflateSync(page))],
    ['if it is a range', answers({ 'content-range': 'bytes 0-9/10' }, page, 206), { Range: 'bytes=0-9' }],
    ['if a digest describes its bytes', answers({ 'content-digest': 'sha-256=:AAAA:' })],
    ['if it has no body', answers({ 'content-length': undefined }, '', 204)],
    ['if compression makes it no smaller', answers({ 'content-type': 'text/plain' }, randomBytes(2000))],
  ];
  for (const [name, sent, headers = {}] of cases) {
    it(name, async () => {
      answer = sent;
      const entry = name === 'by default' ? 'off' : 'on';
      const direct = await fetch(`${upstream.url}/things`, { headers: { 'Accept-Encoding': 'br' } });
      const bytes = Buffer.from(await direct.arrayBuffer());
      const received = await call(`GET /${entry}/things`, { 'Accept-Encoding': 'gzip, br, zstd', ...headers });
      assert.equal(received.status, direct.status);
      const own = received.headers['content-encoding'];
      if (direct.headers.get('content-encoding') === null) {
        assert.deepEqual([own, received.body], [undefined, bytes]);
      } else assert.equal(decode(received.body, own).toString(), page);
      assert.equal(lastLine()?.compressed, undefined);
    });
  }

  it('if it is kept for an Idempotency-Key, and so is the same for each client', async () => {
    const keyed = { 'Idempotency-Key': 'k-1', 'Accept-Encoding': 'gzip' };
    const first = await call('POST /on/things', keyed);
    assert.deepEqual([first.headers['content-encoding'], first.body.toString()], [undefined, page]);
    const again = await call('POST /on/things', { ...keyed, 'Accept-Encoding': 'br' });
    assert.deepEqual([again.headers['idempotent-replayed'], again.body.toString()], ['true', page]);
    assert.equal((await call('POST /on/things', { 'Accept-Encoding': 'br' })).headers['content-encoding'], 'br');
  });

  it('unless the client accepts no other form', async () => {
    answer = answers({}, '{"a":1}');
    const { headers, body } = await call('GET /on/things', { 'Accept-Encoding': 'identity;q=0, gzip' });
    assert.deepEqual([headers['content-encoding'], decode(body, 'gzip').toString()], ['gzip', '{"a":1}']);
  });
});

describe('caches and conditions', () => {
  it('HEAD has the headers of GET', async () => {
    answer = answers({ etag: '"v1"' });
    for (const accepted of ['gzip', 'identity']) {
      const got = await call('GET /on/things', { 'Accept-Encoding': accepted });
      const asked = await call('HEAD /on/things', { 'Accept-Encoding': accepted });
      for (const name of ['content-encoding', 'etag', 'vary', 'content-type'])
        assert.equal(asked.headers[name], got.headers[name], name);
      // The length of the compressed form is not known without its content.
      assert.equal(asked.headers['content-length'], accepted === 'gzip' ? undefined : String(page.length));
    }
  });

  it("a 304 has the ETag of the client's If-None-Match", async () => {
    answer = (request, response) => {
      const isKnown = String(request.headers['if-none-match']).includes('"v1"');
      response.writeHead(isKnown ? 304 : 200, { etag: '"v1"', 'content-type': 'application/json' });
      response.end(isKnown ? undefined : page);
    };
    for (const [tag, expected] of [
      ['W/"v1"', 'W/"v1"'],
      ['"v1"', '"v1"'],
    ] as const) {
      const { status, headers } = await call('GET /on/things', { 'If-None-Match': tag, 'Accept-Encoding': 'gzip' });
      assert.deepEqual([status, headers.etag, headers.vary], [304, expected, 'Accept-Encoding']);
      assert.equal(headers['content-encoding'], undefined);
    }
  });

  it('an answer without a coding varies too, and a star already covers it', async () => {
    assert.equal((await call('GET /on/things')).headers.vary, 'Accept-Encoding');
    answer = answers({ vary: '*' });
    assert.equal((await call('GET /on/things', { 'Accept-Encoding': 'gzip' })).headers.vary, '*');
    answer = answers({ 'content-type': 'image/png' });
    assert.equal((await call('GET /on/things', { 'Accept-Encoding': 'gzip' })).headers.vary, undefined);
  });
});

describe('a streamed answer', () => {
  for (const coding of ['zstd', 'br', 'gzip'] as const) {
    it(`in ${coding} passes each piece as it comes`, async () => {
      let next = () => {};
      answer = (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/x-ndjson' }).write('{"line":1}\n');
        next = () => response.end('{"line":2}\n');
      };
      const connection = await openConnection(gateway.port);
      connection.send(requestOf('GET /on/things', { Authorization: authorization, 'Accept-Encoding': coding }));
      while (!opened(connection.rest(), coding).includes('{"line":1}\n')) await once(connection.socket, 'data');
      next();
      const received = await connection.answer();
      assert.equal(decode(received?.body ?? Buffer.alloc(0), coding).toString(), '{"line":1}\n{"line":2}\n');
      connection.destroy();
    });
  }

  it('waits for a slow reader, and takes little memory meanwhile', async () => {
    const pieces = 16;
    const piece = Buffer.from(randomBytes(MEGABYTE).toString('base64'));
    let sent = 0;
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = () => {
        while (sent < pieces) {
          sent += 1;
          if (!response.write(piece)) return;
        }
        response.end();
      };
      response.on('drain', more);
      more();
    };
    const before = process.memoryUsage().arrayBuffers;
    const received = await fetch(`${gateway.url}/on/things`, {
      headers: { authorization, 'accept-encoding': 'gzip' },
    });
    assert.equal(received.headers.get('content-encoding'), 'gzip');
    for (let last = -1; sent !== last; ) {
      last = sent;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    assert.ok(sent > 0 && sent < pieces - 2, `${sent} MB were taken from the service`);
    assert.ok(process.memoryUsage().arrayBuffers - before < 16 * MEGABYTE);
    const [got, expected] = [createHash('sha256'), createHash('sha256')];
    // fetch decodes the bodies that it reads.
    for await (const chunk of received.body as AsyncIterable<Uint8Array>) got.update(chunk);
    for (let index = 0; index < pieces; index += 1) expected.update(piece);
    assert.equal(got.digest('hex'), expected.digest('hex'));
  });

  /** Starts an answer that does not end, and returns its compressor once the client has the first bytes. */
  async function begun() {
    const streams: zlib.Gzip[] = [];
    const make = ENCODERS.gzip.createStream;
    mock.method(ENCODERS.gzip, 'createStream', () => {
      const stream = make() as zlib.Gzip;
      streams.push(stream);
      return stream;
    });
    let left = false;
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).write(page);
      response.on('close', () => {
        left = true;
      });
    };
    const connection = await openConnection(gateway.port);
    connection.send(requestOf('GET /on/things', { Authorization: authorization, 'Accept-Encoding': 'gzip' }));
    while (!connection.rest().includes('Content-Encoding: gzip')) await once(connection.socket, 'data');
    return { connection, stream: streams[0] ?? assert.fail('there is no compressor'), hasLeft: () => left };
  }

  it('ends with its client, and so does its compressor', async () => {
    const { connection, stream, hasLeft } = await begun();
    connection.destroy();
    await until(() => stream.destroyed && hasLeft());
    assert.equal((await until(() => (lastLine()?.compressed === 'gzip' ? lastLine() : undefined))).status, 499);
  });

  it('is cut off if its compressor fails, and no other exchange is', async () => {
    const { connection, stream, hasLeft } = await begun();
    const other = await begun();
    stream.destroy(new Error('out of memory'));
    await connection.closed;
    await until(hasLeft);
    assert.equal((await connection.answer())?.whole ?? false, false);
    const line = await until(() => gateway.logLines().find(({ code }) => code === 'internal_error'));
    assert.match(String(line.cause), /out of memory/);
    assert.equal(other.stream.destroyed, false);
    other.connection.destroy();
    await until(() => other.stream.destroyed);
  });

  it('is cut off with the service, and not taken for whole', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).write(page, () => response.destroy());
    };
    const connection = await openConnection(gateway.port);
    connection.send(requestOf('GET /on/things', { Authorization: authorization, 'Accept-Encoding': 'gzip' }));
    assert.notEqual((await connection.answer())?.whole, true);
    connection.destroy();
  });
});

/** The part of an unfinished answer that a client can read. */
function opened(received: Buffer, coding: 'zstd' | 'br' | 'gzip'): string {
  const at = received.indexOf('\r\n\r\n');
  if (at === -1) return '';
  let body = Buffer.alloc(0);
  for (let from = at + 4; ; ) {
    const end = received.indexOf('\r\n', from);
    const size = end === -1 ? 0 : Number.parseInt(received.toString('latin1', from, end), 16);
    if (!(size > 0)) break;
    body = Buffer.concat([body, received.subarray(end + 2, end + 2 + size)]);
    from = end + 4 + size;
  }
  try {
    if (coding === 'gzip') return zlib.gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }).toString();
    if (coding === 'br')
      return zlib.brotliDecompressSync(body, { finishFlush: constants.BROTLI_OPERATION_FLUSH }).toString();
    return zlib.zstdDecompressSync(body, { finishFlush: constants.ZSTD_e_flush }).toString();
  } catch {
    return '';
  }
}
