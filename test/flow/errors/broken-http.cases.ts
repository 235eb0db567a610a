// One refusal of each code that is about HTTP itself, most of them made before there is a request: bytes in, one error object out. All
// ways to break a message are in test/attack/cases/heads.cases.ts and framing.cases.ts.

import assert from 'node:assert/strict';
import { ask } from '../../support/connection.ts';
import type { RefusalCase } from '../../support/errors.ts';
import type { World } from '../../support/world.ts';

type Case = RefusalCase<World>;

/** `~` stands for the end of a line, `KEY` for an Authorization line of an accepted caller. */
function raw(name: string, code: Case['code'], request: string): Case {
  return {
    name,
    code,
    provoke({ gateway, authorization }) {
      const lines = request.replaceAll('~', '\r\n').replace('KEY', `Authorization: ${authorization}`);
      return ask(gateway.port, Buffer.from(lines, 'latin1'));
    },
    also({ headers }, { upstream }) {
      assert.equal(headers.connection, 'close', 'the bytes that follow cannot be understood');
      assert.deepEqual(upstream.received.splice(0), [], 'nothing reached the upstream');
    },
  };
}

export const brokenCases: readonly Case[] = [
  raw('garbage', 'malformed_http', 'how are you?~~'),
  raw('HTTP/3.1 in the request line', 'http_version_not_supported', 'GET /v1/things HTTP/3.1~Host: a~KEY~~'),
  raw('an unknown expectation', 'expectation_failed', 'GET /v1/things HTTP/1.1~Host: a~KEY~Expect: foo~~'),
  raw(
    'a chunk size that is none',
    'malformed_http',
    'POST /v1/things HTTP/1.1~Host: a~KEY~Content-Type: application/json~Transfer-Encoding: chunked~~zz~{}~0~~',
  ),
];
