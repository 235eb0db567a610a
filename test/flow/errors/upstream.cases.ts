// Every refusal that is about an upstream that fails: by its connection, by its HTTP, by its answer.

import assert from 'node:assert/strict';
import type { Answer } from '../../support/connection.ts';
import { type RefusalCase, SECRET } from '../../support/errors.ts';
import { httpAnswer, type Script } from '../../support/scripted-upstream.ts';
import type { World } from '../../support/world.ts';

type Case = RefusalCase<World>;
type Also = (answer: Answer) => void;

/** How the upstream answers GET /v1/things. */
function plays(name: string, code: Case['code'], script: Script, also: Also = () => {}, line = 'GET /v1/things'): Case {
  return {
    name,
    code,
    provoke({ upstream, call }) {
      upstream.plays(script);
      return call(line);
    },
    also,
  };
}

const writes =
  (...bytes: string[]): Script =>
  (socket) => {
    for (const piece of bytes) socket.write(piece);
  };
const writesAndCloses =
  (...bytes: string[]): Script =>
  (socket) => {
    socket.end(bytes.join(''));
  };
const proxyStatus =
  (error: string): Also =>
  ({ headers }) =>
    assert.equal(headers['proxy-status'], `api-gateway; error=${error}`);

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const incomplete = proxyStatus('http_response_incomplete');
const protocol = proxyStatus('http_protocol_error');

/** With a deadline of 150 ms. */
const connections: readonly Case[] = [
  plays('an upstream that never answers', 'upstream_timeout', () => {}, proxyStatus('http_response_timeout')),
  plays('a head without the body it announces', 'upstream_timeout', writes(`${head}Content-Length: 9\r\n\r\n`)),
  plays('a connection that is closed at once', 'upstream_bad_response', (socket) => socket.end()),
  plays('a connection that is reset', 'upstream_bad_response', (socket) => socket.resetAndDestroy()),
  plays('a head that is cut', 'upstream_bad_response', writesAndCloses('HTTP/1.1 200 OK\r\nContent-')),
  plays(
    'a body that is cut before its first byte',
    'upstream_bad_response',
    writesAndCloses(`${head}Content-Length: 9\r\n\r\n`),
    incomplete,
  ),
  plays(
    'chunks that are cut before the first one',
    'upstream_bad_response',
    writesAndCloses(`${head}Transfer-Encoding: chunked\r\n\r\n`),
    incomplete,
  ),
];

const messages: readonly Case[] = [
  plays('garbage instead of HTTP', 'upstream_bad_response', writesAndCloses(`${SECRET}\r\n\r\n`), protocol),
  plays('two lengths', 'upstream_bad_response', writes(`${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`)),
  plays('a length that is none', 'upstream_bad_response', writes(`${head}Content-Length: two\r\n\r\n{}`)),
  plays(
    'length and chunks',
    'upstream_bad_response',
    writes(`${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`),
  ),
  plays(
    'a chunk size that is none',
    'upstream_bad_response',
    writes(`${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`),
  ),
  plays(
    'a header section without end',
    'upstream_bad_response',
    writes(`${head}X-Long: ${'x'.repeat(40_000)}\r\n\r\n`),
    proxyStatus('http_response_header_section_size'),
  ),
  plays(
    'a switch of protocols',
    'upstream_bad_response',
    writes('HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
  ),
];

const htmlType = { 'Content-Type': 'text/html' };
const html = httpAnswer(200, `<html>${SECRET}</html>`, htmlType);
const untyped = `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}`;

const answers: readonly Case[] = [
  plays('an HTML page as success', 'upstream_bad_response', writes(html), protocol, 'GET /v1/strict'),
  plays('a body without a media type', 'upstream_bad_response', writes(untyped), protocol, 'GET /v1/strict'),
  plays(
    'an answer against a contract that is enforced',
    'upstream_contract_violation',
    writes(httpAnswer(200, `{"name":"${SECRET}"}`)),
    protocol,
    'GET /v1/strict',
  ),
  plays(
    'an answer too large to be checked where that is enforced',
    'upstream_contract_violation',
    writes(httpAnswer(200, JSON.stringify({ id: 'x'.repeat(1_100_000) }))),
    protocol,
    'GET /v1/strict',
  ),
  plays('500', 'upstream_error', writes(httpAnswer(500, `{"message":"${SECRET}"}`))),
  plays('500 with an HTML page', 'upstream_error', writes(httpAnswer(500, `<html>${SECRET}</html>`, htmlType))),
  { ...plays('501', 'upstream_error', writes(httpAnswer(501, SECRET))), status: 501 },
  plays('502', 'upstream_bad_response', writes(httpAnswer(502, SECRET))),
  plays('504', 'upstream_timeout', writes(httpAnswer(504, SECRET))),
  plays('503', 'upstream_unavailable', writes(httpAnswer(503, SECRET))),
  plays(
    '503 with Retry-After',
    'upstream_unavailable',
    writes(httpAnswer(503, '', { 'Retry-After': '17' })),
    (answer) => assert.equal(answer.error.retry_after, 17),
  ),
  plays(
    '503 with Retry-After as a date',
    'upstream_unavailable',
    writes(httpAnswer(503, '', { 'Retry-After': new Date(Date.now() + 30_000).toUTCString() })),
    ({ error }) => assert.ok(Number(error.retry_after) > 0 && Number(error.retry_after) <= 30),
  ),
  plays('429', 'upstream_overloaded', writes(httpAnswer(429, SECRET, { 'Retry-After': '9' })), (answer) =>
    assert.equal(answer.error.retry_after, 9),
  ),
  plays(
    '401',
    'upstream_auth_failed',
    writes(httpAnswer(401, '{}', { 'WWW-Authenticate': `Basic realm="${SECRET}"` })),
  ),
  plays('407', 'upstream_auth_failed', writes(httpAnswer(407, '{}', { 'Proxy-Authenticate': 'Basic' }))),
];

export const upstreamCases: readonly Case[] = [...connections, ...messages, ...answers];

/** On a gateway whose upstream address has no listener. */
export const unreachableCases: readonly Case[] = [
  {
    name: 'an address without a listener',
    code: 'upstream_unreachable',
    provoke: ({ call }) => call('GET /v1/things'),
    also: proxyStatus('connection_refused'),
  },
];
