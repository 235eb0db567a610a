// The second time, a client gets the answer of the first time, marked as such, and new values for everything that belongs to the exchange.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { startGateway } from '../../support/gateway.ts';
import { headersOf, httpAnswer, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';
import { ownError } from '../errors/words.cases.ts';
import { created, createKeyedWorld, creates, type KeyedWorld, newKey, THING } from './keyed.ts';

const declares = {
  '/v1/labelled': {
    post: {
      operationId: 'label',
      security: [{ apiKey: ['things:write'] }],
      requestBody: { content: { 'application/json': {} } },
      responses: {
        201: { description: 'done', content: { 'application/json': {} }, headers: { 'X-Label': { schema: {} } } },
        204: { description: 'done' },
        303: { description: 'elsewhere' },
      },
    },
  },
  '/v1/open': {
    post: {
      operationId: 'open',
      'x-gateway-public': true,
      requestBody: { content: { 'application/json': {} } },
      responses: { 201: { description: 'done', content: { 'application/json': {} } } },
    },
  },
};

const world = await createKeyedWorld({}, {}, declares);
after(() => world.close());

const mark = ({ headers }: Answer) => headers['idempotent-replayed'];

async function twice(request: Parameters<KeyedWorld['post']>[0] = {}): Promise<[Answer, Answer]> {
  const key = newKey();
  const before = world.upstream.received.length;
  const answers: [Answer, Answer] = [await world.post({ key, ...request }), await world.post({ key, ...request })];
  assert.equal(world.upstream.received.length, before + 1, 'one of them was sent on');
  return answers;
}

/** Lines that are as the first time, without those of the connection, of this exchange and of the replay. */
function lasting({ lines }: Answer): string[] {
  const own =
    /^(date|connection|keep-alive|x-request-id|ratelimit|x-ratelimit-.*|idempotent-replayed|original-request-id)$/i;
  return lines.filter(([name]) => !own.test(name)).map(([name, value]) => `${name}: ${value}`);
}

describe('an answer that is given again', () => {
  it('has the same status, headers and bytes, and is marked', async () => {
    const headers = {
      ...{ ETag: '"1"', Location: '/v1/things/7', 'X-Label': 'a, b', 'X-Internal-Host': 'SECRET' },
      ...{ 'Cache-Control': 'max-age=5', Vary: 'Accept', 'Retry-After': '3' },
    };
    world.upstream.plays((socket) => socket.write(created(headers)));
    const [first, second] = await twice({ line: 'POST /v1/labelled' });
    assert.equal(second.status, 201);
    assert.deepEqual(second.body, first.body);
    assert.deepEqual(lasting(second), lasting(first));
    assert.ok(lasting(first).includes('X-Label: a, b') && lasting(first).includes('Location: /v1/things/7'));
    assert.deepEqual([mark(first), mark(second)], [undefined, 'true']);
    assert.equal(second.headers['original-request-id'], first.headers['x-request-id']);
    world.upstream.plays(creates);
  });

  it('has a new id, a new date and the present limits', async () => {
    const [first, second] = await twice();
    assert.notEqual(second.headers['x-request-id'], first.headers['x-request-id']);
    const left = ({ headers }: Answer) => Number(headers['x-ratelimit-remaining']);
    assert.equal(left(second), left(first) - 1);
    assert.ok(second.headers.date);
    assert.equal(second.lines.filter(([name]) => /^(date|x-request-id)$/i.test(name)).length, 2);
  });

  it('is shown in the log and in the metrics', async () => {
    const [first, second] = await twice();
    const lineOf = ({ headers }: Answer) =>
      world.gateway.logLines().find((line) => line.request_id === headers['x-request-id']);
    assert.equal(lineOf(first)?.replayed, undefined);
    const { replayed, stage, status, bytes_out: bytesOut, target } = lineOf(second) ?? {};
    const expected = { replayed: true, stage: 'replay', status: 201, bytesOut: second.body.length, target: undefined };
    assert.deepEqual({ replayed, stage, status, bytesOut, target }, expected);
    const metrics = await (await fetch(`${world.gateway.adminUrl}/metrics`)).text();
    assert.match(metrics, /^gateway_idempotent_replays_total\{http_route="\/v1\/things"\} [1-9]/m);
  });

  it('may have no body, or point elsewhere', async () => {
    for (const status of [204, 303]) {
      const bytes = `HTTP/1.1 ${status} X\r\nLocation: /v1/things/7\r\nContent-Length: 0\r\n\r\n`;
      world.upstream.plays((socket) => socket.write(status === 204 ? bytes.replace(/Content.*\r\n/, '') : bytes));
      const [first, second] = await twice({ line: 'POST /v1/labelled' });
      assert.deepEqual([first.status, second.status, second.body.length], [status, status, 0]);
      assert.deepEqual(lasting(second), lasting(first));
      assert.equal(mark(second), 'true');
    }
    world.upstream.plays(creates);
  });

  it('is marked once where the upstream marks its own', async () => {
    world.upstream.plays((socket) => socket.write(created({ 'Idempotent-Replayed': 'true' })));
    const [first, second] = await twice();
    assert.deepEqual([mark(first), mark(second)], ['true', 'true']);
    world.upstream.plays(creates);
  });

  it('is the refusal of the upstream, as an object of this exchange', async () => {
    const said = { type: 'conflict_error', code: 'seat_taken', message: 'The seat is taken.', param: 'seat' };
    world.upstream.plays((socket) => socket.write(httpAnswer(422, ownError(said))));
    const [first, second] = await twice();
    for (const answer of [first, second]) assertRefusal(answer, 'seat_taken', 422);
    assert.notEqual(second.error.request_id, first.error.request_id);
    assert.deepEqual({ ...second.error, request_id: '' }, { ...first.error, request_id: '' });
    assert.deepEqual([mark(first), mark(second)], [undefined, 'true']);
    assert.equal(second.headers['original-request-id'], first.headers['x-request-id']);
    world.upstream.plays(creates);
  });
});

describe('the same request', () => {
  it('is the same with a quoted and with a bare key', async () => {
    const key = newKey();
    const first = await world.post({ key });
    const second = await world.post({ key: `"${key}"` });
    assert.deepEqual([second.body, mark(second)], [first.body, 'true']);
  });

  it('is the same with another key of the organization', async () => {
    const key = newKey();
    const first = await world.post({ key });
    const { authorization: Authorization } = await world.gateway.authorize();
    const second = await world.post({ key, headers: { Authorization } });
    assert.deepEqual([second.body, mark(second)], [first.body, 'true']);
  });

  it('gives no cookie of the first client to another one', async () => {
    const cookies = { cookies: ['session'] };
    const withCookies = await createKeyedWorld({}, cookies);
    try {
      withCookies.upstream.plays((socket) => socket.write(created({ 'Set-Cookie': 'session=SECRET', ETag: '"1"' })));
      const key = newKey();
      const first = await withCookies.post({ key });
      assert.match(String(first.headers['set-cookie']), /^session=SECRET/);
      const { authorization: Authorization } = await withCookies.gateway.authorize();
      for (const headers of [{ Authorization }, {}]) {
        const again = await withCookies.post({ key, headers });
        assert.deepEqual([again.body, mark(again), again.headers.etag], [first.body, 'true', '"1"']);
        assert.equal(again.headers['set-cookie'], undefined);
      }
    } finally {
      await withCookies.close();
    }
  });

  it('is another one for another organization', async () => {
    const key = newKey();
    const first = await world.post({ key });
    const { authorization: Authorization } = await world.gateway.authorize({ organization: 'org_other' });
    const second = await world.post({ key, headers: { Authorization }, body: '{"name":"b"}' });
    assert.equal(second.status, 201);
    assert.notDeepEqual(second.body, first.body);
  });

  it('is another one in the other mode', async () => {
    const upstream = await startScriptedUpstream();
    upstream.plays(creates);
    const gateway = await startGateway(thingsAt(upstream.url, { test: upstream.url }));
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': newKey() };
    const answers: Answer[] = [];
    for (const mode of ['live', 'test'] as const) {
      const { authorization } = await gateway.authorize({ mode });
      const request = requestOf('POST /v1/things', { ...headers, Authorization: authorization }, THING);
      answers.push(await ask(gateway.port, request));
    }
    await gateway.stop();
    await upstream.close();
    assert.deepEqual(answers.map(mark), [undefined, undefined]);
    assert.equal(upstream.received.length, 2);
  });

  it('is done each time without a key, on a public operation, and where a body streams', async () => {
    const before = world.upstream.received.length;
    const key = newKey();
    const bytes = { 'Content-Type': 'application/octet-stream' };
    for (let i = 0; i < 2; i++) {
      const answers = [
        await world.call('POST /v1/things', { 'Content-Type': 'application/json' }, THING),
        await world.post({ key, line: 'POST /v1/open' }),
        await world.post({ key, line: 'POST /v1/files', headers: bytes }),
      ];
      assert.deepEqual(
        answers.map(({ status, headers }) => [status, headers['idempotent-replayed']]),
        [
          [201, undefined],
          [201, undefined],
          [201, undefined],
        ],
      );
    }
    const sent = world.upstream.received.slice(before).map((request) => headersOf(request).get('idempotency-key'));
    assert.deepEqual(sent, [undefined, key, key, undefined, key, key], 'the key itself is passed on');
  });
});
