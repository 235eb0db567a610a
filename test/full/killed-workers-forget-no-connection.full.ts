// Workers are killed while clients connect: each connection that one was handed is answered or closed.

import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { getOnce, type Told } from '../flow/workers/get-once.ts';
import { createHolding, eventually, startSeveral } from '../flow/workers/several.ts';
import { freePort } from '../support/free-port.ts';

const CLIENTS_OF_KILLED = 12;
const KILLS = 4;
const PAUSE_MS = 50;

const several = await startSeveral({
  answer: createHolding().answer,
  environment: { PORT: `${await freePort()}` },
});
after(() => several.close());

it('that are killed while connections come are replaced, and no connection that one was handed is forgotten', async () => {
  const restartsBefore = (await several.workers())[0]?.restarts ?? 0;
  const told: Record<Told, number> = { answered: 0, broken: 0, hanging: 0 };
  let over = false;
  const clients = Array.from({ length: CLIENTS_OF_KILLED }, async () => {
    while (!over) {
      told[await getOnce(several)] += 1;
      await sleep(PAUSE_MS);
    }
  });
  try {
    for (let count = 1; count <= KILLS; count += 1) {
      await sleep(200);
      const [one] = await several.workers();
      process.kill(one?.pid as number, 'SIGKILL');
      await eventually(async () => {
        const [next, other] = await several.workers();
        return next?.restarts === restartsBefore + count && next.state === 'serving' && other?.state === 'serving';
      });
    }
  } finally {
    over = true;
  }
  await Promise.all(clients);
  assert.equal(told.hanging, 0);
  assert.ok(told.answered > KILLS * CLIENTS_OF_KILLED, `${told.answered} answered`);
  // Those that the worker had taken end with it.
  assert.ok(told.broken <= KILLS * CLIENTS_OF_KILLED, `${told.broken} broken`);
});
