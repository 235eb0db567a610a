// The file service of the sandbox by itself: uploads, ranges, conditions, events that are resumed, a WebSocket, and the ownership of files.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { WebSocket } from 'ws';
import { createFileService } from '../../sandbox/files/server.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { assertionOf, createGatewayKey, ISSUER } from './support/platform.ts';

const directory = temporaryDirectory();
const key = await createGatewayKey();
const faults: unknown[] = [];
const service = createFileService({
  directory,
  trusted: () => key.jwks,
  issuer: ISSUER,
  onFault: (error) => faults.push(error),
});
await new Promise<void>((resolve) => service.server.listen(0, '127.0.0.1', resolve));
const host = `127.0.0.1:${(service.server.address() as AddressInfo).port}`;

after(async () => {
  await service.close();
  assert.deepEqual(faults, []);
});

async function headersOf(org: string): Promise<Record<string, string>> {
  return { 'x-gateway-assertion': await assertionOf({ org }).setAudience('files').sign(key.privateKey) };
}

async function call(org: string, method: string, path: string, headers = {}, body?: Buffer): Promise<Response> {
  return fetch(`http://${host}${path}`, {
    method,
    headers: { ...(await headersOf(org)), ...headers },
    ...(body && { body }),
  });
}

test('an upload is downloaded whole, in parts, and not again while it is the same', async () => {
  const content = Buffer.from(Array.from({ length: 5000 }, (_, index) => index % 251));
  const saved = await call('org_a', 'PUT', '/v1/files/a.bin', {}, content);
  assert.equal(saved.status, 200);
  assert.equal(((await saved.json()) as { size: number }).size, 5000);

  const whole = await call('org_a', 'GET', '/v1/files/a.bin');
  assert.deepEqual(Buffer.from(await whole.arrayBuffer()), content);
  const etag = whole.headers.get('etag') ?? '';

  const rest = await call('org_a', 'GET', '/v1/files/a.bin', { range: 'bytes=4000-', 'if-range': etag });
  assert.deepEqual([rest.status, rest.headers.get('content-range')], [206, 'bytes 4000-4999/5000']);
  assert.deepEqual(Buffer.from(await rest.arrayBuffer()), content.subarray(4000));
  const changed = await call('org_a', 'GET', '/v1/files/a.bin', { range: 'bytes=4000-', 'if-range': '"other"' });
  assert.equal(changed.status, 200);
  const outside = await call('org_a', 'GET', '/v1/files/a.bin', { range: 'bytes=5000-' });
  assert.deepEqual([outside.status, outside.headers.get('content-range')], [416, 'bytes */5000']);
  assert.equal((await call('org_a', 'GET', '/v1/files/a.bin', { 'if-none-match': etag })).status, 304);
});

test('files belong to one organization and mode, and each begins with files to try', async () => {
  await call('org_a', 'PUT', '/v1/files/own.txt', {}, Buffer.from('mine'));
  assert.equal((await call('org_b', 'GET', '/v1/files/own.txt')).status, 404);
  const list = (await (await call('org_b', 'GET', '/v1/files')).json()) as { data: { name: string }[] };
  assert.deepEqual(
    list.data.map(({ name }) => name),
    ['numbers.txt', 'welcome.txt'],
  );
  assert.equal((await fetch(`http://${host}/v1/files`)).status, 401);
});

test('names lead to no other place', async () => {
  for (const name of ['..', '.hidden', 'a%2Fb', '..%2f..%2fjwks.json', 'a/b'])
    assert.equal((await call('org_a', 'GET', `/v1/files/${name}`)).status, 404, name);
});

test('a client that comes back receives the events since the last one that it got', async () => {
  await call('org_c', 'PUT', '/v1/files/one', {}, Buffer.from('1'));
  await call('org_c', 'PUT', '/v1/files/two', {}, Buffer.from('2'));
  const all = await eventsOf('0', 2);
  const [first = ''] = all.match(/id: (\d+)/)?.slice(1) ?? [];
  assert.match(all, /event: file\.saved\ndata: \{"name":"one"/);
  const since = await eventsOf(first, 1);
  assert.match(since, /"name":"two"/);
  assert.doesNotMatch(since, /"name":"one"/);
});

async function eventsOf(lastId: string, count: number): Promise<string> {
  const stream = await call('org_c', 'GET', '/v1/file-events', { 'last-event-id': lastId });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if ((text.match(/^data: /gm) ?? []).length >= count) break;
  }
  return text;
}

test('a WebSocket returns messages and reports changes', async () => {
  const socket = new WebSocket(`ws://${host}/v1/file-socket`, { headers: await headersOf('org_d') });
  await once(socket, 'open');
  socket.send('hello');
  assert.equal(String((await once(socket, 'message'))[0]), 'hello');
  const told = once(socket, 'message');
  await call('org_d', 'PUT', '/v1/files/seen', {}, Buffer.from('1'));
  assert.equal(JSON.parse(String((await told)[0])).name, 'seen');
  socket.close();
  await once(socket, 'close');

  const stranger = new WebSocket(`ws://${host}/v1/file-socket`);
  const [error] = await once(stranger, 'error');
  assert.match(String(error), /401/);
});
