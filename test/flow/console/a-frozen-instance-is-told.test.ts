// An instance that is frozen is named with the time up to which it is counted, and its figures are complete again when it goes on.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Feed } from '../../../gateway/console/feed/feed.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { eventually } from '../../support/instances.ts';
import { apartAt, startRedis } from '../../support/redis.ts';
import { startUpstream } from '../../support/upstream.ts';
import { installGateway } from '../replay/installed.ts';
import { newKey } from '../replay/keyed.ts';

interface Answer extends Feed {
  readonly ended: readonly { readonly instance: string; readonly until: string }[];
}

const start = closesAfterEach();

it('counts what it has stored, and everything when it goes on', async (t) => {
  const redis = await start(startRedis());
  const upstream = await start(
    startUpstream((_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":"one"}');
    }),
  );
  const installed = await start(installGateway(upstream.url, apartAt(redis.url), {}));
  const [frozen, other] = await Promise.all([start(installed.start()), start(installed.startAnother())]);
  const feed = async () => (await (await fetch(`${other.adminUrl}/console/feed?instance=all`)).json()) as Answer;
  const requests = async () => (await feed()).history?.all.total.requests ?? 0;
  await eventually(async () => (await feed()).statuses.length === 2);
  for (const { port } of [frozen, frozen, frozen, other])
    assert.equal((await installed.post(port, newKey())).status, 201);
  await eventually(async () => (await requests()) === 4);
  frozen.child.kill('SIGSTOP');
  t.after(() => frozen.child.kill('SIGCONT'));
  await eventually(async () => (await feed()).attention.length === 1);
  const { attention, ended, statuses, history } = await feed();
  const [cause] = attention;
  assert.match(cause?.cause ?? '', /^Instance \S+:process \d+ does not respond\.$/);
  assert.match(cause?.consequence ?? '', /runs, so it hangs or is stopped\. Its latest requests are not among these/);
  assert.equal(statuses.length, 1);
  // The figures may end before the instance was last heard of, because it stores them once per slot.
  assert.ok((ended[0]?.until ?? '') <= (cause?.since ?? ''), JSON.stringify({ ended, since: cause?.since }));
  assert.ok([1, 4].includes(history?.all.total.requests ?? 0), String(history?.all.total.requests));
  frozen.child.kill('SIGCONT');
  await eventually(async () => (await feed()).statuses.length === 2);
  assert.equal(await requests(), 4);
  assert.deepEqual((await feed()).ended, []);
});
