// The head of an answer, beside that of Node's server: the same lines in the same order.

import assert from 'node:assert/strict';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { type AnswerHeadOptions, writeAnswerHead } from '../../../gateway/http1/answer-writer.ts';

const date = ['Date', 'Sun, 06 Nov 1994 08:49:37 GMT'];
const lists: Readonly<Record<string, readonly string[]>> = {
  none: [],
  'a length': ['Content-Length', '5', 'X-A', 'b'],
  'a length in lower case': ['content-length', '5'],
  'a date': [...date, 'X-A', ''],
  'Connection: close': ['X-A', 'b', 'Content-Length', '0', 'Connection', 'close'],
  'Connection: keep-alive': ['connection', 'keep-alive', 'Content-Length', '0'],
  'two lines of a field': ['Set-Cookie', 'a=b', 'Set-Cookie', 'c=d', 'WWW-Authenticate', 'Bearer'],
  'characters beyond ASCII': ['X-A', 'a\t\xe4\xff'],
};

function written(options: AnswerHeadOptions) {
  const { text, isLast, isChunked } = writeAnswerHead(options);
  return { text: masked(text), isLast, isChunked };
}

function writtenByNode({ status, headers, isKept, keepAliveMs, hasBody }: AnswerHeadOptions) {
  const method = hasBody || status === 204 || status === 304 ? 'GET' : 'HEAD';
  const response = new ServerResponse({ method, httpVersionMajor: 1, httpVersionMinor: 1 } as IncomingMessage);
  response.shouldKeepAlive = isKept;
  Object.assign(response, { _keepAliveTimeout: keepAliveMs });
  response.writeHead(status, [...headers]);
  const { _header: text, _last: isLast, chunkedEncoding: isChunked } = response as unknown as Record<string, unknown>;
  return { text: masked(String(text)), isLast, isChunked };
}

const masked = (text: string) => text.replace(/^Date: (?!.*1994).*$/m, 'Date');

describe('the head of an answer equals that of Node', () => {
  for (const [name, headers] of Object.entries(lists)) {
    it(`with ${name}`, () => {
      for (const status of [200, 201, 204, 206, 304, 308, 404, 429, 499, 503]) {
        for (const isKept of [true, false]) {
          for (const keepAliveMs of [0, 999, 65_000]) {
            const isBodiless = status === 204 || status === 304;
            for (const hasBody of isBodiless ? [false] : [true, false]) {
              const options = { status, headers, isKept, keepAliveMs, hasBody, nowMs: Date.now() };
              assert.deepEqual(written(options), writtenByNode(options));
            }
          }
        }
      }
    });
  }
});

describe('a head is not written', () => {
  const unsendable: Readonly<Record<string, readonly string[]>> = {
    'with a line end in a value': ['X-A', 'a\r\nX-B: c'],
    'with a line end in a long value': ['X-A', `${'a'.repeat(100)}\n`],
    'with a NUL in a value': ['X-A', '\0'],
    'with a character that Latin-1 lacks': ['X-A', '移'],
    'with an empty name': ['', 'a'],
    'with a colon in a name': ['X:', 'a'],
    'with a space in a name': ['X A', 'a'],
    'with a transfer coding': ['Transfer-Encoding', 'chunked'],
  };
  const rest = { isKept: true, keepAliveMs: 0, hasBody: true, nowMs: 0 };
  for (const [name, headers] of Object.entries(unsendable)) {
    it(name, () => {
      assert.throws(() => writeAnswerHead({ ...rest, status: 200, headers }), TypeError);
      // Nor with a value that was sent before.
      assert.equal(writeAnswerHead({ ...rest, status: 200, headers: ['X-A', 'a'] }).text.includes('X-A: a\r\n'), true);
      assert.throws(() => writeAnswerHead({ ...rest, status: 200, headers }), TypeError);
    });
  }
  for (const status of [0, 100, 199, 1000, 200.5, Number.NaN]) {
    it(`of the status ${status}`, () =>
      assert.throws(() => writeAnswerHead({ ...rest, status, headers: [] }), TypeError));
  }
});
