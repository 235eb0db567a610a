// An event stream for ten minutes under reloads: no event is lost or late on one connection. The end of the process ends it between two
// events, and its client resumes. A slow client gets 50 MB whole. STREAM_SECONDS shortens the first.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { saveAndReload } from '../flow/reload/files.ts';
import { streamPaths } from '../flow/streams/live-upstream.ts';
import { closesAfterEach } from '../support/closing.ts';
import { startGateway } from '../support/gateway.ts';
import { thingsAt, thingsContract } from '../support/things.ts';

const start = closesAfterEach();
const SECONDS = Number(process.env.STREAM_SECONDS ?? 600);
const EVERY_MS = 200;
const RELOAD_EVERY_MS = 3000;
/** A reload occupies the event loop for some milliseconds, a busy machine for longer. */
const LATE_MS_MAX = 1000;
const MEGABYTES = 50;

/** Counts up in events, from the one after Last-Event-ID; and 50 MB. */
async function startCounter() {
  const server = createServer((request, response) => {
    if (request.url !== '/v1/events') {
      response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': MEGABYTES * 1_000_000 });
      response.end(Buffer.alloc(MEGABYTES * 1_000_000, 'abcdefg'));
      return;
    }
    let id = Number(request.headers['last-event-id'] ?? 0);
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    const timer = setInterval(() => {
      id += 1;
      response.write(`id: ${id}\ndata: ${Date.now()}\n\n`);
    }, EVERY_MS);
    response.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Reads events until the stream ends. Every event has the id after the one before it. */
async function follow(url: string, headers: Record<string, string>, lastId: number) {
  const resumed = lastId === 0 ? {} : { 'Last-Event-ID': String(lastId) };
  const answer = await fetch(`${url}/v1/events`, { headers: { ...headers, ...resumed } });
  assert.equal(answer.status, 200);
  const seen = { id: lastId, latestMs: 0, rest: '' };
  const whole = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      seen.rest += decoder.decode(chunk, { stream: true });
      for (let end = seen.rest.indexOf('\n\n'); end !== -1; end = seen.rest.indexOf('\n\n')) {
        const [, id, at] = /^id: (\d+)\ndata: (\d+)$/.exec(seen.rest.slice(0, end)) ?? [];
        seen.rest = seen.rest.slice(end + 2);
        assert.equal(Number(id), seen.id + 1, 'an event was lost');
        seen.id += 1;
        seen.latestMs = Math.max(seen.latestMs, Date.now() - Number(at));
      }
    }
  })();
  return { seen, whole };
}

it(`an event stream of ${SECONDS} s loses nothing under reloads, and resumes after the process`, async () => {
  const counter = await start(startCounter());
  const options = thingsAt(counter.url, {}, streamPaths);
  const gateway = await startGateway({ ...options, gateway: { timeouts: { drainMs: 5000 } } });
  const headers = await gateway.authorize();
  const first = await follow(gateway.url, headers, 0);
  const until = Date.now() + SECONDS * 1000;
  let reloads = 0;
  while (Date.now() < until) {
    await sleep(RELOAD_EVERY_MS);
    reloads += 1;
    const contract = { ...thingsContract(streamPaths), info: { title: `Things ${reloads}`, version: '1' } };
    await saveAndReload(gateway, 'openapi/things.yaml', contract);
  }
  await gateway.stop();
  await first.whole;
  assert.equal(first.seen.rest, '', 'the stream ended within an event');
  assert.ok(first.seen.id >= (SECONDS * 1000) / EVERY_MS / 1.5, `${first.seen.id} events`);
  assert.ok(first.seen.latestMs < LATE_MS_MAX, `an event was ${first.seen.latestMs} ms late`);
  console.log({ seconds: SECONDS, reloads, events: first.seen.id, latestMs: first.seen.latestMs });

  const next = await start(startGateway(options));
  const second = await follow(next.url, await next.authorize(), first.seen.id);
  const ended = assert.rejects(second.whole);
  while (second.seen.id < first.seen.id + 5) await sleep(50);
  await counter.close().catch(() => undefined);
  await ended;
});

it('a client that reads 3 MB a second gets 50 MB whole', async () => {
  const counter = await start(startCounter());
  const gateway = await start(startGateway(thingsAt(counter.url)));
  const answer = await fetch(`${gateway.url}/v1/files`, { headers: await gateway.authorize() });
  const digest = createHash('sha256');
  const from = Date.now();
  let bytes = 0;
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    digest.update(chunk);
    await sleep(Math.max(0, bytes / 3000 - (Date.now() - from)));
  }
  const expected = createHash('sha256').update(Buffer.alloc(MEGABYTES * 1_000_000, 'abcdefg'));
  assert.equal(digest.digest('hex'), expected.digest('hex'));
  assert.ok(Date.now() - from > 15_000);
});
