// Twenty configurations saved and every worker replaced three times, under load with two workers: no request fails.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createDisturbances } from '../chaos/disturbances.ts';
import { type Exchange, isFailure, labelOf } from '../chaos/exchanges.ts';
import { untilTwoServe } from '../chaos/faults.ts';
import { openJournal } from '../chaos/journal.ts';
import { createJudge } from '../chaos/judge.ts';
import { runClients } from '../chaos/load.ts';
import { startStand } from '../chaos/stand.ts';

const CLIENTS = 24;
const RELOADS = 20;
const RESTARTS = 3;

test('reloads and rolling restarts under load: no request fails', async (context: TestContext) => {
  const stand = await startStand({ isRelayed: false });
  const judge = createJudge(createDisturbances(Date.now));
  const failed: string[] = [];
  let over = false;
  let sent = 0;
  const note = (exchange: Exchange) => {
    judge.note(exchange);
    sent += 1;
    if (isFailure(exchange)) failed.push(`${exchange.kind} ${labelOf(exchange)}`);
  };
  try {
    const load = runClients(stand, { clients: CLIENTS, seed: 1, pauseMs: [2, 10], note, isOver: () => over });
    for (let count = 0; count < RELOADS; count += 1) {
      const before = await stand.workers();
      stand.save('another');
      await untilTwoServe(stand, (worker) => worker.configuration !== before[0]?.configuration);
    }
    const afterReloads = sent;
    for (let count = 0; count < RESTARTS; count += 1) {
      const before = (await stand.workers()).map(({ pid }) => pid);
      stand.gateway.child.kill('SIGUSR2');
      await untilTwoServe(stand, ({ pid }) => !before.includes(pid));
    }
    over = true;
    await load;
    const journal = openJournal(stand.journal);
    const verdict = judge.conclude(journal.executions());
    journal.close();
    context.diagnostic(
      `${afterReloads} requests during ${RELOADS} reloads, ${sent - afterReloads} during ${RESTARTS} restarts`,
    );
    assert.deepEqual(failed, []);
    assert.deepEqual([verdict.wrong, verdict.lost, verdict.hanging, verdict.doubled], [[], [], [], []]);
    assert.ok(sent > 1000, `${sent} sent`);
  } finally {
    over = true;
    await stand.close();
  }
});
