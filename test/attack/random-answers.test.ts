// An upstream, or a party between, sends anything: bytes of HTTP in any order, cut anywhere, with the connection closed or reset at any
// time. The client gets one answer that the catalogue knows or one that is visibly cut, soon, and the gateway goes on.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { REFUSALS } from '../../gateway/catalogue/errors.ts';
import { openConnection, requestOf } from '../support/connection.ts';
import { httpAnswer } from '../support/scripted-upstream.ts';
import { createWorld, type World } from '../support/world.ts';
import { LIMIT_RUNS } from '../unit/limits/scenarios.ts';

const pieces = fc.constantFrom(
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 204 No\r\n',
  'HTTP/1.1 103 Hints\r\n\r\n',
  'HTTP/1.1 503 No\r\n',
  'HTTP/1.0 200 OK\r\n',
  'HTTP/9.9 999 ?\r\n',
  'Content-Length: 2\r\n',
  'Content-Length: 99\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Content-Type: application/json\r\n',
  'Connection: close\r\n',
  'Keep-Alive: timeout=0\r\n',
  'Retry-After: 9\r\n',
  '\r\n',
  '{}',
  '2\r\n{}\r\n',
  '0\r\n\r\n',
);
const noise = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const step = fc.record({ text: fc.oneof({ weight: 5, arbitrary: pieces }, noise), pauses: fc.boolean() });
const answer = fc.record({
  begin: fc.constantFrom('', '', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'),
  steps: fc.array(step, { maxLength: 8 }),
  end: fc.constantFrom('stays', 'end', 'reset'),
});
const method = fc.constantFrom('GET', 'HEAD', 'POST');

describe('an upstream that sends anything', () => {
  let world: World;
  before(async () => {
    const times = { timeoutMs: 400, firstByteTimeoutMs: 60, idleTimeoutMs: 60 };
    world = await createWorld({}, { ...times, ejection: 'off', breaker: 'off', connections: 64 });
  });
  after(() => world.close());

  async function assertOneAnswer(line: string, body: string | undefined): Promise<void> {
    const connection = await openConnection(world.gateway.port);
    const json = body === undefined ? {} : { 'Content-Type': 'application/json' };
    connection.send(requestOf(line, { Authorization: world.authorization, ...json }, body));
    const got = await connection.answer({ hasBody: !line.startsWith('HEAD') });
    connection.socket.end();
    await connection.closed;
    if (got === undefined || !got.whole) return;
    assert.equal(connection.rest().length, 0, 'nothing comes behind it');
    if (got.status < 300) return;
    const code = got.headers['x-error-code'];
    assert.ok(code !== undefined && code in REFUSALS && code !== 'internal_error', `${got.status} ${code}`);
  }

  it('the client gets one answer, and soon', async () => {
    const scenario = fc.record({ answer, method });
    const run = async (
      all: readonly { answer: typeof answer extends fc.Arbitrary<infer T> ? T : never; method: string }[],
    ) => {
      let next = 0;
      world.upstream.plays(async (socket) => {
        const { begin, steps, end } = (all[next++ % all.length] as (typeof all)[number]).answer;
        socket.write(begin);
        for (const { text, pauses } of steps) {
          if (pauses) await new Promise((resolve) => setTimeout(resolve, 2));
          if (socket.destroyed) return;
          socket.write(text, 'latin1');
        }
        if (end === 'end') socket.end();
        if (end === 'reset') socket.resetAndDestroy();
      });
      const asked = all.map(({ method }) =>
        assertOneAnswer(`${method} /v1/things`, method === 'POST' ? '{"name":"a"}' : undefined),
      );
      await Promise.all(asked);
    };
    await fc.assert(fc.asyncProperty(fc.array(scenario, { minLength: 16, maxLength: 32 }), run), {
      numRuns: 4 * LIMIT_RUNS,
      endOnFailure: true,
    });
    world.upstream.plays((socket) => socket.write(httpAnswer(200, '{}')));
    assert.equal((await world.call('GET /v1/things')).status, 200, 'and the gateway goes on');
  });
});
