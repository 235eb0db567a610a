// What happens to a key whose request had no lasting outcome. Where the upstream did nothing, a repetition runs anew. Where that is not
// known, it is refused, unless the upstream honours keys or is declared to take the risk.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { closesAfterAll, closesAfterEach } from '../../support/closing.ts';
import type { Answer } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { headersOf, httpAnswer, type Script } from '../../support/scripted-upstream.ts';
import { thing } from '../../support/things.ts';
import { unusedPort } from '../../support/upstream.ts';
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
const LINE = 'POST /v1/strict-things';

const head = 'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n';
const answers =
  (status: number, body = '{}') =>
  (socket: Parameters<Script>[0]) => {
    socket.write(httpAnswer(status, body));
  };
const unknown: Record<string, Script> = {
  'a connection that is cut': (socket) => socket.destroy(),
  'a body that is cut': (socket) => socket.end(`${head}Content-Length: 9\r\n\r\n{`),
  'no answer in time': () => {},
  'no end of the answer in time': (socket) => socket.write(`${head}Content-Length: 9\r\n\r\n{`),
  'an HTML page': (socket) => socket.write(httpAnswer(201, '<html>', { 'Content-Type': 'text/html' })),
  'an answer against a contract that is enforced': (socket) => socket.write(httpAnswer(201, '{"name":1}')),
  'no HTTP': (socket) => socket.write('+OK ready\r\n\r\n'),
};
const start = closesAfterEach();
/** Long enough that a slow machine has sent the request: one that was not sent has no unknown outcome. */
const TIMEOUT_MS = 700;
const openWorld = (entry: object) => createKeyedWorld({}, { timeoutMs: TIMEOUT_MS, ...entry }, strict);
const open = (entry: object = {}) => start(openWorld(entry));

/** One for all tests of a suite. */
function openOnce(): () => KeyedWorld {
  let world: KeyedWorld;
  before(async () => {
    world = await createKeyedWorld({}, { timeoutMs: TIMEOUT_MS }, strict);
  });
  after(() => world.close());
  return () => world;
}

/** A write that fails like that, and the same again before an upstream that works. */
async function failAndRepeat({ upstream, post }: KeyedWorld, script: Script) {
  const key = newKey();
  upstream.plays(script);
  const first = await post({ key, line: LINE });
  assert.ok(first.status >= 400);
  upstream.plays(creates);
  const repeated = await post({ key, line: LINE });
  const sent = upstream.received.map((request) => headersOf(request).get('idempotency-key'));
  return { key, first, repeated, sentTimes: sent.filter((one) => one === key).length };
}

async function runsAnew(world: KeyedWorld, script: Script): Promise<Answer> {
  const { key, first, repeated, sentTimes } = await failAndRepeat(world, script);
  assert.deepEqual([repeated.status, repeated.headers['idempotent-replayed']], [201, undefined]);
  assert.equal(sentTimes, 2, 'with the same key');
  assert.deepEqual((await world.post({ key, line: LINE })).body, repeated.body, 'and the second outcome is kept');
  return first;
}

describe('a request that the upstream refused or failed at, by its own answer, runs anew:', () => {
  const world = openOnce();
  for (const status of [401, 403, 408, 409, 429, 500, 501, 502, 503, 504, 507]) {
    it(`${status} of the upstream`, async () => {
      await runsAnew(world(), answers(status));
    });
  }

  for (const ending of ['is cut', 'does not end in time']) {
    it(`500 of the upstream whose page ${ending}`, async () => {
      const page = 'HTTP/1.1 500 No\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n<html';
      const first = await runsAnew(world(), (socket) => (ending === 'is cut' ? socket.end(page) : socket.write(page)));
      assertRefusal(first, 'upstream_error');
      assert.equal(first.error.retryable, true);
    });
  }

  it('one that was refused a connection', async () => {
    const world = await open({ live: `http://127.0.0.1:${await unusedPort()}` });
    const key = newKey();
    for (let times = 0; times < 2; times++) {
      const answer = await world.post({ key, line: LINE });
      assertRefusal(answer, 'upstream_unreachable');
      assert.equal(answer.error.retryable, true);
    }
  });
});

describe('a request that the upstream may have executed is refused from then on:', () => {
  const shared = openOnce();
  for (const [what, script] of Object.entries(unknown)) {
    it(what, async () => {
      const world = shared();
      const { key, first, repeated, sentTimes } = await failAndRepeat(world, script);
      assert.equal(first.error.retryable, false, 'the first answer is marked');
      for (const answer of [repeated, await world.post({ key, line: LINE })]) {
        assertRefusal(answer, 'idempotency_outcome_unknown');
        assert.equal(answer.error.original_request_id, first.headers['x-request-id']);
        assert.equal(answer.error.sent_to, 'things');
      }
      assert.equal(sentTimes, 1);
      assertRefusal(await world.post({ key, line: LINE, body: '{"name":"b"}' }), 'idempotency_key_reused');
    });
  }

  it('and operators see it', async () => {
    const world = await open();
    await failAndRepeat(world, (socket) => socket.destroy());
    const [first, repeated] = world.gateway.logLines();
    assert.deepEqual([first?.code, first?.recorded, first?.outcome_unknown], ['upstream_bad_response', true, true]);
    assert.deepEqual([repeated?.code, repeated?.outcome_unknown], ['idempotency_outcome_unknown', undefined]);
    const metrics = await (await fetch(`${world.gateway.adminUrl}/metrics`)).text();
    assert.match(metrics, /^gateway_idempotent_outcomes_unknown_total\{http_route="\/v1\/strict-things"\} 1$/m);
  });

  it('and a key that is only passed on does not count as protection', async () => {
    const paths = {
      '/v1/open-things': { post: { ...strict['/v1/strict-things'].post, operationId: 'o', security: [] } },
    };
    const open = Object.values(paths)[0]?.post as Record<string, unknown>;
    open['x-gateway-public'] = true;
    const world = await start(createKeyedWorld({}, { timeoutMs: 2000 }, paths));
    world.upstream.plays((socket) => socket.destroy());
    const answer = await world.post({ line: 'POST /v1/open-things' });
    assert.deepEqual([answer.status, answer.error.retryable], [502, false]);
  });
});

describe('a request that the upstream may have executed, by a setting:', { concurrency: true }, () => {
  const start = closesAfterAll();
  for (const entry of [{ whenOutcomeUnknown: 'run' }, { honoursIdempotencyKey: true, retry: { attempts: 0 } }]) {
    it(`with ${Object.keys(entry)[0]} it is sent again`, async () => {
      const world = await start(openWorld(entry));
      for (const script of Object.values(unknown)) {
        const { error } = await runsAnew(world, script);
        assert.equal(error.retryable, true);
      }
    });

    it(`with ${Object.keys(entry)[0]} only the same request is sent with the key`, async () => {
      const world = await start(openWorld(entry));
      for (const script of Object.values(unknown)) {
        const key = newKey();
        world.upstream.plays(script);
        assert.ok((await world.post({ key, line: LINE })).status >= 500);
        world.upstream.plays(creates);
        world.upstream.received.length = 0;
        for (const request of [{ body: '{"name":"b"}' }, { line: 'POST /v1/things' }])
          assertRefusal(await world.post({ key, line: LINE, ...request }), 'idempotency_key_reused');
        assert.equal(world.upstream.received.length, 0);
        assert.equal((await world.post({ key, line: LINE })).status, 201);
      }
    });
  }
});

describe('kept answers:', () => {
  const world = openOnce();
  for (const status of [400, 404, 410, 412, 415, 422]) {
    it(`${status} of the upstream`, async () => {
      const { repeated, sentTimes } = await failAndRepeat(world(), answers(status));
      assert.deepEqual([repeated.status, repeated.headers['idempotent-replayed']], [status, 'true']);
      assert.equal(sentTimes, 1);
    });
  }
});
