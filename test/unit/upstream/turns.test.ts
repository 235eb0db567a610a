import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTurns } from '../../../gateway/upstream/rules/requests/turns.ts';

const never = new AbortController().signal;

describe('turns', () => {
  it('come in the order of the calls, one at a time for a name', async () => {
    const turns = createTurns();
    const order: number[] = [];
    let holding = 0;
    const work = Array.from({ length: 5 }, async (_, number) => {
      const turn = turns.turnOf('a');
      await turn.enter(never);
      assert.equal(holding, 0);
      holding += 1;
      await new Promise(setImmediate);
      order.push(number);
      holding -= 1;
      turn.leave();
    });
    const other = turns.turnOf('b');
    await other.enter(never);
    assert.deepEqual(order, []);
    await Promise.all(work);
    assert.deepEqual(order, [0, 1, 2, 3, 4]);
  });

  it('are passed on once, however often and whenever a holder leaves', async () => {
    const turns = createTurns();
    const [first, second, third] = [turns.turnOf('a'), turns.turnOf('a'), turns.turnOf('a')];
    first.leave();
    const again = turns.turnOf('a');
    await again.enter(never);
    const entered: string[] = [];
    const waiting = [second, third].map((turn, index) => turn.enter(never).then(() => entered.push(String(index))));
    again.leave();
    again.leave();
    await waiting[0];
    await new Promise(setImmediate);
    assert.deepEqual(entered, ['0']);
    second.leave();
    await waiting[1];
    third.leave();
    await turns.turnOf('a').enter(never);
  });

  it('are given up when the signal says so, or by leaving', async () => {
    const turns = createTurns();
    const holder = turns.turnOf('a');
    await holder.enter(never);
    const abort = new AbortController();
    const [gone, left, last] = [turns.turnOf('a'), turns.turnOf('a'), turns.turnOf('a')];
    const waits = [gone.enter(abort.signal), left.enter(never)];
    const lasts = last.enter(never);
    abort.abort(new Error('gone'));
    left.leave();
    await assert.rejects(waits[0] as Promise<void>, /gone/);
    await assert.rejects(waits[1] as Promise<void>);
    await assert.rejects(turns.turnOf('a').enter(abort.signal), /gone/);
    gone.leave();
    holder.leave();
    await lasts;
  });
});
