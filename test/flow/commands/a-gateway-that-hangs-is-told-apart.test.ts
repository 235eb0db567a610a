// A gateway that takes connections and does not answer is told apart from one that does not run, and its process is named.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { it } from 'node:test';
import { absenceText, createAdminClient } from '../../../gateway/commands/admin-client.ts';

const TOKENS = { look: undefined, act: undefined };
/** Longer than this test may take: what ends the question is that nothing says the gateway is alive. */
const PATIENCE_MS = 600_000;

it('says whether the gateway takes connections', async () => {
  const server = createServer((socket) => socket.resume().on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: adminPort } = server.address() as AddressInfo;
  const client = createAdminClient({ adminHost: '127.0.0.1', adminPort }, TOKENS, PATIENCE_MS);
  assert.equal(await client.ask('GET', '/status'), undefined);
  assert.equal(
    absenceText(client),
    `The gateway at http://127.0.0.1:${adminPort} takes connections, but does not answer: its process ${process.pid} hangs. Read the end of its log, end it with "kill -KILL ${process.pid}", and start it again.`,
  );
  server.close();
  await once(server, 'close');
  assert.equal(await client.ask('GET', '/status'), undefined);
  assert.match(absenceText(client), /^No gateway answers at .*: it does not run, /);
});

it('names the command that lets a stopped process go on', async () => {
  const serve =
    "const s = require('node:http').createServer().listen(0, '127.0.0.1', () => console.log(s.address().port))";
  const child = spawn(process.execPath, ['-e', serve], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = await once(child.stdout, 'data');
    child.kill('SIGSTOP');
    const client = createAdminClient({ adminHost: '127.0.0.1', adminPort: Number(port) }, TOKENS, PATIENCE_MS);
    assert.equal(await client.ask('GET', '/status'), undefined);
    const { pid } = child;
    assert.ok(absenceText(client).endsWith(`: its process ${pid} is stopped. "kill -CONT ${pid}" lets it go on.`));
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});
