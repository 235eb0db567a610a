// The process may open few files: a start warns of it, connections beyond are refused and told, and a reload that finds no descriptor
// blames no file, and succeeds when descriptors are free again.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { it } from 'node:test';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { freePort } from '../../support/free-port.ts';
import { createInstallation, executable } from '../../support/process.ts';
import { thingsAt } from '../../support/things.ts';
import { eventually as until } from '../workers/several.ts';

const FILES = 150;

it('is reported as a lack of descriptors, and ends no process', async (test) => {
  const directory = temporaryDirectory();
  const installation = createInstallation({
    ...environmentOf(directory),
    PORT: `${await freePort()}`,
  });
  const options = thingsAt('http://127.0.0.1:9');
  writeConfiguration(directory, options);
  const { environment } = installation;
  const child = spawn('sh', ['-c', `ulimit -n ${FILES}; exec "$0" start`, executable], { env: environment });
  let log = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    log += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  test.after(() => {
    child.kill('SIGKILL');
    installation.remove();
  });
  await until(() => errors.includes('health'));
  await until(() => log.includes(`The limit is ${FILES} per process`));

  const port = Number(environment.PORT);
  const clients = await Promise.all(
    Array.from({ length: 2 * FILES }, async () => {
      const socket: Socket = connect(port, '127.0.0.1').on('error', () => undefined);
      await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
      return socket;
    }),
  );
  writeConfiguration(directory, { ...options, limits: { tiers: { standard: { requests: 1 } } } });
  await until(() => log.includes('the configuration could not be read'));
  assert.match(log, /no file descriptor is left/);
  assert.doesNotMatch(log, /has mistakes/);
  await until(() => log.includes('no file descriptor is left: new connections are closed at once'));
  for (const socket of clients) socket.destroy();
  await until(() => log.includes('file descriptors are free again'));
  await until(() => log.includes('the configuration was loaded anew'));
  assert.equal((await ask(port, requestOf('GET /v1/nothing'))).status, 404);
  assert.equal(child.exitCode, null);
});
