// Event streams under reloads of two workers: no event is lost or late, and each client keeps its connection. A replacement of the workers
// ends the streams between two events; their clients resume by Last-Event-ID and get each event once. A slow client gets 50 MB whole.
// STREAM_SECONDS=600 is the long form of the first.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { streamPaths } from '../flow/streams/live-upstream.ts';
import { eventually, type Several, startSeveral } from '../flow/workers/several.ts';
import { closesAfterEach } from '../support/closing.ts';
import { writeConfiguration } from '../support/configuration.ts';
import { startGateway } from '../support/gateway.ts';
import { thingsAt, thingsContract } from '../support/things.ts';
import { type Answer, startUpstream } from '../support/upstream.ts';

const start = closesAfterEach();
const SECONDS = Number(process.env.STREAM_SECONDS ?? 15);
const EVERY_MS = 200;
const RELOAD_EVERY_MS = 3000;
const CLIENTS = 6;
const REPLACEMENTS = 3;
/** Far more than a reload takes, and less than an event that waits for the next flush of anything. */
const LATE_MS_MAX = 5000;
const DOWNLOAD_BYTES = 50_000_000;

/** One event every EVERY_MS, to all clients. A client with Last-Event-ID first gets the events since that one. */
function createSource() {
  const at: number[] = [];
  const listeners = new Set<ServerResponse>();
  const textOf = (id: number) => `id: ${id}\ndata: ${at[id - 1]}\n\n`;
  const timer = setInterval(() => {
    const id = at.push(Date.now());
    for (const listener of listeners) listener.write(textOf(id));
  }, EVERY_MS);
  const answer: Answer = (request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    for (let id = Number(request.headers['last-event-id'] ?? at.length) + 1; id <= at.length; id += 1)
      response.write(textOf(id));
    listeners.add(response);
    response.on('close', () => listeners.delete(response));
  };
  return { answer, latest: () => at.length, stop: () => clearInterval(timer) };
}

/** A client that opens its stream again when that ends. */
class Follower {
  /** The id of the last event; 0 before the first. */
  id = 0;
  connections = 0;
  events = 0;
  /** Milliseconds from each event to its arrival, of events that were sent while the client was connected. */
  readonly delaysMs: number[] = [];
  readonly #abort = new AbortController();
  readonly #over: Promise<void>;

  constructor(url: string, authorization: string) {
    this.#over = this.#follow(url, authorization);
    // Awaited in `stop`.
    this.#over.catch(() => undefined);
  }

  /** Rejects with what was wrong. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#over;
  }

  async #follow(url: string, authorization: string): Promise<void> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      const headers = { authorization, ...(this.id > 0 && { 'last-event-id': String(this.id) }) };
      try {
        const answer = await fetch(`${url}/v1/events`, { headers, signal });
        assert.equal(answer.status, 200);
        this.connections += 1;
        await this.#read(answer, Date.now());
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  async #read({ body }: Response, since: number): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      rest += decoder.decode(chunk, { stream: true });
      for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
        this.#take(rest.slice(0, end), since);
        rest = rest.slice(end + 2);
      }
    }
    assert.equal(rest, '', 'the stream ended within an event');
  }

  #take(event: string, since: number): void {
    const [, id, at] = /^id: (\d+)\ndata: (\d+)$/.exec(event) ?? assert.fail(`no event: ${event}`);
    if (this.id > 0) assert.equal(Number(id), this.id + 1, 'an event was lost or came twice');
    this.id = Number(id);
    this.events += 1;
    if (Number(at) >= since) this.delaysMs.push(Date.now() - Number(at));
  }
}

/** Saves contracts and waits until both workers have them, again and again. Returns how often. */
async function reload(several: Several): Promise<number> {
  const until = Date.now() + SECONDS * 1000;
  for (let count = 1; ; count += 1) {
    const before = (await several.workers()).map(({ configuration }) => configuration);
    const contract = { ...thingsContract(streamPaths), info: { title: `Things ${count}`, version: '1' } };
    writeConfiguration(several.directory, { ...several.configuration, contracts: { 'things.yaml': contract } });
    await eventually(async () =>
      (await several.workers()).every(({ configuration }) => !before.includes(configuration)),
    );
    if (Date.now() > until) return count;
    await sleep(RELOAD_EVERY_MS);
  }
}

async function replaceWorkers(several: Several): Promise<void> {
  const before = (await several.workers()).map(({ pid }) => pid);
  several.child.kill('SIGUSR2');
  await eventually(async () => {
    const workers = await several.workers();
    return workers.length === 2 && workers.every(({ pid, state }) => !before.includes(pid) && state === 'serving');
  });
}

/** Waits until each client has the events of now. */
async function untilFollowed(followers: readonly Follower[], latest: number): Promise<void> {
  await eventually(() => followers.every(({ id }) => id >= latest));
}

function summaryOf(followers: readonly Follower[]) {
  const delays = followers.flatMap(({ delaysMs }) => delaysMs).toSorted((one, other) => one - other);
  const at = (part: number) => delays[Math.floor((delays.length - 1) * part)] ?? 0;
  const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);
  return {
    events: sum(followers.map(({ events }) => events)),
    connections: sum(followers.map(({ connections }) => connections)),
    delayMs: { p50: at(0.5), p99: at(0.99), longest: at(1) },
  };
}

test(`event streams of ${SECONDS} s under reloads, then under replaced workers`, async (context: TestContext) => {
  const source = createSource();
  context.after(source.stop);
  const several = await startSeveral({
    answer: source.answer,
    paths: streamPaths,
    // As by default.
    gateway: { timeouts: { drainDelayMs: 250 } },
  });
  context.after(several.close);
  const followers = Array.from({ length: CLIENTS }, () => new Follower(several.url, several.authorization));
  try {
    await untilFollowed(followers, source.latest() + 1);
    const reloads = await reload(several);
    await untilFollowed(followers, source.latest());
    const reloaded = summaryOf(followers);
    context.diagnostic(JSON.stringify({ seconds: SECONDS, clients: CLIENTS, reloads, ...reloaded }));
    assert.equal(reloaded.connections, CLIENTS, 'a reload ended a stream');
    assert.ok(reloaded.delayMs.longest < LATE_MS_MAX, `an event was ${reloaded.delayMs.longest} ms late`);

    for (let count = 0; count < REPLACEMENTS; count += 1) await replaceWorkers(several);
    await untilFollowed(followers, source.latest());
    const { events, connections } = summaryOf(followers);
    context.diagnostic(JSON.stringify({ replacements: REPLACEMENTS, events: events - reloaded.events, connections }));
    assert.ok(followers.every((one) => one.connections > REPLACEMENTS));
  } finally {
    await Promise.all(followers.map((follower) => follower.stop()));
  }
  const ends = several.logLines().flatMap(({ stream, stream_end }) => (stream === 'events' ? [stream_end] : []));
  assert.ok(ends.filter((end) => end === 'drain').length >= CLIENTS * REPLACEMENTS);
});

test('a client that reads 3 MB a second gets 50 MB whole', async () => {
  const bytes = Buffer.alloc(DOWNLOAD_BYTES, 'abcdefg');
  const upstream = await start(
    startUpstream((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': bytes.length });
      response.end(bytes);
    }),
  );
  const gateway = await start(startGateway(thingsAt(upstream.url)));
  const answer = await fetch(`${gateway.url}/v1/files`, { headers: await gateway.authorize() });
  const digest = createHash('sha256');
  const from = Date.now();
  let received = 0;
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    received += chunk.length;
    digest.update(chunk);
    await sleep(Math.max(0, received / 3000 - (Date.now() - from)));
  }
  assert.equal(digest.digest('hex'), createHash('sha256').update(bytes).digest('hex'));
  assert.ok(Date.now() - from > 15_000);
});
