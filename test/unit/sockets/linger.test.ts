import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { endAfterLingering } from '../../../gateway/sockets/linger.ts';
import { createConnected, standStill } from '../../support/stand-still.ts';

test('bytes that came while the process stood still are read, not answered with a reset', async (t) => {
  const { near, far, close } = await createConnected();
  t.after(close);
  endAfterLingering(far);
  const ended = once(far, 'close');
  near.end(Buffer.alloc(100_000));
  standStill(1100);
  await ended;
  assert.equal(far.bytesRead, 100_000);
});
