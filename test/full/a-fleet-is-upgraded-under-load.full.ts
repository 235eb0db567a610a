// Three gateways on one Redis behind HAProxy, which polls /readyz. One after the other is ended and started again, as the same version, as
// the next one and as the one before, while clients write with keys and without, upload, listen to events and hold WebSockets. No request
// fails, no write runs twice.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { startCommand } from '../support/deploy/commands.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { FORMER } from '../support/former/fixture.ts';
import { issueIn, PRESENT, startVersion, type VersionRunning } from '../support/former/run.ts';
import { askShop, type ShopService, startShopService, writeShop } from '../support/former/shop.ts';
import { checkOut, noHistory } from '../support/former/tree.ts';
import { freePort } from '../support/free-port.ts';
import { startServer } from '../support/redis.ts';

const GATEWAYS = 3;
/** HAProxy notices within a fifth of a second; a busy machine takes longer. */
const DRAIN_DELAY_MS = 2000;
const UPLOAD_BYTES = 2_000_000;
const JSON_TYPE = { 'content-type': 'application/json' };

function balancerOf(port: number, gateways: readonly { readonly port: number; readonly admin: number }[]): string {
  const servers = gateways.map(
    (gateway, at) => `  server g${at} 127.0.0.1:${gateway.port} check port ${gateway.admin} inter 200ms fall 1 rise 1`,
  );
  return `global
  maxconn 2000
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout tunnel 60s
  retries 3
  retry-on conn-failure
  option redispatch 1
frontend clients
  bind 127.0.0.1:${port}
  default_backend gateways
backend gateways
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
${servers.join('\n')}
`;
}

interface Tally {
  readonly done: Record<string, number>;
  /** What a client had no right to expect, as it saw it. */
  readonly failed: string[];
}

/** Clients of every kind, until told to end. */
function startLoad(port: number, key: string) {
  const tally: Tally = { done: {}, failed: [] };
  const ending = new AbortController();
  const later = new Set<Promise<void>>();
  const note = (what: string) => {
    tally.done[what] = (tally.done[what] ?? 0) + 1;
  };

  /** Repeats a piece of work; whatever it throws is a failure. */
  async function client(what: string, work: () => Promise<void>): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        await work();
        note(what);
      } catch (error) {
        if (ending.signal.aborted) return;
        const { cause } = error as Error;
        tally.failed.push(`${what}: ${(error as Error).message}${cause ? ` (${(cause as Error).message})` : ''}`);
      }
      await sleep(20);
    }
  }

  async function writeWithKey(): Promise<void> {
    const init = { body: '{}', headers: { ...JSON_TYPE, 'idempotency-key': randomUUID() } };
    const first = await askShop(port, key, 'POST /v1/items', init);
    assert.deepEqual([first.status, first.replayed], [201, false], first.text);
    const repeated = sleep(Math.random() * 8000).then(async () => {
      const again = await askShop(port, key, 'POST /v1/items', init);
      assert.deepEqual([again.status, again.replayed, again.text], [201, true, first.text]);
      note('repeated write');
    });
    const entry = repeated.catch((error: Error) => void tally.failed.push(`repeated write: ${error.message}`));
    later.add(entry);
    void entry.finally(() => later.delete(entry));
  }

  async function write(): Promise<void> {
    const body = JSON.stringify({ id: randomUUID() });
    const { status, text } = await askShop(port, key, 'POST /v1/items', { body, headers: JSON_TYPE });
    assert.equal(status, 201, text);
  }

  async function read(): Promise<void> {
    const { status, text } = await askShop(port, key, 'GET /v1/items');
    assert.equal(status, 200, text);
  }

  async function upload(): Promise<void> {
    async function* pieces() {
      for (let piece = 0; piece < 20; piece++) {
        yield Buffer.alloc(UPLOAD_BYTES / 20, 'x');
        await sleep(50);
      }
    }
    const headers = { 'content-type': 'application/octet-stream' };
    const init = { body: ReadableStream.from(pieces()), headers, duplex: 'half' } as RequestInit;
    const { status, text } = await askShop(port, key, 'POST /v1/files', init);
    assert.equal(status, 201, text);
    assert.equal(JSON.parse(text).bytes, UPLOAD_BYTES);
  }

  /** Until the stream ends in order; it breaks if the gateway cuts it. */
  async function listen(): Promise<void> {
    const { signal } = ending;
    const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' };
    const answer = await fetch(`http://127.0.0.1:${port}/v1/events`, { headers, signal });
    assert.equal(answer.status, 200);
    for await (const _ of answer.body ?? []) note('event');
  }

  function holdSocket(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/live`, { headers: { authorization: `Bearer ${key}` } });
      const end = () => socket.close(1000);
      ending.signal.addEventListener('abort', end, { once: true });
      socket.on('open', () => socket.send('x'));
      socket.on('message', () => {
        note('message');
        setTimeout(() => socket.readyState === WebSocket.OPEN && socket.send('x'), 50);
      });
      socket.on('error', reject);
      socket.on('close', (code) => {
        ending.signal.removeEventListener('abort', end);
        if (code === 1001 || code === 1000) resolve();
        else reject(new Error(`closed with ${code}`));
      });
    });
  }

  const kinds = { write, writeWithKey, read, upload, 'event stream': listen, WebSocket: holdSocket };
  const clients = Object.entries(kinds).flatMap(([what, work]) => [client(what, work), client(what, work)]);
  return {
    async end(): Promise<Tally> {
      ending.abort();
      await Promise.all(clients);
      while (later.size > 0) await Promise.all(later);
      return tally;
    },
  };
}

async function untilReady(admin: number): Promise<void> {
  for (;;) {
    const status = await fetch(`http://127.0.0.1:${admin}/readyz`).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return;
    await sleep(50);
  }
}

/** Starts the fleet as the first version, and makes it each of the others in turn. */
async function roll(t: TestContext, trees: readonly string[]): Promise<Tally & { readonly service: ShopService }> {
  const directory = temporaryDirectory();
  const redis = await startServer('--maxmemory-policy', 'noeviction');
  const service = await startShopService();
  const places = await Promise.all(
    Array.from({ length: GATEWAYS }, async () => ({ port: await freePort(), admin: await freePort() })),
  );
  const timeouts = { drainDelayMs: DRAIN_DELAY_MS, drainMs: 15_000 };
  const shared = {
    ...writeShop(directory, service.url, { gateway: { timeouts }, entry: { timeoutMs: 20_000 } }),
    REDIS_URL: redis.url,
  };
  const environmentOf = (at: number) => ({
    ...shared,
    GATEWAY_DATA: join(directory, `data-${at}`),
    PORT: `${places[at]?.port}`,
    ADMIN_PORT: `${places[at]?.admin}`,
  });
  const [first = PRESENT, ...others] = trees;
  const gateways: VersionRunning[] = [];
  for (let at = 0; at < GATEWAYS; at++) gateways.push(await startVersion(first, environmentOf(at)));
  const { key } = await issueIn(first, environmentOf(0));
  const port = await freePort();
  writeFileSync(join(directory, 'haproxy.cfg'), balancerOf(port, places));
  const balancer = await startCommand(['haproxy', '-db', '-f', join(directory, 'haproxy.cfg')], { port });
  t.after(async () => {
    await balancer.stop();
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await Promise.all([service.close(), redis.stop()]);
  });
  for (const { admin } of places) await untilReady(admin);
  await sleep(1000);
  const load = startLoad(port, key);
  for (const tree of others) {
    for (const [at, gateway] of gateways.entries()) {
      await sleep(1000);
      assert.equal(await gateway.stop(), 0);
      gateways[at] = await startVersion(tree, environmentOf(at));
      await untilReady(places[at]?.admin ?? 0);
    }
  }
  await sleep(1000);
  return { ...(await load.end()), service };
}

function judge(t: TestContext, { done, failed, service }: Tally & { readonly service: ShopService }): void {
  t.diagnostic(JSON.stringify({ done, failed: failed.length }));
  assert.deepEqual(failed, []);
  assert.deepEqual(
    [...service.runs].filter(([, times]) => times > 1),
    [],
    'writes that ran more than once',
  );
  for (const what of ['write', 'writeWithKey', 'repeated write', 'read', 'upload', 'event stream', 'WebSocket'])
    assert.ok((done[what] ?? 0) > 2, `${what}: ${done[what]}`);
}

test('a rolling restart fails nothing', async (t) => {
  judge(t, await roll(t, [PRESENT, PRESENT]));
});

const former = await checkOut(FORMER[0]);
test(`a rolling upgrade from ${FORMER[0]}, and the way back, fail nothing`, {
  skip: !former && noHistory(FORMER[0]),
}, async (t) => {
  if (former === undefined) return;
  t.after(former.remove);
  judge(t, await roll(t, [former.directory, PRESENT, former.directory]));
});
