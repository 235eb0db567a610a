// For any fault of an upstream the client gets the one error object, or a visibly broken answer once it has begun.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openConnection, requestOf } from '../../support/connection.ts';
import { assertRefusal, runCases } from '../../support/errors.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';
import { unusedPort } from '../../support/upstream.ts';
import { createWorld, type World } from '../../support/world.ts';
import { unreachableCases, upstreamCases } from './upstream.cases.ts';

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

describe('an upstream that fails', () => {
  let world: World;
  before(async () => {
    world = await createWorld({}, { timeoutMs: 600, maxStreamMs: 800, breaker: 'off' });
  });
  after(() => world.close());

  runCases(upstreamCases, () => world);

  const cuts = {
    'a body shorter than announced': `${head}Content-Length: 9\r\n\r\n{"a"`,
    'chunks without the last one': `${head}Transfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n`,
  };
  for (const [name, bytes] of Object.entries(cuts)) {
    for (const version of ['1.1', '1.0']) {
      it(`${name} never ends cleanly for a client of HTTP/${version}`, async () => {
        world.upstream.plays((socket) => {
          socket.write(bytes);
          setTimeout(() => socket.end(), 30);
        });
        const connection = await openConnection(world.gateway.port);
        connection.send(`GET /v1/things HTTP/${version}\r\nHost: a\r\nAuthorization: ${world.authorization}\r\n\r\n`);
        const how = await connection.closed;
        const answer = await connection.answer();
        assert.ok(answer === undefined || answer.status === 200);
        assert.ok(how === 'reset' || answer?.whole === false, 'the client can see that something is missing');
      });
    }
  }

  it('in the middle of its answer is cut off at the end of maxStreamMs', async () => {
    world.upstream.plays((socket) => {
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      const drip = setInterval(() => socket.write('1\r\n \r\n'), 20);
      socket.on('close', () => clearInterval(drip));
    });
    const startedAt = performance.now();
    const connection = await openConnection(world.gateway.port);
    connection.send(requestOf('GET /v1/things', { Authorization: world.authorization }));
    await connection.closed;
    const took = performance.now() - startedAt;
    assert.ok(took > 100 && took < 5000, `${took} ms`);
    assert.notEqual((await connection.answer())?.whole, true);
  });

  it('may answer with interim answers first, which stay between it and the gateway', async () => {
    world.upstream.plays((socket) =>
      socket.write(`HTTP/1.1 102 Wait\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n${httpAnswer(200, '{}')}`),
    );
    const answer = await world.call('GET /v1/things');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.link, undefined);
  });

  const repeats: readonly (readonly [string, Record<string, string>, boolean])[] = [
    ['GET /v1/things', {}, true],
    ['POST /v1/things', {}, false],
    // Its outcome is unknown and the upstream does not honour keys.
    ['POST /v1/things', { 'Idempotency-Key': 'k1' }, false],
  ];
  for (const [line, headers, retryable] of repeats) {
    const what = `${line}${headers['Idempotency-Key'] ? ' with an Idempotency-Key' : ''}`;
    it(`makes ${what} ${retryable ? '' : 'not '}worth repeating`, async () => {
      world.upstream.plays((socket) => socket.destroy());
      const body = line.startsWith('POST') ? '{"name":"a"}' : undefined;
      const answer = await world.call(line, { 'Content-Type': 'application/json', ...headers }, body);
      assertRefusal(answer, 'upstream_bad_response');
      assert.equal(answer.error.retryable, retryable);
    });
  }
});

describe('an upstream that cannot be reached', () => {
  let world: World;
  before(async () => {
    world = await createWorld(thingsAt(`http://127.0.0.1:${await unusedPort()}`));
  });
  after(() => world.close());

  runCases(unreachableCases, () => world);
});

describe('an upstream host name that does not resolve', () => {
  it('is unreachable, or timed out where the resolver itself does not answer', async () => {
    const world = await createWorld(thingsAt('http://no-such-service.invalid'));
    const answer = await world.call('GET /v1/things');
    assertRefusal(answer, answer.status === 502 ? 'upstream_unreachable' : 'upstream_timeout');
    assert.match(answer.headers['proxy-status'] ?? '', /^api-gateway; error=dns_(error|timeout)$/);
    await world.close();
  });
});
