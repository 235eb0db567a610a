// A refusal that an upstream makes keeps its status and, where it is recognised, its code and message; everything else of it stays here.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRefusal, runCases, SECRET } from '../../support/errors.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { createWorld, type World } from '../../support/world.ts';
import { ownError, wordsCases } from './words.cases.ts';

describe('the refusal of an upstream', () => {
  let world: World;
  before(async () => {
    world = await createWorld({}, { timeoutMs: 300, breaker: 'off' });
  });
  after(() => world.close());

  runCases(wordsCases, () => world);

  it('keeps a code that the gateway itself does not have, with type, param and errors', async () => {
    const errors = [{ in: 'body', pointer: '/seat', param: 'seat', code: 'not_unique', message: 'Taken.' }];
    const members = {
      type: 'conflict_error',
      code: 'seat_taken',
      message: 'The seat is taken.',
      param: 'seat',
      errors,
    };
    world.upstream.plays((socket) => socket.write(httpAnswer(409, ownError(members))));
    const answer = await world.call('GET /v1/things/1');
    assertRefusal(answer, 'seat_taken', 409);
    const { type, param, message } = answer.error;
    assert.deepEqual(
      { type, param, message },
      { type: 'conflict_error', param: 'seat', message: 'The seat is taken.' },
    );
    assert.deepEqual(answer.error.errors, errors);
  });

  it('loses headers about another body', async () => {
    const headers = {
      ETag: '"1"',
      'Set-Cookie': SECRET,
      Server: SECRET,
      'X-Internal-A': SECRET,
      Location: '/elsewhere',
    };
    world.upstream.plays((socket) => socket.write(httpAnswer(404, '{}', headers)));
    const answer = await world.call('GET /v1/things/1');
    assertRefusal(answer, 'resource_missing');
    for (const name of ['etag', 'set-cookie', 'server', 'x-internal-a', 'location']) {
      assert.equal(answer.headers[name], undefined, name);
    }
  });

  it('is answered at once even if its body never ends', async () => {
    world.upstream.plays((socket) => {
      socket.write('HTTP/1.1 400 No\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n');
      const endless = setInterval(() => socket.write(`2000\r\n${'x'.repeat(8192)}\r\n`), 1);
      socket.on('close', () => clearInterval(endless));
    });
    const answer = await world.call('GET /v1/things/1');
    assertRefusal(answer, 'upstream_rejected');
  });

  it('answers HEAD by its headers alone', async () => {
    world.upstream.plays((socket) => socket.write(httpAnswer(404, ownError({ code: 'x', message: SECRET }))));
    const answer = await world.call('HEAD /v1/things/1');
    assert.equal(answer.status, 404);
    assert.equal(answer.body.length, 0);
  });
});
