// JMAP over WebSocket at the sandbox mail server, with a client that decides about the spelling of everything it sends.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { ADMINISTRATOR, basic, mailFor } from './support/mail.ts';
import { HANDSHAKE, maskedFrame, openWebSocket } from './support/web-socket.ts';

const server = await mailFor({ after });
const [TEXT, BINARY, CLOSE, PING, PONG] = [1, 2, 8, 9, 10];
const authorized = { ...HANDSHAKE, Authorization: ADMINISTRATOR };
const open = (port = server.port) => openWebSocket(port, authorized);
const codeOf = (payload: Buffer) => payload.readUInt16BE(0);

test('the handshake is accepted, and the subprotocol answered though the client did not ask for one', async () => {
  const { head, socket } = await open();
  assert.match(head, /^HTTP\/1\.1 101 /);
  assert.match(head, /\r\nConnection: Upgrade\r\n/);
  assert.match(head, /\r\nUpgrade: websocket\r\n/);
  assert.match(head, /Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/);
  assert.match(head, /Sec-WebSocket-Protocol: jmap/);
  socket.destroy();
});

const refused: readonly (readonly [what: string, headers: Readonly<Record<string, string>>])[] = [
  ['Connection: upgrade', { Connection: 'upgrade' }],
  ['Connection: keep-alive, Upgrade', { Connection: 'keep-alive, Upgrade' }],
  ['Upgrade: WebSocket', { Upgrade: 'WebSocket' }],
  ['another version', { 'Sec-WebSocket-Version': '8' }],
];

for (const [what, headers] of refused) {
  test(`${what} is a 400 problem`, async () => {
    const { head, socket } = await openWebSocket(server.port, { ...authorized, ...headers });
    assert.match(head, /^HTTP\/1\.1 400 /);
    assert.match(head, /application\/problem\+json/);
    socket.destroy();
  });
}

test('credentials are required first, with the challenges', async () => {
  for (const headers of [HANDSHAKE, { ...HANDSHAKE, Authorization: basic('admin', 'x') }, { Connection: 'Upgrade' }]) {
    const { head, socket } = await openWebSocket(server.port, headers);
    assert.match(head, /^HTTP\/1\.1 401 /);
    assert.match(head, /WWW-Authenticate: Bearer/i);
    socket.destroy();
  }
});

test('an upgrade anywhere else is a request like any other', async () => {
  const { head, socket } = await openWebSocket(server.port, authorized, '/api/principal/nobody');
  assert.match(head, /^HTTP\/1\.1 200 /);
  socket.destroy();
});

test('a JMAP request is answered, and one that cannot be is an error with the same identifier', async () => {
  const client = await open();
  const request = { '@type': 'Request', id: 'r1', using: ['urn:ietf:params:jmap:core'] };
  client.send(TEXT, JSON.stringify({ ...request, methodCalls: [['Core/echo', { a: 1 }, 'c']] }));
  const response = JSON.parse(String((await client.next()).payload));
  assert.deepEqual(
    [response['@type'], response.requestId, response.methodResponses],
    ['Response', 'r1', [['Core/echo', { a: 1 }, 'c']]],
  );
  client.send(TEXT, JSON.stringify(request));
  const error = JSON.parse(String((await client.next()).payload));
  assert.deepEqual([error['@type'], error.requestId, error.status], ['RequestError', 'r1', 400]);
  client.socket.destroy();
});

test('any other message comes back as it was sent, short, long, in pieces or binary', async () => {
  const client = await open();
  for (const size of [0, 1, 125, 126, 65_535, 65_536, 300_000]) {
    client.send(TEXT, 'x'.repeat(size));
    const { opcode, payload } = await client.next();
    assert.deepEqual([opcode, payload.length], [TEXT, size]);
  }
  client.send(BINARY, Buffer.from([0, 255]));
  assert.deepEqual((await client.next()).payload, Buffer.from([0, 255]));
  client.send(TEXT, 'one ', false);
  client.send(PING, 'between');
  client.send(0, 'two');
  assert.deepEqual(
    [String((await client.next()).payload), String((await client.next()).payload)],
    ['between', 'one two'],
  );
  client.socket.destroy();
});

test('frames that come byte by byte, or several at once, are the same', async () => {
  const client = await open();
  const frames = Buffer.concat([maskedFrame(TEXT, Buffer.from('first')), maskedFrame(PING, Buffer.from('p'))]);
  for (const byte of frames) client.socket.write(Buffer.from([byte]));
  assert.equal(String((await client.next()).payload), 'first');
  assert.equal((await client.next()).opcode, PONG);
  client.socket.write(Buffer.concat([frames, frames]));
  const opcodes = [];
  for (let count = 0; count < 4; count += 1) opcodes.push((await client.next()).opcode);
  assert.deepEqual(opcodes, [TEXT, PONG, TEXT, PONG]);
  client.socket.destroy();
});

test('a close comes back with its code, and the connection ends', async () => {
  const client = await open();
  client.send(CLOSE, Buffer.from([0x0f, 0xa1, 0x62]));
  const { opcode, payload } = await client.next();
  assert.deepEqual([opcode, codeOf(payload)], [CLOSE, 4001]);
  await once(client.socket, 'close');
});

const faults: readonly (readonly [what: string, bytes: Buffer, code: number])[] = [
  ['a frame without a mask', Buffer.from([0x81, 0x01, 0x61]), 1002],
  ['a reserved bit', maskedFrame(0x41, Buffer.from('x')), 1002],
  ['an undefined opcode', maskedFrame(3, Buffer.from('x')), 1002],
  ['a control frame in pieces', maskedFrame(9, Buffer.from('x'), false), 1002],
  ['a control frame that is long', maskedFrame(9, Buffer.alloc(126)), 1002],
  ['a continuation of nothing', maskedFrame(0, Buffer.from('x')), 1002],
  [
    'a message that begins within another',
    Buffer.concat([maskedFrame(1, Buffer.from('a'), false), maskedFrame(1, Buffer.from('b'))]),
    1002,
  ],
  ['a message over 10,000,000 bytes', maskedFrame(1, Buffer.alloc(10_000_001)).subarray(0, 14), 1009],
];

for (const [what, bytes, code] of faults) {
  test(`${what} is closed with ${code}`, async () => {
    const client = await open();
    client.socket.write(bytes);
    const { opcode, payload } = await client.next();
    assert.deepEqual([opcode, codeOf(payload)], [CLOSE, code]);
    client.socket.destroy();
  });
}

test('the server sends a heartbeat every minute, and closes a connection that is silent for ten', async (context) => {
  const quick = await mailFor(context, { secondMs: 1 });
  const client = await open(quick.port);
  let heartbeats = 0;
  for (;;) {
    const { opcode, payload } = await client.next();
    if (opcode === CLOSE) {
      assert.equal(codeOf(payload), 1001);
      break;
    }
    assert.equal(opcode, PING);
    heartbeats += 1;
  }
  assert.ok(heartbeats >= 1 && heartbeats <= 10, String(heartbeats));
});

test('changes of the account are pushed, and those of another are not', async () => {
  await server.create({ name: 'other' });
  const client = await open();
  server.mail.push('other', 'Email');
  server.mail.push('admin', 'Email');
  const { changed } = JSON.parse(String((await client.next()).payload));
  assert.deepEqual(Object.keys(changed), ['u0']);
  client.socket.destroy();
});

test('a server that ends sends the close code 1001', async (context) => {
  const ending = await mailFor(context);
  const client = await open(ending.port);
  const closed = ending.mail.close();
  const { opcode, payload } = await client.next();
  assert.deepEqual([opcode, codeOf(payload)], [CLOSE, 1001]);
  await closed;
});
