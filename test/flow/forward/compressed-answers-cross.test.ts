// A client gets the coding that it requests from the service: Accept-Encoding crosses, and the encoded bytes come back untouched. An answer
// that the gateway has to read comes without a coding, or is decoded within a bound.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { closesAfterAll } from '../../support/closing.ts';
import { bomb, codings, decode, encode } from '../../support/codings.ts';
import { ask, type Answer as Received, requestOf } from '../../support/connection.ts';
import { startGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { type Answer, startUpstream } from '../../support/upstream.ts';

const page = { data: Array.from({ length: 200 }, (_, id) => ({ id, name: `thing ${id}` })) };
const MEGABYTE = 1_048_576;

/** A service that compresses with the coding the client lists first. */
const compressing: Answer = ({ headers }, response) => {
  const first = String(headers['accept-encoding'] ?? '').split(/[,;]/)[0] as string;
  const coding = codings.find((one) => one === first);
  response.setHeader('content-type', 'application/json');
  response.setHeader('vary', 'Accept-Encoding');
  response.setHeader('etag', '"v1"');
  if (coding === undefined) response.end(JSON.stringify(page));
  else response.setHeader('content-encoding', coding).end(encode(JSON.stringify(page), coding));
};
let answer: Answer;
let nowMs = Date.now();

const start = closesAfterAll();
const upstream = await start(startUpstream((...all) => answer(...all)));
// biome-ignore lint/suspicious/noThenProperty: this is the word of the configuration.
const rules = [{ when: { status: 200 }, then: { remove: ['secret'] } }];
const ruled = { contracts: ['ruled.yaml'], live: upstream.url, answers: rules };
const things = thingsAt(upstream.url);
const operation = (operationId: string) => ({
  get: { operationId, responses: { 200: { description: 'done', content: { 'application/json': {} } } } },
});
const document = {
  openapi: '3.1.1',
  info: { title: 'Ruled', version: '1' },
  'x-gateway-public': true,
  paths: { '/v1/ruled': operation('getRuled') },
};
const gateway = await start(
  startGateway({
    contracts: { ...things.contracts, 'ruled.yaml': document },
    upstreams: { ...things.upstreams, ruled },
    now: () => nowMs,
  }),
);
const { authorization } = await gateway.authorize();
beforeEach(() => {
  answer = compressing;
  // One answer of each operation and second is checked.
  nowMs += 2000;
});

const call = (line: string, headers: Record<string, string> = {}, body?: string): Promise<Received> =>
  ask(gateway.port, requestOf(line, { Authorization: authorization, ...headers }, body));
const asked = () => upstream.requests.at(-1)?.headers['accept-encoding'];
const lastLine = () => gateway.logLines().at(-1);

describe('Accept-Encoding', () => {
  for (const [accepted, crosses] of [
    ['gzip, deflate, br, zstd', 'gzip, deflate, br, zstd'],
    ['br;q=1.0, gzip;q=0.8, *;q=0.1', 'br, gzip;q=0.8, *;q=0.1'],
    ['identity;q=0, gzip', 'identity;q=0, gzip'],
    ['*;q=0', '*;q=0'],
    ['aes128gcm, dcz', 'identity'],
    ['', 'identity'],
  ] as const) {
    it(`${JSON.stringify(accepted)} reaches the service as ${JSON.stringify(crosses)}`, async () => {
      assert.equal((await call('GET /v1/things', { 'Accept-Encoding': accepted })).status, 200);
      assert.equal(asked(), crosses);
    });
  }

  it('is not sent if the client sends none, or names it in Connection', async () => {
    await call('GET /v1/things');
    assert.equal(asked(), undefined);
    await call('GET /v1/things', { 'Accept-Encoding': 'gzip', Connection: 'Accept-Encoding' });
    assert.equal(asked(), undefined);
  });

  it('is identity for an answer that the gateway stores, refuses or applies rules to', async () => {
    const gzip = { 'Accept-Encoding': 'gzip' };
    const keyed = { ...gzip, 'Content-Type': 'application/json', 'Idempotency-Key': 'k-1' };
    const first = await call('POST /v1/things', keyed, '{"name":"a"}');
    assert.deepEqual([asked(), first.headers['content-encoding']], ['identity', undefined]);
    const again = await call('POST /v1/things', keyed, '{"name":"a"}');
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.deepEqual(again.body, first.body);
    await call('GET /v1/strict', gzip);
    assert.equal(asked(), 'identity');
    await call('GET /v1/ruled', gzip);
    assert.equal(asked(), 'identity');
    await call('POST /v1/things', { ...gzip, 'Content-Type': 'application/json' }, '{"name":"a"}');
    assert.equal(asked(), 'gzip');
  });
});

describe('an encoded answer', () => {
  for (const coding of codings) {
    it(`in ${coding} has the bytes and headers that the service sends`, async () => {
      const direct = await fetch(`${upstream.url}/v1/things`, { headers: { 'Accept-Encoding': coding } });
      const { status, headers, body } = await call('GET /v1/things', { 'Accept-Encoding': coding });
      assert.equal(status, 200);
      for (const name of ['content-encoding', 'content-length', 'content-type', 'etag', 'vary'])
        assert.equal(headers[name], direct.headers.get(name), name);
      assert.deepEqual(body, encode(JSON.stringify(page), coding));
      assert.equal(lastLine()?.bytes_out, body.length);
      assert.equal(lastLine()?.answer_violations, undefined);
    });

    it(`in ${coding} is checked by a decoded copy`, async () => {
      answer = (_request, response) => {
        response.setHeader('content-type', 'application/json').setHeader('content-encoding', coding);
        response.end(encode('[]', coding));
      };
      const { body } = await call('GET /v1/things', { 'Accept-Encoding': coding });
      assert.equal(decode(body, coding).toString(), '[]');
      assert.deepEqual(lastLine()?.answer_violations, ['the body: wrong_type']);
    });
  }

  for (const [name, coding, body, violations] of [
    ['is cut short', 'gzip', encode(JSON.stringify(page), 'gzip').subarray(0, -20), 1],
    ['has another coding than its header says', 'br', Buffer.from('{}'), 1],
    ['has a coding that the gateway does not know', 'aes128gcm', Buffer.from([1, 2, 3]), 0],
    ['has two codings', 'gzip, br', Buffer.from([1, 2, 3]), 0],
  ] as const) {
    it(`that ${name} passes, and at most a violation is noted`, async () => {
      answer = (_request, response) => {
        response.setHeader('content-type', 'application/json').setHeader('content-encoding', coding).end(body);
      };
      const received = await call('GET /v1/things', { 'Accept-Encoding': 'gzip' });
      assert.deepEqual([received.status, received.headers['content-encoding']], [200, coding]);
      assert.deepEqual(received.body, Buffer.from(body));
      const noted = lastLine()?.answer_violations as string[] | undefined;
      assert.deepEqual(
        noted ?? [],
        violations === 0 ? [] : ['the body does not have the coding that Content-Encoding names'],
      );
    });
  }

  it('of HEAD has the headers of GET', async () => {
    const request = requestOf('HEAD /v1/things', { Authorization: authorization, 'Accept-Encoding': 'br' });
    const { headers } = await ask(gateway.port, request);
    const got = await call('GET /v1/things', { 'Accept-Encoding': 'br' });
    for (const name of ['content-encoding', 'content-length', 'etag', 'vary'])
      assert.equal(headers[name], got.headers[name], name);
  });
});

describe('an encoded error', () => {
  const refusal = JSON.stringify({ error: { code: 'no_such_shelf', message: 'There is no such shelf.' } });
  for (const coding of codings) {
    it(`in ${coding} becomes the error object`, async () => {
      answer = (_request, response) => {
        response.writeHead(422, { 'content-type': 'application/json', 'content-encoding': coding });
        response.end(encode(refusal, coding));
      };
      const { status, headers, error } = await call('GET /v1/things', { 'Accept-Encoding': coding });
      assert.deepEqual([status, error.code, error.message], [422, 'no_such_shelf', 'There is no such shelf.']);
      assert.equal(headers['content-encoding'], undefined);
    });
  }

  it('that cannot be decoded keeps its status', async () => {
    answer = (_request, response) => {
      response.writeHead(422, { 'content-type': 'application/json', 'content-encoding': 'br' }).end(refusal);
    };
    const { status, error } = await call('GET /v1/things', { 'Accept-Encoding': 'br' });
    assert.deepEqual([status, error.code], [422, 'upstream_rejected']);
  });
});

describe('a body of one gigabyte in a small coding', () => {
  for (const coding of ['gzip', 'zstd'] as const) {
    const body = bomb(coding);
    for (const status of [200, 400]) {
      it(`in ${coding} with status ${status} is not decoded beyond its bound`, async () => {
        assert.ok(body.length <= MEGABYTE, `${body.length} bytes`);
        answer = (_request, response) => {
          response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': coding }).end(body);
        };
        const before = process.memoryUsage().rss;
        const received = await call('GET /v1/things', { 'Accept-Encoding': coding });
        assert.ok(process.memoryUsage().rss - before < 128 * MEGABYTE);
        assert.equal(received.status, status);
        if (status === 200) assert.deepEqual(received.body, body);
        else assert.equal(received.error.code, 'upstream_rejected');
        const noted = lastLine()?.answer_violations;
        assert.deepEqual(noted, status === 200 ? ['the body is too large to be checked'] : undefined);
      });
    }

    it(`in ${coding} is refused where rules have to read it`, async () => {
      answer = (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding }).end(body);
      };
      assert.equal((await call('GET /v1/ruled')).error.code, 'upstream_bad_response');
    });
  }
});

describe('rules for answers', () => {
  const answerWith = (body: object, coding: 'gzip' | 'br') => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding });
      response.end(encode(JSON.stringify(body), coding));
    };
  };

  it('apply to an answer that is encoded although the request allowed no coding', async () => {
    answerWith({ id: 1, secret: 'x' }, 'gzip');
    const { headers, body } = await call('GET /v1/ruled', { 'Accept-Encoding': 'gzip' });
    assert.deepEqual([headers['content-encoding'], body.toString()], [undefined, '{"id":1}']);
  });

  it('leave the coding of an answer that they do not change', async () => {
    answerWith({ id: 1 }, 'br');
    const { headers, body } = await call('GET /v1/ruled', { 'Accept-Encoding': 'br' });
    assert.equal(headers['content-encoding'], 'br');
    assert.deepEqual(body, encode('{"id":1}', 'br'));
  });
});
