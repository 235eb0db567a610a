// Every refusal that is about too much or too slow, on a gateway with small limits.

import assert from 'node:assert/strict';
import { type Answer, openConnection, requestOf } from '../../support/connection.ts';
import type { RefusalCase } from '../../support/errors.ts';
import type { GatewayOptions } from '../../support/gateway.ts';
import type { World } from '../../support/world.ts';

type Case = RefusalCase<World>;

export const smallLimits: GatewayOptions = {
  gateway: {
    limits: { bodyBytesMax: 2000, headerBytesMax: 4000, urlBytesMax: 300 },
    timeouts: { headersMs: 150, requestMs: 250 },
  },
};

const json = { 'Content-Type': 'application/json' };
const long = JSON.stringify({ name: 'x'.repeat(3000) });

/** Sends bytes and nothing more, and waits for the answer. */
async function sendAndWait({ gateway }: World, ...pieces: (string | Buffer)[]): Promise<Answer> {
  const connection = await openConnection(gateway.port);
  connection.send(...pieces);
  const answer = await connection.answer();
  assert.ok(answer);
  assert.equal(await connection.closed, 'end');
  connection.destroy();
  return answer;
}

const sizes: readonly Case[] = [
  {
    name: 'a body that announces its excessive length',
    code: 'body_too_large',
    provoke: ({ call }) => call('POST /v1/things', json, long),
    also({ headers, error }) {
      assert.equal(error.max_bytes, 2000);
      assert.equal(headers.connection, 'close');
    },
  },
  {
    name: 'a body in chunks that grows too long',
    code: 'body_too_large',
    provoke: ({ call }) =>
      call(
        'POST /v1/things',
        { ...json, 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' },
        `${long.length.toString(16)}\r\n${long}\r\n0\r\n\r\n`,
      ),
  },
  {
    name: 'a target that is too long',
    code: 'uri_too_long',
    provoke: ({ call }) => call(`GET /v1/things?q=${'x'.repeat(300)}`),
    also: ({ error }) => assert.equal(error.max_bytes, 300),
  },
  {
    name: 'one header line that is too long',
    code: 'headers_too_large',
    provoke: ({ call }) => call('GET /v1/things', { 'X-Long': 'x'.repeat(4000) }),
    also: ({ error }) => assert.equal(error.max_bytes, 4000),
  },
  {
    name: 'header lines that are too long together',
    code: 'headers_too_large',
    provoke: ({ call }) => call('GET /v1/things', { 'X-Some': Array<string>(45).fill('x'.repeat(90)) }),
  },
  {
    name: 'a header section that the parser gives up on',
    code: 'headers_too_large',
    provoke: ({ call }) => call('GET /v1/things', { 'X-Long': 'x'.repeat(60_000) }),
  },
  {
    name: 'more than 100 header lines',
    code: 'headers_too_large',
    provoke: ({ call }) => call('GET /v1/things', { 'X-A': Array<string>(100).fill('1') }),
    also: ({ error }) => assert.equal(error.max_lines, 100),
  },
];

const slow: readonly Case[] = [
  {
    name: 'a head that does not end',
    code: 'request_timeout',
    provoke: (world) => sendAndWait(world, 'GET /v1/things HTTP/1.1\r\nHost: a\r\n'),
  },
  {
    name: 'a body that does not end',
    code: 'request_timeout',
    provoke: (world) =>
      sendAndWait(
        world,
        requestOf('POST /v1/things', { ...json, Authorization: world.authorization, 'Content-Length': '100' }),
        '{"name"',
      ),
  },
  {
    name: 'a body in chunks that does not end',
    code: 'request_timeout',
    provoke: (world) =>
      sendAndWait(
        world,
        requestOf('POST /v1/things', { ...json, Authorization: world.authorization, 'Transfer-Encoding': 'chunked' }),
        '3\r\n{"n\r\n',
      ),
  },
];

export const sizeCases: readonly Case[] = [...sizes, ...slow];
