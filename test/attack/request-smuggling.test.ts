// Request smuggling: a message is framed so that the gateway and the upstream disagree about where it ends. What the gateway takes for
// the rest of a body, the upstream takes for a second request, which nobody has authenticated, and which may be joined to the request
// of the next caller on the same connection. The disagreement comes from two lengths, from a length beside chunks, from a transfer
// coding that only one side understands, or from line ends that only one side accepts. The defence is to refuse whatever could be read
// in two ways, and never to copy framing: the upstream gets bytes whose length the gateway itself has counted.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { type Answer, openConnection, requestOf } from '../support/connection.ts';
import { createWorld, type World } from '../support/world.ts';

let world: World;
before(async () => {
  world = await createWorld({ gateway: { timeouts: { headersMs: 200, requestMs: 300 } } });
});
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

/** What reached the upstream: one message per entry, its length counted by the gateway, no other framing. */
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

const framings: Readonly<Record<string, string>> = {
  'a length, then chunks (CL.TE)': `Content-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  'chunks, then a length (TE.CL)': `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n2e\r\n${smuggled}\r\n0\r\n\r\n`,
  'chunks with a hidden second coding (TE.TE)': `Transfer-Encoding: chunked\r\nTransfer-Encoding: cow\r\n\r\n0\r\n\r\n${smuggled}`,
  'a coding in a list': `Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  'a coding before a space and a colon': `Transfer-Encoding : chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${smuggled}`,
  'a coding on a folded line': `Transfer-Encoding:\r\n chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${smuggled}`,
  'a coding after a bare LF': `X-A: b\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${smuggled}`,
  'a coding after a bare CR': `X-A: b\rTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${smuggled}`,
  'a quoted coding': `Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n${smuggled}`,
  'two different lengths': `Content-Length: 12\r\nContent-Length: 0\r\n\r\n{"name":"a"}${smuggled}`,
  'a length with leading zeros and a sign': `Content-Length: +012\r\n\r\n{"name":"a"}${smuggled}`,
  'a length that overflows': `Content-Length: 18446744073709551628\r\n\r\n{"name":"a"}${smuggled}`,
  'a chunk size that overflows': `Transfer-Encoding: chunked\r\n\r\n1000000000000000c\r\n{"name":"a"}\r\n0\r\n\r\n${smuggled}`,
  'a chunk size with 0x': `Transfer-Encoding: chunked\r\n\r\n0xc\r\n{"name":"a"}\r\n0\r\n\r\n${smuggled}`,
  'a chunk size that ends in a bare LF (TE.TERM)': `Transfer-Encoding: chunked\r\n\r\nc\n{"name":"a"}\r\n0\r\n\r\n${smuggled}`,
  'a chunk extension with a bare LF': `Transfer-Encoding: chunked\r\n\r\nc;a\nb\r\n{"name":"a"}\r\n0\r\n\r\n${smuggled}`,
  'a chunk without its line end': `Transfer-Encoding: chunked\r\n\r\nc\r\n{"name":"a"}XX0\r\n\r\n${smuggled}`,
};

describe('an ambiguous framing', () => {
  for (const [name, rest] of Object.entries(framings)) {
    it(`smuggles nothing: ${name}`, async () => {
      const [first, ...others] = await exchange(post() + rest);
      assertUnambiguous(world.upstream.received);
      assert.equal(first?.status, 400);
      assert.deepEqual(world.upstream.received, []);
      assert.deepEqual(others, [], 'and what follows is not read');
    });
  }

  it('is none when chunks alone carry the body: the upstream gets a length, no extensions, no trailers', async () => {
    const chunks = '5;a=b\r\n{"nam\r\n7;c="d e"\r\ne":"a"}\r\n0\r\nX-Organization-Id: org_other\r\n\r\n';
    const lines = 'Transfer-Encoding: chunked\r\nTransfer_Encoding: gzip\r\nConnection: close\r\n\r\n';
    const answers = await exchange(post() + lines + chunks);
    assert.equal(answers[0]?.status, 200);
    assertUnambiguous(world.upstream.received);
    assert.match(world.upstream.received[0] ?? '', /\r\n\r\n\{"name":"a"\}$/);
    assert.doesNotMatch(world.upstream.received[0] ?? '', /org_other/);
  });
});

describe('a body where none is expected', () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE']) {
    it(`of ${method} never becomes a request`, async () => {
      const headers = { Authorization: world.authorization, 'Content-Length': String(smuggled.length) };
      const bytes = Buffer.concat([requestOf(`${method} /v1/things`, headers), Buffer.from(smuggled)]);
      const connection = await openConnection(world.gateway.port);
      connection.send(bytes);
      const answer = await connection.answer({ hasBody: method !== 'HEAD' });
      assert.ok([204, 400, 405].includes(answer?.status ?? 0), String(answer?.status));
      connection.send(requestOf('GET /v1/things', { Authorization: world.authorization }));
      assert.equal((await connection.answer())?.status, 200, 'the next request is where it should be');
      connection.destroy();
      assert.doesNotMatch(world.upstream.received.join(), /smuggled/);
    });
  }

  it('sent without 100 Continue after a refusal never becomes a request', async () => {
    const headers = { Authorization: world.authorization, Expect: '100-continue', 'Content-Length': '9999999' };
    const connection = await openConnection(world.gateway.port);
    connection.send(requestOf('POST /v1/things', { ...headers, 'Content-Type': 'application/json' }));
    assert.equal((await connection.answer())?.status, 413);
    connection.send(requestOf('GET /v1/things/smuggled', { Authorization: world.authorization }));
    assert.equal(await connection.answer(), undefined);
    connection.destroy();
    assert.deepEqual(world.upstream.received, []);
  });
});

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
      { numRuns: 200 },
    );
  });
});
