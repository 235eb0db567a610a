// Fuzzing: bytes without any plan, and requests with some of their bytes changed. Somewhere in a parser, a decoder or a look-up there is an
// unforeseen input; it shows as a 500, a hang or a crash, and each of them is a way to take the gateway down for others. The promise under
// test: for any input, the answer is a designed one, it comes soon, and the gateway goes on.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { anyCharacter } from '../support/characters.ts';
import { type Answer, openConnection, requestOf } from '../support/connection.ts';
import { createWorld } from '../support/world.ts';
import { LIMIT_RUNS } from '../unit/limits/scenarios.ts';

const world = await createWorld({ gateway: { timeouts: { headersMs: 300, requestMs: 400 } } });
after(() => world.close());

/** Sends bytes, waits a little, stops sending, and takes all bytes that come back until the gateway closes. */
async function answersTo(bytes: Uint8Array): Promise<Answer[]> {
  const connection = await openConnection(world.gateway.port);
  connection.socket.write(bytes);
  // A client that ends its side at once is taken for one that has left.
  await Promise.race([new Promise((resolve) => connection.socket.once('data', resolve)), setTimeout(30)]);
  connection.socket.end();
  const ended = await Promise.race([connection.closed, setTimeout(3000, 'hung', { ref: false })]);
  assert.notEqual(ended, 'hung');
  const answers: Answer[] = [];
  for (let answer = await connection.answer(); answer; answer = await connection.answer()) answers.push(answer);
  connection.destroy();
  return answers;
}

/** 501 and 505 are about the client's method and version. */
function assertDesigned(answers: readonly Answer[]): void {
  for (const { status, headers, error } of answers) {
    assert.ok(status < 500 || status === 501 || status === 505, String(status));
    if (status >= 400) assert.equal(error.code ?? headers['x-error-code'], headers['x-error-code']);
    if (status >= 200) assert.match(headers['x-request-id'] ?? '', /^req_/);
  }
}

describe('random bytes', () => {
  it('get a designed answer or none', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 400 }), async (bytes) => {
        assertDesigned(await answersTo(bytes));
      }),
      { numRuns: 35 * LIMIT_RUNS },
    );
  });

  it('in place of some bytes of a request do not break anything', async () => {
    const body = '{"name":"a","tags":[{"a":[1,2,{"b":null}]}],"more":{"x":"\\u00e9"}}';
    const headers = { Authorization: world.authorization, 'Content-Type': 'application/json' };
    let number = 0;
    // Each with a key of its own: otherwise the answer to the first would be given to all.
    const next = () => ({ ...headers, 'Idempotency-Key': `k${String(number++).padStart(6, '0')}` });
    const make = () => requestOf('POST /v1/things?', { ...next(), Accept: '*/*;q=0.5, application/json' }, body);
    const change = fc.tuple(fc.nat(make().length - 1), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
        const bytes = Buffer.from(make());
        for (const [at, value] of changes) bytes[at] = value;
        assertDesigned(await answersTo(bytes));
      }),
      { numRuns: 70 * LIMIT_RUNS },
    );
  });

  it('in path, query and body do not break anything', async () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(text, text, fc.string({ unit: anyCharacter, maxLength: 200 }), async (path, query, body) => {
        const target = `/v1/things/${encodeURIComponent(path)}?q=${encodeURIComponent(query)}`;
        const headers = { Authorization: world.authorization, 'Content-Type': 'application/json' };
        assertDesigned(await answersTo(requestOf(`PATCH ${target}`, headers, body)));
      }),
      { numRuns: 35 * LIMIT_RUNS },
    );
  });

  it('leaves the gateway unchanged', async () => {
    assert.equal((await world.call('GET /v1/things')).status, 200);
    const codes = world.gateway.logLines().map(({ code }) => code);
    assert.ok(!codes.includes('internal_error'));
  });
});
