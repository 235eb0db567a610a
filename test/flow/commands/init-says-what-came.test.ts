// init says what a service has sent in place of its OpenAPI document: status, media type and first line.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { runInProcess } from '../../support/in-process.ts';

const ANSWERS: Readonly<Record<string, readonly [status: number, type: string, body: string]>> = {
  '/page/openapi.json': [200, 'text/html', '<!doctype html>\n<title>Sign in</title>'],
  '/failing/openapi.json': [500, 'application/json', '{"error":"boom"}'],
  '/health/openapi.json': [200, 'application/json', '{"status":"ok"}'],
  '/empty/openapi.json': [200, 'application/json', ''],
  '/text/openapi.json': [200, 'text/plain', 'Starting: not ready: yet\nPlease wait'],
  '/cut/openapi.json': [200, 'application/json', '{"openapi":"3.1.1","info":{"title":"Items"'],
};

const service = createServer(({ url = '' }, response) => {
  const [status, type, body] = ANSWERS[url] ?? [404, 'text/plain', 'Not found'];
  response.writeHead(status, { 'content-type': type }).end(body);
}).listen(0, '127.0.0.1');
await once(service, 'listening');
const origin = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
after(() => void service.close());

const said = async (path: string) =>
  (await runInProcess(['init', '/no/where', '--from', origin + path], { environment: {} })).stderr;

for (const [path, came] of [
  ['/page', 'status 200, text/html, "<!doctype html>"'],
  ['/failing', 'status 500, application/json, "{\\"error\\":\\"boom\\"}"'],
  ['/health', 'status 200, application/json, "{\\"status\\":\\"ok\\"}"'],
  ['/empty', 'status 200, application/json, without content'],
  ['/text', 'status 200, text/plain, "Starting: not ready: yet"'],
] as const)
  test(`${came}, at the address itself and below the address of the service`, async () => {
    const given = await said(`${path}/openapi.json`);
    assert.ok(given.startsWith(`gateway: ${origin}${path}/openapi.json has no OpenAPI document (${came}), and`), given);
    const below = await said(path);
    assert.ok(below.startsWith(`gateway: ${origin}${path} has no OpenAPI document (status 404,`), below);
    assert.ok(below.includes(` ${path}/openapi.json gives ${came}. Give the URL of the document.`), below);
  });

test('a document that is cut off is named with its URL, at the address itself and below the address of the service', async () => {
  const cut = `gateway: ${origin}/cut/openapi.json:1:27: the bracket { is not closed.`;
  for (const path of ['/cut/openapi.json', '/cut']) {
    const text = await said(path);
    assert.ok(text.startsWith(cut), text);
  }
});
