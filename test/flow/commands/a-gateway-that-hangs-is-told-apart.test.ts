// A gateway that takes connections and does not answer is told apart from one that does not run.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { it } from 'node:test';
import { absenceText, createAdminClient } from '../../../gateway/commands/admin-client.ts';

const TOKENS = { look: undefined, act: undefined };
const PATIENCE_MS = 200;

it('says whether the gateway takes connections', async () => {
  const server = createServer((socket) => socket.resume().on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: adminPort } = server.address() as AddressInfo;
  const client = createAdminClient({ adminHost: '127.0.0.1', adminPort }, TOKENS, PATIENCE_MS);
  assert.equal(await client.ask('GET', '/status'), undefined);
  assert.equal(
    absenceText(client),
    `The gateway at http://127.0.0.1:${adminPort} takes connections, but does not answer: its process hangs, or is stopped.`,
  );
  server.close();
  await once(server, 'close');
  assert.equal(await client.ask('GET', '/status'), undefined);
  assert.match(absenceText(client), /^No gateway answers at .*: it does not run, /);
});
