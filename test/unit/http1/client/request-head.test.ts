// The head of a request: how its body is framed, and that no part of it can end the line that it stands in.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requestHead } from '../../../../gateway/http1/client/request-head.ts';
import type { Outgoing } from '../../../../gateway/http1/client/wire.ts';

const plain: Outgoing = { method: 'GET', path: '/things?a=b', headers: [], body: null };
const COMMON = 'host: upstream.test:8080\r\nconnection: keep-alive\r\n';

function head(changes: Partial<Outgoing> = {}): string {
  return requestHead({ ...plain, ...changes }, 'upstream.test:8080', true);
}

async function* streamed(): AsyncIterable<Buffer> {
  yield Buffer.from('body');
}

function isUnsendable(changes: Partial<Outgoing>, what: string): void {
  assert.throws(() => head(changes), { name: 'WireFault', code: 'WIRE_UNSENDABLE' }, what);
}

describe('a request head', () => {
  it('is a request line, a host, that the connection is kept, the fields, and an empty line', () => {
    const headers = ['accept', '*/*', 'x-empty', '', 'x-twice', '1', 'x-twice', '2'];
    assert.equal(
      head({ headers }),
      `GET /things?a=b HTTP/1.1\r\n${COMMON}accept: */*\r\nx-empty: \r\nx-twice: 1\r\nx-twice: 2\r\n\r\n`,
    );
    assert.equal(head({ method: 'OPTIONS', path: '*' }), `OPTIONS * HTTP/1.1\r\n${COMMON}\r\n`);
  });

  it('sends Content-Length: 0 where a body would mean something', () => {
    for (const method of ['POST', 'PUT', 'PATCH'])
      assert.equal(head({ method, path: '/' }), `${method} / HTTP/1.1\r\n${COMMON}content-length: 0\r\n\r\n`);
    for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'QUERY'])
      assert.equal(head({ method, path: '/' }), `${method} / HTTP/1.1\r\n${COMMON}\r\n`);
  });

  it('has the length of its body', () => {
    for (const method of ['POST', 'DELETE', 'GET']) {
      const whole = head({ method, path: '/', body: Buffer.from('h\u00e9') });
      assert.equal(whole, `${method} / HTTP/1.1\r\n${COMMON}content-length: 3\r\n\r\n`);
    }
    assert.match(head({ method: 'GET', body: Buffer.alloc(0) }), /\r\ncontent-length: 0\r\n\r\n$/);
  });

  it('announces chunks unless the length of its body is known', () => {
    assert.equal(
      head({ method: 'POST', path: '/', body: streamed() }),
      `POST / HTTP/1.1\r\n${COMMON}transfer-encoding: chunked\r\n\r\n`,
    );
    assert.equal(
      head({ method: 'POST', path: '/', headers: ['content-length', '4', 'x', 'y'], body: streamed() }),
      `POST / HTTP/1.1\r\n${COMMON}content-length: 4\r\nx: y\r\n\r\n`,
    );
  });

  it('has no other length than that of its body', () => {
    const headers = ['content-length', '5'];
    for (const body of [null, Buffer.from('abc')]) isUnsendable({ method: 'POST', headers, body }, String(body));
  });

  it('has every byte above ASCII, and no character that is more than a byte', () => {
    const value = '\t\x80\xff~';
    assert.ok(head({ path: '/\x80\xff', headers: ['x', value] }).includes(`x: ${value}\r\n`));
    isUnsendable({ path: '/\u0100' }, 'path');
    isUnsendable({ headers: ['x', '\u010d\u010a'] }, 'value whose low bytes are a line end');
  });
});

describe('a request', () => {
  it('is not sent with a method that is not a token', () => {
    const methods = ['', ' ', 'GET ', 'G T', 'GET / HTTP/1.1\r\nx: y\r\n\r\nGET', 'GET\r\n', 'GET\n', 'G\0T', 'G/T'];
    for (const method of [...methods, 'GET:', 'G\xe9T']) isUnsendable({ method }, JSON.stringify(method));
  });

  it('is not sent with a path that could end its line', () => {
    const paths = ['/ HTTP/1.1\r\nx: y\r\n\r\nGET /', '/a b', '/\r', '/\n', '/\t', '/\0', '/\x7f', '/\r\n', ' /', '/ '];
    for (const path of paths) isUnsendable({ path }, JSON.stringify(path));
  });

  it('is not sent without a path', () => {
    isUnsendable({ path: '' }, 'empty');
  });

  it('is not sent with a value that could end its line', () => {
    for (const value of ['a\r\nx: y', 'a\r', '\n', 'a\nb', '\0', 'a\x0bb', '\x7f', '\x1b']) {
      isUnsendable({ headers: ['x', value] }, JSON.stringify(value));
      isUnsendable({ headers: ['a', 'b', 'x', value, 'c', 'd'] }, JSON.stringify(value));
    }
  });

  it('is refused with the name of the field, and without its value', () => {
    assert.throws(() => head({ headers: ['authorization', 'Bearer s3cret\n'] }), {
      message: 'authorization is not valid',
    });
  });
});
