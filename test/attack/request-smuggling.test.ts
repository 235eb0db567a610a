// Request smuggling: a message is framed so that the gateway and the upstream disagree about where it ends. The gateway takes bytes for the
// rest of a body, and the upstream takes them for a second, unauthenticated request, which may be joined to the request of the next caller
// on the same connection. The disagreement comes from two lengths, from a length beside chunks, from a transfer coding that only one side
// understands, or from line ends that only one side accepts. The defence is to refuse every ambiguous message, and never to copy framing:
// the upstream gets bytes with a length that the gateway itself has counted. Known attacks of this kind are in the table
// (cases/framing.cases.ts); here lines and bodies meet at random.

import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { type Answer, openConnection } from '../support/connection.ts';
import { createWorld } from '../support/world.ts';
import { LIMIT_RUNS } from '../unit/limits/scenarios.ts';

const world = await createWorld({ gateway: { timeouts: { headersMs: 200, requestMs: 300 } } });
after(() => world.close());
beforeEach(() => {
  world.upstream.received.length = 0;
});

/** Everything that comes back for some bytes, until the gateway closes. */
async function exchange(bytes: string | Buffer): Promise<Answer[]> {
  const connection = await openConnection(world.gateway.port);
  connection.send(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  const answers: Answer[] = [];
  for (let answer = await connection.answer(); answer; answer = await connection.answer()) answers.push(answer);
  connection.destroy();
  return answers;
}

/** The messages at the upstream: one per entry, its length counted by the gateway, no other framing. */
function assertUnambiguous(received: readonly string[]): void {
  for (const request of received) {
    const [head = '', ...rest] = request.split('\r\n\r\n');
    const body = rest.join('\r\n\r\n');
    const lengths = [...head.matchAll(/^content-length: (.*)$/gim)].map(([, length]) => length?.trim());
    assert.doesNotMatch(head, /transfer-encoding/i);
    assert.deepEqual(lengths, body === '' ? lengths.slice(0, 0) : [String(body.length)]);
    assert.match(head, /^(GET|POST) \/v1\/things[?/]?\S* HTTP\/1\.1\r\n/);
    assert.doesNotMatch(head, /smuggled/);
  }
}

const smuggled = 'GET /v1/things/smuggled HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const post = () =>
  `POST /v1/things HTTP/1.1\r\nHost: a\r\nAuthorization: ${world.authorization}\r\nContent-Type: application/json\r\n`;

describe('any framing', () => {
  const line = fc.constantFrom(
    ...[
      'Content-Length: 12',
      'Content-Length: 0',
      'Content-Length: 4',
      'content-length:12',
      'Content-Length: 12 ',
      'Content-Length: 1 2',
    ],
    ...[
      'Transfer-Encoding: chunked',
      'Transfer-Encoding: CHUNKED',
      'Transfer-Encoding:chunked ',
      'transfer-encoding: chunked;q=1',
    ],
    ...[
      'Transfer-Encoding: gzip',
      'Transfer-Encoding: chunked\t',
      'Transfer-Encoding: \tchunked',
      'TE: chunked',
      'Connection: close',
    ],
    ...[
      'Connection: content-length',
      'Connection: transfer-encoding',
      'X-A: b\r\n\tc',
      'Expect: 100-continue',
      'Upgrade: h2c',
    ],
  );
  const body = fc.constantFrom(
    ...[
      '{"name":"a"}',
      'c\r\n{"name":"a"}\r\n0\r\n\r\n',
      '0\r\n\r\n',
      '',
      'c\r\n{"name":"a"}\r\n0\r\nX: y\r\n\r\n',
      '{"name":"a"}\r\n',
    ],
  );

  it('that reaches the upstream is unambiguous, and nothing behind it is a request unless it was meant as one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 4 }), body, async (lines, content) => {
        world.upstream.received.length = 0;
        const answers = await exchange(`${post()}${lines.join('\r\n')}\r\n\r\n${content}${smuggled}`);
        assertUnambiguous(world.upstream.received);
        const final = answers.filter(({ status }) => status >= 200);
        assert.ok(world.upstream.received.length <= 1 && final.length <= 2);
        for (const { status } of final) assert.ok(status < 500, String(status));
      }),
      { numRuns: 70 * LIMIT_RUNS },
    );
  });
});
