// Standard output that is a file: the workers write to it by themselves, and no line is torn.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { openConnection, requestOf } from '../../support/connection.ts';
import { eventually, prepareSeveral } from './several.ts';

const executable = join(import.meta.dirname, '../../../bin/gateway');
const REQUESTS = 300;

it('both workers write whole lines to one file', async (test) => {
  const { directory, environment, authorization, close } = await prepareSeveral();
  test.after(close);
  const file = join(directory, 'output');
  const output = openSync(file, 'w');
  const gateway = spawn(executable, ['start', '--json'], {
    env: environment,
    stdio: ['ignore', output, 'inherit'],
  });
  closeSync(output);
  const port = await eventually(() => Number(/"port":(\d+)/.exec(readFileSync(file, 'utf8'))?.[1]) || undefined);
  const clients = await Promise.all(Array.from({ length: 10 }, () => openConnection(port)));
  await Promise.all(
    clients.map(async (client) => {
      for (let count = 0; count < REQUESTS / clients.length; count += 1) {
        client.send(requestOf('GET /v1/things', { Authorization: authorization }));
        assert.equal((await client.answer())?.status, 200);
      }
      client.destroy();
    }),
  );
  const ended = once(gateway, 'exit');
  gateway.kill('SIGTERM');
  await ended;
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const exchanges = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'exchange');
  assert.equal(exchanges.length, REQUESTS);
  assert.deepEqual([...new Set(exchanges.map(({ worker }) => worker))].sort(), [1, 2]);
});
