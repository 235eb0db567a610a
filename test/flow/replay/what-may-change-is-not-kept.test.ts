// Outcomes that nobody knows, and those that may be another one the next time, leave nothing behind: a repetition runs anew, and the
// upstream sees the same key.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { headersOf, httpAnswer, type Script } from '../../support/scripted-upstream.ts';
import { thing } from '../../support/things.ts';
import { createKeyedWorld, creates, type KeyedWorld, newKey } from './keyed.ts';

const strict = {
  '/v1/strict-things': {
    post: {
      operationId: 'createStrictThing',
      'x-gateway-response': 'refuse',
      security: [{ apiKey: ['things:write'] }],
      requestBody: { content: { 'application/json': { schema: thing } } },
      responses: {
        201: {
          description: 'done',
          content: { 'application/json': { schema: { type: 'object', required: ['id'] } } },
        },
      },
    },
  },
};

const head = 'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n';
const answers =
  (status: number, body = '{}') =>
  (socket: Parameters<Script>[0]) => {
    socket.write(httpAnswer(status, body));
  };
const unknown: Readonly<Record<string, Script>> = {
  'a connection that is cut': (socket) => socket.destroy(),
  'a body that is cut': (socket) => socket.end(`${head}Content-Length: 9\r\n\r\n{`),
  'no answer in time': () => {},
  'no end of the answer in time': (socket) => socket.write(`${head}Content-Length: 9\r\n\r\n{`),
  'an HTML page': (socket) => socket.write(httpAnswer(201, '<html>', { 'Content-Type': 'text/html' })),
  'an answer against a contract that is enforced': (socket) => socket.write(httpAnswer(201, '{"name":1}')),
};

describe('what is not kept', () => {
  let world: KeyedWorld;
  before(async () => {
    world = await createKeyedWorld({}, { timeoutMs: 150 }, strict);
  });
  after(() => world.close());

  async function runsAnew(script: Script): Promise<void> {
    const { upstream, post } = world;
    const key = newKey();
    const line = 'POST /v1/strict-things';
    upstream.plays(script);
    const before = upstream.received.length;
    const first = await post({ key, line });
    assert.ok(first.status >= 400);
    upstream.plays(creates);
    const second = await post({ key, line });
    assert.deepEqual([second.status, second.headers['idempotent-replayed']], [201, undefined]);
    const sent = upstream.received.slice(before).map((request) => headersOf(request).get('idempotency-key'));
    assert.deepEqual(sent, [key, key]);
    assert.deepEqual((await post({ key, line })).body, second.body, 'and the second outcome is kept');
  }

  for (const status of [401, 403, 408, 409, 429, 500, 501, 502, 503, 504]) {
    it(`${status} of the upstream`, () => runsAnew(answers(status)));
  }

  for (const [what, script] of Object.entries(unknown)) it(what, () => runsAnew(script));
});

describe('what is kept', () => {
  let world: KeyedWorld;
  before(async () => {
    world = await createKeyedWorld();
  });
  after(() => world.close());

  for (const status of [400, 404, 410, 412, 415, 422]) {
    it(`${status} of the upstream`, async () => {
      const { upstream, post } = world;
      const key = newKey();
      upstream.plays(answers(status));
      const before = upstream.received.length;
      await post({ key });
      upstream.plays(creates);
      const second = await post({ key });
      assert.deepEqual([second.status, second.headers['idempotent-replayed']], [status, 'true']);
      assert.equal(upstream.received.length, before + 1);
    });
  }
});
