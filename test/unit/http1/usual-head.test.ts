// What the reader of usual requests takes, and what it leaves to Node's parser.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readUsualHead } from '../../../gateway/http1/usual-head.ts';

const bounds = { headBytesMax: 2000, fieldBytesMax: 1000 };
const read = (text: string) => readUsualHead(Buffer.from(text, 'latin1'), bounds);
const get = (...lines: string[]) => ['GET /v1/things?a=b HTTP/1.1', 'Host: a', ...lines, '', ''].join('\r\n');
const post = (...lines: string[]) => ['POST /v1/things HTTP/1.1', 'Host: a', ...lines, '', ''].join('\r\n');

it('a usual head is read with its lines as they came', () => {
  const text = get('X-A:  b \t', 'accept:c', 'Empty:');
  assert.deepEqual(read(`${text}{}`), {
    method: 'GET',
    target: '/v1/things?a=b',
    rawHeaders: ['Host', 'a', 'X-A', 'b', 'accept', 'c', 'Empty', ''],
    fields: new Map([
      ['host', 'a'],
      ['x-a', 'b'],
      ['accept', 'c'],
      ['empty', ''],
    ]),
    isPersistent: true,
    headBytes: text.length,
    bodyBytes: 0,
  });
});

it('a length announces a body', () => {
  const head = read(post('Content-Length: 12'));
  assert.equal(typeof head === 'string' ? head : head.bodyBytes, 12);
});

it('Connection: close, in any case, asks for the end of the connection', () => {
  const head = read(get('connection: Close'));
  assert.equal(typeof head === 'string' ? head : head.isPersistent, false);
});

describe('a head is awaited', () => {
  for (const part of [1, 2, 3, 10, 26]) {
    it(`while its last ${part} bytes are missing`, () =>
      assert.equal(read(get('Accept: text/html').slice(0, -part)), 'more'));
  }
});

describe('a head is unusual', () => {
  const unusual: Readonly<Record<string, string>> = {
    'without its first line': 'GET /v1/thi',
    'of another method': get().replace('GET', 'TRACE'),
    'of HTTP/1.0': get().replace('1.1', '1.0'),
    'behind an empty line': `\r\n${get()}`,
    'with bare line feeds': get().replaceAll('\r\n', '\n'),
    'with a target in absolute form': get().replace('/v1', 'http://a/v1'),
    'with the target *': get().replace('/v1/things?a=b', '*'),
    'with a fragment': get().replace('a=b', 'a#b'),
    'without Host': get().replace('Host', 'X'),
    'without any field': 'GET / HTTP/1.1\r\n\r\n',
    'with two lines of Host': get('host: b'),
    'with two lines of any field': get('X-A: 1', 'x-a: 2'),
    'with a folded line': get('X-A: 1', ' 2'),
    'with a space before a colon': get('X-A : 1'),
    'with a control character': get('X-A: \x01'),
    'with a transfer coding': post('Transfer-Encoding: chunked'),
    'with an expectation': post('Expect: 100-continue', 'Content-Length: 2'),
    'with an upgrade': get('Upgrade: websocket', 'Connection: upgrade'),
    'with other options of the connection': get('Connection: keep-alive, x'),
    'with Proxy-Connection': get('Proxy-Connection: keep-alive'),
    'with two lengths in one line': post('Content-Length: 2, 2'),
    'with a length that begins with a zero': post('Content-Length: 02'),
    'with a sign before its length': post('Content-Length: +2'),
    'with a length of 16 digits': post('Content-Length: 1000000000000000'),
    'with a body of GET': get('Content-Length: 2'),
    'of too many bytes': get(...Array.from({ length: 30 }, (_, index) => `X-${index}: ${'a'.repeat(40)}`)),
    'of too many lines': get(...Array.from({ length: 101 }, (_, index) => `${index}:`)),
    'that may become too long': get(`X: ${'a'.repeat(2000)}`).slice(0, 2001),
    'with a part of a length': post('Content-Length: 12').slice(0, -5),
    'with a whole unusual line, before its end': post('Expect: 100-continue').slice(0, -2),
  };
  for (const [name, text] of Object.entries(unusual)) it(name, () => assert.equal(read(text), 'unusual'));
});
