// A worker that is killed may have been handed connections that it never took: they are served by others, and it is replaced like any other.

import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, type Several, startSeveral } from './several.ts';

const CLIENTS = 12;
const KILLS = 2;
/** A client that has waited this long for an empty answer waits for ever. */
const HANGING_MS = 10_000;

let several: Several;
before(async () => {
  several = await startSeveral();
});
after(() => several.close());

type Told = 'answered' | 'broken' | 'hanging';

/** On a connection of its own. */
function get(): Promise<Told> {
  const { url, authorization } = several;
  return new Promise((resolve) => {
    const sent = request(`${url}/v1/things`, { agent: new Agent(), headers: { authorization } }, (answer) => {
      answer.resume().on('end', () => conclude(answer.statusCode === 200 ? 'answered' : 'broken'));
    });
    const overdue = setTimeout(() => {
      conclude('hanging');
      sent.destroy();
    }, HANGING_MS);
    const conclude = (told: Told) => {
      clearTimeout(overdue);
      resolve(told);
    };
    sent.on('error', () => conclude('broken')).end();
  });
}

describe('workers that are killed while connections come', () => {
  it('are replaced, and no connection is forgotten', async () => {
    const told: Record<Told, number> = { answered: 0, broken: 0, hanging: 0 };
    let over = false;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!over) told[await get()] += 1;
    });
    try {
      for (let count = 1; count <= KILLS; count += 1) {
        await sleep(200);
        const [one] = await several.workers();
        process.kill(one?.pid as number, 'SIGKILL');
        await eventually(async () => {
          const [next, other] = await several.workers();
          return next?.restarts === count && next.state === 'serving' && other?.state === 'serving';
        });
      }
    } finally {
      over = true;
    }
    await Promise.all(clients);
    assert.equal(told.hanging, 0);
    assert.ok(told.answered > KILLS * CLIENTS, `${told.answered} answered`);
    // Those that the worker had taken end with it.
    assert.ok(told.broken <= KILLS * CLIENTS, `${told.broken} broken`);
  });
});
