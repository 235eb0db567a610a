// Every refusal that is about HTTP itself, most of them made before there is a request: bytes in, one error object out.

import assert from 'node:assert/strict';
import { ask } from '../../support/connection.ts';
import type { RefusalCase } from '../../support/errors.ts';
import type { World } from '../../support/world.ts';

type Case = RefusalCase<World>;

/** `~` stands for the end of a line, `KEY` for an Authorization line of a caller who is let in. */
function raw(name: string, code: Case['code'], request: string): Case {
  return {
    name,
    code,
    provoke({ gateway, authorization }) {
      const lines = request.replaceAll('~', '\r\n').replace('KEY', `Authorization: ${authorization}`);
      return ask(gateway.port, Buffer.from(lines, 'latin1'));
    },
    also({ headers }, { upstream }) {
      assert.equal(headers.connection, 'close', 'what follows cannot be understood');
      assert.deepEqual(upstream.received.splice(0), [], 'nothing reached the upstream');
    },
  };
}

const messages: readonly Case[] = [
  raw('garbage', 'malformed_http', 'how are you?~~'),
  raw('a TLS greeting', 'malformed_http', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
  raw('an unknown token as method', 'malformed_http', 'FETCH /v1/things HTTP/1.1~Host: a~KEY~~'),
  raw('a bare LF at the end of a line', 'malformed_http', 'GET /v1/things HTTP/1.1~Host: a\nKEY~~'),
  raw('a bare CR in a value', 'malformed_http', 'GET /v1/things HTTP/1.1~Host: a~KEY~X-A: b\rc~~'),
  raw('NUL in a value', 'malformed_http', 'GET /v1/things HTTP/1.1~Host: a~KEY~X-A: b\0c~~'),
  raw('a folded line', 'malformed_http', 'GET /v1/things HTTP/1.1~Host: a~KEY~X-A: b~ c~~'),
  raw('a space before the colon', 'malformed_http', 'GET /v1/things HTTP/1.1~Host : a~KEY~~'),
  raw('a line without a colon', 'malformed_http', 'GET /v1/things HTTP/1.1~Host: a~KEY~nothing~~'),
  raw('bytes above ASCII in the target', 'malformed_http', 'GET /v1/things/\xe4 HTTP/1.1~Host: a~KEY~~'),
  raw('no Host', 'malformed_http', 'GET /v1/things HTTP/1.1~KEY~~'),
  raw('two Hosts', 'malformed_http', 'GET /v1/things HTTP/1.1~Host: a~Host: a~KEY~~'),
  raw('a Host that is none', 'malformed_http', 'GET /v1/things HTTP/1.1~Host: a b/"c"~KEY~~'),
  raw('a Host that is none, over HTTP/1.0', 'malformed_http', 'GET /v1/things HTTP/1.0~Host: a";by="b~KEY~~'),
  raw('a Host with two ports', 'malformed_http', 'GET /v1/things HTTP/1.1~Host: a:1:2~KEY~~'),
  raw('HTTP/2.0 in the request line', 'http_version_not_supported', 'GET /v1/things HTTP/2.0~Host: a~KEY~~'),
  raw('the preface of HTTP/2', 'malformed_http', 'PRI * HTTP/2.0~~SM~~'),
  raw('HTTP/3.1 in the request line', 'http_version_not_supported', 'GET /v1/things HTTP/3.1~Host: a~KEY~~'),
  raw('another expectation', 'expectation_failed', 'GET /v1/things HTTP/1.1~Host: a~KEY~Expect: foo~~'),
];

const post = 'POST /v1/things HTTP/1.1~Host: a~KEY~Content-Type: application/json~';

const bodies: readonly Case[] = [
  raw('length and chunks', 'malformed_http', `${post}Content-Length: 4~Transfer-Encoding: chunked~~0~~`),
  raw('chunks and length', 'malformed_http', `${post}Transfer-Encoding: chunked~Content-Length: 4~~0~~`),
  raw('two lengths', 'malformed_http', `${post}Content-Length: 2~Content-Length: 3~~{}`),
  raw('one length twice', 'malformed_http', `${post}Content-Length: 2~Content-Length: 2~~{}`),
  raw('a list of lengths', 'malformed_http', `${post}Content-Length: 2, 2~~{}`),
  raw('a length with a sign', 'malformed_http', `${post}Content-Length: +2~~{}`),
  raw('a negative length', 'malformed_http', `${post}Content-Length: -1~~{}`),
  raw('a length that is no number', 'malformed_http', `${post}Content-Length: 0x2~~{}`),
  raw('chunked twice', 'malformed_http', `${post}Transfer-Encoding: chunked, chunked~~0~~`),
  raw('chunked on two lines', 'malformed_http', `${post}Transfer-Encoding: chunked~Transfer-Encoding: chunked~~0~~`),
  raw('gzip, chunked', 'malformed_http', `${post}Transfer-Encoding: gzip, chunked~~0~~`),
  raw('gzip alone', 'malformed_http', `${post}Transfer-Encoding: gzip~~{}`),
  raw('chunked, identity', 'malformed_http', `${post}Transfer-Encoding: chunked, identity~~0~~`),
  raw('a coding with a vertical tab', 'malformed_http', `${post}Transfer-Encoding: \x0bchunked~~0~~`),
  raw('a misspelt coding', 'malformed_http', `${post}Transfer-Encoding: xchunked~~0~~`),
  raw('chunks over HTTP/1.0', 'malformed_http', `${post.replace('1.1', '1.0')}Transfer-Encoding: chunked~~0~~`),
  raw('a chunk size that is none', 'malformed_http', `${post}Transfer-Encoding: chunked~~zz~{}~0~~`),
  raw('a chunk that ends late', 'malformed_http', `${post}Transfer-Encoding: chunked~~1~{}~0~~`),
  raw('a chunk size line that ends in LF', 'malformed_http', `${post}Transfer-Encoding: chunked~~2\n{}~0~~`),
  raw(
    'endless chunk extensions',
    'body_too_large',
    `${post}Transfer-Encoding: chunked~~2;${'x'.repeat(20_000)}~{}~0~~`,
  ),
];

export const framingCases: readonly Case[] = [...messages, ...bodies];
