// Charts show no zeros for a time in which no process counted: the console marks it from the last kept count to the start.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Feed } from '../../../gateway/console/feed/feed.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startGateway } from '../../support/gateway.ts';

test('the time between two processes is marked as not counted, from fifteen seconds on', async () => {
  const dataDirectory = temporaryDirectory();
  const marksAfter = async (aheadMs: number) => {
    const gateway = await startGateway({ dataDirectory, now: () => Date.now() + aheadMs });
    const { events } = (await (await fetch(`${gateway.adminUrl}/console/feed`)).json()) as Feed;
    await gateway.stop();
    return events.filter(({ kind }) => kind === 'uncounted');
  };
  assert.deepEqual(await marksAfter(0), []);
  assert.deepEqual(await marksAfter(5000), []);
  const [mark, ...others] = await marksAfter(65_000);
  assert.deepEqual(others, []);
  const lengthMs = Date.parse(mark?.until ?? '') - Date.parse(mark?.at ?? '');
  assert.ok(lengthMs >= 59_000, String(lengthMs));
  assert.match(mark?.text ?? '', /^Not counted/);
});
