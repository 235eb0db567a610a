// Charts show no zeros for a time in which no process counted: the console marks it from the last kept count to the start.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Feed } from '../../../gateway/console/feed/feed.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';

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

test('a process that died is told from one that ended in order', async () => {
  const dataDirectory = temporaryDirectory();
  const file = join(dataDirectory, 'console-history');
  const startsAfter = async (aheadMs: number) => {
    const gateway = await startGateway({ dataDirectory, now: () => Date.now() + aheadMs });
    const { events } = (await (await fetch(`${gateway.adminUrl}/console/feed`)).json()) as Feed;
    await eventually(async () => existsSync(file));
    const whileRunning = readFileSync(file);
    await gateway.stop();
    return { whileRunning, starts: events.filter(({ kind }) => kind === 'start' || kind === 'restart') };
  };
  await startsAfter(0);
  const { whileRunning, starts } = await startsAfter(1000);
  assert.deepEqual(
    starts.map(({ text }) => text),
    ['The gateway started.', 'The gateway started.'],
  );
  // A process that is killed leaves the file as it is.
  writeFileSync(file, whileRunning);
  const again = (await startsAfter(2000)).starts.at(-1);
  assert.equal(again?.kind, 'restart');
  assert.match(
    again?.text ?? '',
    /^The gateway started again\. The process before died without a shutdown, at 2\S+Z or within a minute after it: it was killed, or crashed\.$/,
  );
});
