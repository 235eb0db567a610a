// A start that takes longer than the interval at which assertion keys are read: here a stale announcement names a port that accepts
// connections and never answers, so that the sandbox is up some seconds later.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { it } from 'node:test';
import { newAssertionKey, printAssertionKeys } from '../../../gateway/config/secrets/assertion-keys.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';

it('assertion keys that change while the sandbox starts are taken, by gateway and sandbox, without an error', async (t) => {
  const directory = temporaryDirectory();
  const dataDirectory = join(directory, 'data');
  const secrets = join(directory, 'secrets-store');
  for (const one of [secrets, join(dataDirectory, 'sandbox')]) mkdirSync(one, { recursive: true });
  const [former, next] = [newAssertionKey(), newAssertionKey()];
  const file = join(secrets, 'assertion_keys');
  writeFileSync(file, printAssertionKeys([former]));
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    writeFileSync(file, printAssertionKeys([former, next]));
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  writeFileSync(
    join(dataDirectory, 'sandbox', 'sandbox.json'),
    JSON.stringify({ pid: 1, services: { platform: port, mail: port } }),
  );

  const gateway = await startGateway({ dataDirectory, environment: { SECRETS_DIR: secrets } });
  t.after(async () => {
    await gateway.stop();
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  const kidsOf = ({ keys }: { keys: { kid: string }[] }) => keys.map(({ kid }) => kid);
  const published = async () =>
    kidsOf((await (await fetch(`${gateway.url}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] });
  await eventually(async () => (await published()).length === 2);
  assert.deepEqual(
    kidsOf(JSON.parse(readFileSync(join(dataDirectory, 'sandbox', 'jwks.json'), 'utf8'))),
    await published(),
  );
  assert.deepEqual(
    gateway.logLines().filter(({ level }) => Number(level) >= 50),
    [],
  );
});
