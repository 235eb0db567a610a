// One of three targets is killed under load, and comes back: reads and keyed writes do not notice, other writes fail only if they were
// in progress there.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDisturbances } from '../chaos/disturbances.ts';
import { type Exchange, isFailure, labelOf } from '../chaos/exchanges.ts';
import { openJournal } from '../chaos/journal.ts';
import { createJudge } from '../chaos/judge.ts';
import { runClients } from '../chaos/load.ts';
import { type Stand, startStand } from '../chaos/stand.ts';

const CLIENTS = 24;
const KILLS = 3;
const PAUSE_MS = [2, 10] as const;
const SEEN_MS = 3000;
const PATIENCE_MS = 20_000;

test('a target that is killed under load is not noticed by reads and keyed writes', async (context: TestContext) => {
  const stand = await startStand({ isRelayed: false });
  const disturbances = createDisturbances(Date.now);
  const judge = createJudge(disturbances);
  const failed: Exchange[] = [];
  const recoveredMs: number[] = [];
  let over = false;
  let sent = 0;
  const note = (exchange: Exchange) => {
    judge.note(exchange);
    sent += 1;
    if (isFailure(exchange)) failed.push(exchange);
  };
  try {
    const load = runClients(stand, { clients: CLIENTS, seed: 1, pauseMs: PAUSE_MS, note, isOver: () => over });
    await sleep(SEEN_MS);
    assert.deepEqual(failed.map(labelOf), [], 'before anything was killed');
    for (let count = 0; count < KILLS; count += 1) {
      const target = stand.targets[count % stand.targets.length];
      const kind = { name: 'target killed', breaksConnections: true, endsStreams: false, losesKeys: false };
      const disturbance = disturbances.begin(kind);
      await target?.kill();
      await sleep(SEEN_MS);
      await target?.restart();
      disturbance.endedAt = Date.now();
      recoveredMs.push(await untilAllServe(stand));
      await sleep(SEEN_MS);
      const last = Math.max(0, ...failed.map(({ endedAt }) => endedAt - disturbance.beganAt));
      context.diagnostic(
        `kill ${count + 1}: last failure ${last} ms after it; back in use ${recoveredMs.at(-1)} ms after its start`,
      );
    }
    over = true;
    await load;
    const journal = openJournal(stand.journal);
    const verdict = judge.conclude(journal.executions());
    journal.close();
    context.diagnostic(`${sent} sent; failed: ${JSON.stringify(failed.map((one) => `${one.kind} ${labelOf(one)}`))}`);

    assert.deepEqual([verdict.wrong, verdict.lost, verdict.hanging, verdict.doubled], [[], [], [], []]);
    const refused = failed.filter(({ outcome }) => outcome.kind === 'answered');
    // Without a key, or toward an upstream that does not honour it.
    const isNeverRepeated = ({ write, key, isPlain }: Exchange) =>
      write !== undefined && (key === undefined || isPlain === true);
    assert.deepEqual(refused.filter((one) => !isNeverRepeated(one)).map(labelOf), []);
    assert.ok(refused.length <= 2 * KILLS * CLIENTS, `${refused.length} writes that are never sent again were refused`);
    assert.ok(sent > 1000, `${sent} sent`);
  } finally {
    over = true;
    await stand.close();
  }
});

/** Milliseconds until every worker sends something to every target again. */
async function untilAllServe({ gateway }: Stand): Promise<number> {
  const startedAt = performance.now();
  for (; performance.now() - startedAt < PATIENCE_MS; await sleep(50)) {
    const answer = await fetch(`http://127.0.0.1:${gateway.adminPort}/metrics`);
    const text = await answer.text();
    const states = text
      .split('\n')
      .filter((line) => line.startsWith('gateway_upstream_target_up{') && line.includes('"entries"'));
    if (states.length > 0 && states.every((line) => !line.endsWith(' 0')))
      return Math.round(performance.now() - startedAt);
  }
  throw new Error(`A target that is back is not used within ${PATIENCE_MS} ms.`);
}
