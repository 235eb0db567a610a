// Response desynchronisation: an upstream, or an attacker who controls part of its answer, sends more than one answer, or an unrequested
// one, on a connection that is used again. The next request on that connection would get the surplus: data of another organization, or a
// page made by an attacker. The defence is that a connection with unrequested bytes is thrown away, and that no request is sent on a
// connection before the answer to the last one is complete.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../support/closing.ts';
import { httpAnswer } from '../support/scripted-upstream.ts';
import { createWorld } from '../support/world.ts';

const start = closesAfterEach();
const evil = httpAnswer(200, '"evil"');

const surpluses: Readonly<Record<string, string>> = {
  'a second answer': httpAnswer(200, '"good"') + evil,
  'a second answer behind an empty one': `HTTP/1.1 204 No Content\r\n\r\n${evil}`,
  'a body where there is none': `HTTP/1.1 304 Not Modified\r\nContent-Length: 6\r\n\r\n"evil"`,
  'more than announced': httpAnswer(200, '"good""evil"', { 'Content-Length': '6' }),
  'an answer behind the last chunk': `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n"good"\r\n0\r\n\r\n${evil}`,
};

describe('unrequested bytes of an upstream', () => {
  for (const [name, bytes] of Object.entries(surpluses)) {
    it(`never becomes the answer to the next request: ${name}`, async () => {
      const world = await start(createWorld({}, { connections: 1, timeoutMs: 5000 }));
      world.upstream.plays((socket) => socket.write(bytes));
      const first = await world.call('GET /v1/things');
      assert.doesNotMatch(first.body.toString(), /evil/);
      world.upstream.plays((socket) => socket.write(httpAnswer(200, '"next"')));
      const next = await Promise.all([1, 2, 3].map(() => world.call('GET /v1/things')));
      for (const { status, body } of next) {
        assert.ok(status === 502 || body.toString() === '"next"', `${status} ${body}`);
      }
    });
  }

  it('never becomes the answer to a request even if it arrives before it', async () => {
    const world = await start(createWorld({}, { connections: 1, timeoutMs: 5000 }));
    world.upstream.plays((socket) => {
      socket.write(httpAnswer(200, '"good"'));
      setTimeout(() => socket.write(evil), 10);
    });
    await world.call('GET /v1/things');
    await new Promise((resolve) => setTimeout(resolve, 40));
    world.upstream.plays((socket) => socket.write(httpAnswer(200, '"next"')));
    assert.equal((await world.call('GET /v1/things')).body.toString(), '"next"');
  });

  it('to HEAD does not shift the answers behind it', async () => {
    const world = await start(createWorld({}, { connections: 1 }));
    world.upstream.plays((socket) => socket.write(httpAnswer(200, '"good"')));
    assert.equal((await world.call('HEAD /v1/things')).status, 200);
    world.upstream.plays((socket) => socket.write(httpAnswer(200, '"next"')));
    assert.equal((await world.call('GET /v1/things')).body.toString(), '"next"');
  });
});
