// A process that stands still for longer than a deadline finds the timer expired and the bytes in the socket: they came in time.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startDeadline } from '../../../gateway/shared/deadline.ts';
import { until } from '../../support/connection.ts';
import { createConnected, standStill } from '../../support/stand-still.ts';

const MS = 50;

describe('a deadline', () => {
  it('expires once', async () => {
    let times = 0;
    startDeadline(1, () => (times += 1));
    await until(() => times === 1);
    await pause(10);
    assert.equal(times, 1);
  });

  it('does not expire once it is stopped', async () => {
    let times = 0;
    const deadline = startDeadline(5, () => (times += 1));
    deadline.stop();
    await pause(20);
    assert.equal(times, 0);
  });

  it('begins anew when it is restarted, also from its own call', async () => {
    let times = 0;
    const deadline = startDeadline(1, () => {
      times += 1;
      if (times < 3) deadline.restart();
    });
    await until(() => times === 3);
  });

  for (const does of ['restart', 'stop'] as const) {
    it(`has not expired for bytes that came while the process stood still, which ${does} it`, async () => {
      const { near, far, close } = await createConnected();
      let times = 0;
      let bytes = 0;
      const deadline = startDeadline(MS, () => (times += 1));
      near.on('data', (chunk) => {
        bytes += chunk.length;
        deadline[does]();
      });
      far.write('x');
      standStill(3 * MS);
      await until(() => bytes === 1);
      assert.equal(times, 0);
      deadline.stop();
      close();
    });
  }
});
