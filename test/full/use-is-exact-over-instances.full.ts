// Three gateways on one Redis under load, of which one after the other is killed and started again, while the Redis restarts, too: no
// request is counted twice, and those that are missing had ended within the last seconds of an instance that was killed.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { closesAfterAll } from '../support/closing.ts';
import { environmentOf, writeConfiguration } from '../support/configuration.ts';
import { openConnection, requestOf } from '../support/connection.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { freePort } from '../support/free-port.ts';
import { issueKeyIn } from '../support/gateway.ts';
import { runInProcess } from '../support/in-process.ts';
import { createInstallation, type Running } from '../support/process.ts';
import { startServer } from '../support/redis.ts';
import { thingsAt } from '../support/things.ts';
import { startUpstream } from '../support/upstream.ts';

const start = closesAfterAll();
const KILLS = Number(process.env.USAGE_KILLS ?? 6);
const CLIENTS = 4;
/** The longest time between two flushes, and what one takes on a busy machine. */
const UNWRITTEN_MS = 9000;

interface Instance {
  readonly port: number;
  running: Running;
  /** Kept from sending while there is no process. */
  isUp: boolean;
  sent: number;
  /** `Date.now()` of each answer. */
  readonly answeredAt: number[];
}

it('kills lose the last seconds of an instance and nothing else, and no request is counted twice', async () => {
  const directory = temporaryDirectory();
  // It keeps its data over a restart.
  const redis = await start(startServer('--appendonly', 'yes', '--appendfsync', 'always', '--dir', directory));
  const upstream = await start(
    startUpstream((_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}')),
  );
  writeConfiguration(directory, thingsAt(upstream.url));
  const shared = { ...environmentOf(directory), REDIS_URL: redis.url };
  const installations = await Promise.all(
    [0, 1, 2].map(async () => {
      const port = await freePort();
      return { port, installation: createInstallation({ ...shared, PORT: String(port) }) };
    }),
  );
  const { environment } = (installations[0] as (typeof installations)[number]).installation;
  const { key, id } = await issueKeyIn(environment);
  const instances: Instance[] = [];
  for (const { port, installation } of installations)
    instances.push({ port, running: await installation.start(), isUp: true, sent: 0, answeredAt: [] });

  let isOver = false;
  async function load(instance: Instance): Promise<void> {
    while (!isOver) {
      if (!instance.isUp) {
        await sleep(20);
        continue;
      }
      const connection = await openConnection(instance.port).catch(() => undefined);
      while (connection !== undefined && !isOver && instance.isUp) {
        instance.sent += 1;
        connection.send(requestOf('GET /v1/things', { Authorization: `Bearer ${key}` }));
        const answer = await connection.answer().catch(() => undefined);
        if (answer?.status !== 200) break;
        instance.answeredAt.push(Date.now());
        await sleep(2);
      }
      connection?.destroy();
    }
  }
  const loads = instances.flatMap((instance) => Array.from({ length: CLIENTS }, () => load(instance)));

  let mayBeLost = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(1000 + Math.random() * 9000);
    const at = kill % 3;
    const instance = instances[at] as Instance;
    const killedAt = Date.now();
    instance.running.child.kill('SIGKILL');
    await sleep(200);
    instance.isUp = false;
    mayBeLost += instance.answeredAt.filter((answeredAt) => answeredAt > killedAt - UNWRITTEN_MS).length;
    if (kill % 3 === 1) {
      await redis.kill();
      await sleep(1500);
      await redis.restart();
    }
    instance.running = await (installations[at] as (typeof installations)[number]).installation.start();
    instance.isUp = true;
  }
  isOver = true;
  await Promise.all(loads);
  for (const { running } of instances) assert.equal(await running.stop(), 0);

  const { stdout, stderr } = await runInProcess(
    ['usage', '--org', 'org_test', '--by', 'month', '--key', id, '--json'],
    {
      environment,
    },
  );
  const counted = (JSON.parse(stdout || stderr) as { data: { requests: number }[] }).data.reduce(
    (sum, { requests }) => sum + requests,
    0,
  );
  const sent = instances.reduce((sum, one) => sum + one.sent, 0);
  const answered = instances.reduce((sum, { answeredAt }) => sum + answeredAt.length, 0);
  const told = `sent ${sent}, answered ${answered}, counted ${counted}, at most ${mayBeLost} lost`;
  assert.ok(counted <= sent, told);
  assert.ok(counted >= answered - mayBeLost, told);
  assert.ok(answered > 500 && counted > mayBeLost / 2, told);
  console.log(told);
  for (const { installation } of installations) installation.remove();
});
