// The edge of the service: paths, methods, bodies that are no JSON, callers that leave, and faults.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { assertionOf, create, platformForFile, send } from './support/platform.ts';

const platform = await platformForFile();
const call = await platform.as('org_one');
const port = Number(new URL(platform.url).port);
const token = await assertionOf({}, platform.clock.nowMs).sign(platform.key.privateKey);

test('paths that lead nowhere are 404 route_not_found', async () => {
  for (const path of [
    '/',
    '/v1',
    '/v1/',
    '/v1/cars',
    '/v2/jobs',
    '/v1/jobs/',
    '/v1/jobs/x/y',
    '/V1/jobs',
    '//v1/jobs',
    '/v1/constructor',
  ]) {
    const reply = await call('GET', path);
    assert.deepEqual([reply.status, reply.body.error.code], [404, 'route_not_found'], path);
  }
});

test('an identifier that cannot be one is 404 resource_missing', async () => {
  for (const id of ['x', '%', '%E0%A4%A', 'job_1%2F2', "cus_'%20OR%201=1", 'a'.repeat(2000)]) {
    const reply = await call('GET', `/v1/jobs/${id}`);
    assert.deepEqual([reply.status, reply.body.error.code], [404, 'resource_missing'], id);
  }
});

test('a method that a path does not have is 405 with Allow', async () => {
  const cases = [
    ['PUT', '/v1/jobs', 'GET, HEAD, POST'],
    ['DELETE', '/v1/jobs', 'GET, HEAD, POST'],
    ['POST', '/v1/jobs/job_1', 'GET, HEAD, PATCH, DELETE'],
    ['GET', '/_sandbox/seed', 'POST'],
  ] as const;
  for (const [method, path, allow] of cases) {
    const reply = await call(method, path);
    assert.deepEqual([reply.status, reply.headers.get('allow')], [405, allow], `${method} ${path}`);
  }
});

test('HEAD has the head of GET and no body', async () => {
  const { id } = await create(call, 'guests', { name: 'G' });
  for (const path of ['/v1/guests', `/v1/guests/${id}`]) {
    const [head, get] = [await call('HEAD', path), await call('GET', path)];
    assert.deepEqual([head.status, head.body], [200, undefined]);
    assert.equal(head.headers.get('content-length'), get.headers.get('content-length'));
  }
});

const bodies: readonly (readonly [what: string, body: string | Buffer, code: string])[] = [
  ['no body', '', 'body_missing'],
  ['text that is no JSON', '{"name":', 'malformed_json'],
  ['two JSON texts', '{"name":"A"}{"name":"B"}', 'malformed_json'],
  ['bytes that are no UTF-8', Buffer.from('7b226e616d65223a22ff227d', 'hex'), 'malformed_json'],
  ['an array', '[]', 'validation_failed'],
  ['null', 'null', 'validation_failed'],
  ['a member of the wrong type', '{"name":1}', 'validation_failed'],
  ['a text with NUL', '{"name":"a\\u0000b"}', 'validation_failed'],
  ['a lone surrogate', '{"name":"\\ud800"}', 'validation_failed'],
  [
    'preferences nested too deeply',
    `{"name":"G","preferences":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`,
    'validation_failed',
  ],
];

for (const [what, body, code] of bodies) {
  test(`${what} as a body is 400 ${code}`, async () => {
    const response = await fetch(`${platform.url}/v1/guests`, {
      method: 'POST',
      headers: { 'x-gateway-assertion': token },
      ...(body === '' ? {} : { body }),
    });
    const { error } = (await response.json()) as { error: { code: string; status: number } };
    assert.deepEqual([response.status, error.code, error.status], [400, code, 400]);
  });
}

test('every violation is listed with its place, at most 20 of them', async () => {
  const line_items = [{ description: '', quantity: 0, unit_amount: 1.5, color: 'red' }];
  const { error } = (await call('POST', '/v1/invoices', { body: { line_items, currency: 'EUR' } })).body;
  const found = error.errors.map(({ pointer, param, code }: Record<string, string>) => `${pointer} ${param} ${code}`);
  assert.deepEqual(found.sort(), [
    '/currency currency pattern_mismatch',
    '/customer_id customer_id required',
    '/line_items/0/color line_items[0].color unknown',
    '/line_items/0/description line_items[0].description too_short',
    '/line_items/0/quantity line_items[0].quantity too_small',
    '/line_items/0/unit_amount line_items[0].unit_amount wrong_type',
  ]);
  const strangers = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`x${index}`, 1]));
  const many = (await call('POST', '/v1/guests', { body: strangers })).body.error;
  assert.deepEqual([many.errors.length, many.truncated], [20, true]);
});

test('a body over 1 MiB is 413, whether its length is announced or not', async () => {
  const body = JSON.stringify({ name: 'x'.repeat(1_048_577) });
  assert.equal((await send(platform.url, token, 'POST', '/v1/guests', { body })).status, 413);
  const request = httpRequest({ port, method: 'POST', path: '/v1/guests', headers: { 'x-gateway-assertion': token } });
  request.on('error', () => {});
  request.write(body.slice(0, 700_000));
  request.end(body.slice(700_000));
  const [response] = await once(request, 'response');
  assert.equal(response.statusCode, 413);
  response.resume();
});

test('a caller that leaves in the middle of a body leaves nothing behind', async () => {
  const before = (await call('GET', '/v1/guests?limit=100')).body.data.length;
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    `POST /v1/guests HTTP/1.1\r\nHost: x\r\nX-Gateway-Assertion: ${token}\r\nContent-Length: 100\r\n\r\n{"name":`,
  );
  await call('GET', '/v1/guests');
  socket.destroy();
  await once(socket, 'close');
  assert.equal((await call('GET', '/v1/guests?limit=100')).body.data.length, before);
});

test('a message that is no HTTP is answered with the error object', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.end('NOT HTTP\r\n\r\n');
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  assert.match(answer, /^HTTP\/1\.1 400 /);
  assert.equal(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).error.code, 'malformed_http');
});
