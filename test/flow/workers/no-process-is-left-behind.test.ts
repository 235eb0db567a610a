// The end of a gateway with several workers: requests in flight are finished, and no process stays.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type Connection, openConnection, requestOf } from '../../support/connection.ts';
import type { Answer } from '../../support/upstream.ts';
import { eventually, isAlive, startSeveral } from './several.ts';

/** Its upstream answers when the test says so. */
async function startHeld(test: TestContext, drainMs: number) {
  const held = Promise.withResolvers<void>();
  const answer: Answer = async (_request, response) => {
    await held.promise;
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  };
  const several = await startSeveral({ answer, gateway: { timeouts: { drainDelayMs: 0, drainMs } } });
  test.after(several.close);
  const pids = (await several.workers()).map(({ pid }) => pid as number);
  const clients = await Promise.all([openConnection(several.port), openConnection(several.port)]);
  for (const client of clients) client.send(requestOf('GET /v1/things', { Authorization: several.authorization }));
  await eventually(() => several.upstream.requests.length === 2);
  return { several, pids, clients, letGo: held.resolve };
}

// Most of it is waiting.
describe('several workers', { concurrency: true }, () => {
  it('finish their requests on SIGTERM; the gateway ends with 0 when they have', async (test) => {
    const { several, pids, clients, letGo } = await startHeld(test, 10_000);
    const ended = several.stop();
    await eventually(async () => (await fetch(`${several.adminUrl}/readyz`)).status === 503);
    // A terminal sends its signals to every process; those of the gateway check with the one that holds them.
    for (const pid of pids) process.kill(pid, 'SIGINT');
    letGo();
    const answers = await Promise.all(clients.map((client) => client.answer()));
    assert.deepEqual(
      answers.map((answer) => answer?.status),
      [200, 200],
    );
    assert.equal(await ended, 0);
    assert.ok(!pids.some(isAlive));
    const served = several.logLines().filter(({ msg, status }) => msg === 'exchange' && status === 200);
    assert.equal(served.length, 2, 'the last lines are written');
  });

  it('end by themselves when the process that holds them is killed, also with requests in flight and with lines that have no reader', async (test) => {
    const { several, pids, letGo } = await startHeld(test, 10_000);
    const clients = await Promise.all(Array.from({ length: 8 }, () => openConnection(several.port)));
    // Refused without the upstream, which holds its answers back.
    const ask = async (client: Connection, times: number) => {
      for (let count = 0; count < times; count += 1) {
        client.send(requestOf('GET /v1/things'));
        assert.equal((await client.answer())?.status, 401);
      }
    };
    await Promise.all(clients.map((client) => ask(client, 1)));
    // Their lines have no reader any more: more of them than a pipe holds.
    several.child.kill('SIGSTOP');
    await Promise.all(clients.map((client) => ask(client, 400)));
    several.child.kill('SIGKILL');
    await eventually(() => !pids.some(isAlive));
    letGo();
  });

  it('are killed when they do not end in time', async (test) => {
    const { several, pids } = await startHeld(test, 0);
    process.kill(pids[0] as number, 'SIGSTOP');
    assert.equal(await several.stop(), 0);
    assert.ok(!pids.some(isAlive));
  });
});
