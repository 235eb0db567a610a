// A service that takes requests and never answers is named before the first of them ends.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { closesAfterAll } from '../../support/closing.ts';
import { startGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';
import { startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';

const start = closesAfterAll();

interface Feed {
  readonly attention: readonly { readonly id: string; readonly kind: string; readonly cause: string }[];
}

it('a service that does not answer is named while its requests wait', async () => {
  const upstream = await start(startScriptedUpstream());
  let offsetMs = 0;
  const gateway = await start(
    startGateway({ ...thingsAt(upstream.url, { timeoutMs: 30_000 }), now: () => Date.now() + offsetMs }),
  );
  const { authorization } = await gateway.authorize();
  const leaving = new AbortController();
  const send = (path: string, signal?: AbortSignal) =>
    fetch(gateway.url + path, { headers: { authorization }, ...(signal && { signal }) });
  const feed = async () => (await (await fetch(`${gateway.adminUrl}/console/feed`)).json()) as Feed;

  // What was usual in the hour before the last minute.
  for (let sent = 0; sent < 20; sent += 1) await (await send('/v1/things')).arrayBuffer();
  await feed();
  offsetMs = 120_000;
  await feed();

  upstream.plays(() => undefined);
  const waiting = Array.from({ length: 4 }, () => send('/v1/things', leaving.signal).catch(() => undefined));
  // A request counts after five seconds.
  await sleep(4000);
  let told: Feed['attention'] = [];
  await eventually(async () => {
    told = (await feed()).attention;
    // Each request counts from its own fifth second on.
    return told.some(({ cause }) => / 4 requests wait/.test(cause));
  });
  assert.deepEqual(
    told.map(({ id, kind }) => [id, kind]),
    [['upstream things live', 'bad']],
  );
  assert.match(
    told[0]?.cause ?? '',
    /^GET \/v1\/things of things does not answer: 4 requests wait, the oldest for [5-9](\.\d)? s\.$/,
  );
  const status = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as {
    readonly upstreams: Readonly<Record<string, { readonly unanswered?: readonly { readonly requests: number }[] }>>;
  };
  assert.equal(status.upstreams.things?.unanswered?.[0]?.requests, 4);

  leaving.abort();
  await Promise.all(waiting);
  await eventually(async () => (await feed()).attention.length === 0);
});
