// Connections by name: spread over its addresses, on to the next where one refuses, and after it when it changes.

import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { ask } from '../../../gateway/http1/client/ask.ts';
import type { PoolSettings } from '../../../gateway/http1/client/pool.ts';
import type { Dispatcher } from '../../../gateway/http1/client/wire.ts';
import { createLookup, createPools, type LookupAll, type SharedPool } from '../../../gateway/upstream/targets/pools.ts';
import { closesAfterEach } from '../../support/closing.ts';

const ONE = '127.0.0.1';
const OTHER = '127.0.0.2';
const UNUSED = '127.0.0.3';

const start = closesAfterEach();
const servers: Server[] = [];
let origin = '';

function listen(address: string, port: number): Promise<Server> {
  const server = createServer((_, response) => setTimeout(() => response.end(address), 10));
  return new Promise((resolve, reject) => server.once('error', reject).listen(port, address, () => resolve(server)));
}

before(async () => {
  // The port that is free on one address may be taken on the other.
  for (let attempt = 0; servers.length === 0; attempt++) {
    const first = await listen(ONE, 0);
    const { port } = first.address() as AddressInfo;
    try {
      servers.push(first, await listen(OTHER, port));
      origin = `http://service.test:${port}`;
    } catch (error) {
      servers.length = 0;
      first.close();
      if (attempt > 10) throw error;
    }
  }
});
after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** A pool for a name that has these addresses until the test changes them. */
async function createScene(addresses: readonly string[], settings: Partial<PoolSettings> = {}) {
  let present = addresses;
  const lookupAll: LookupAll = (hostname, _options, callback) => {
    assert.equal(hostname, 'service.test');
    callback(
      null,
      present.map((address) => ({ address, family: 4 })),
    );
  };
  const pools = createPools(lookupAll);
  const usual = { connections: 4, connectTimeoutMs: 2000, connectionMaxAgeSeconds: 60 };
  const held: SharedPool = pools.hold(origin, { ...usual, ...settings }, () => undefined);
  await start({ close: () => held.letGo() });
  return {
    pools,
    ask: () => askOver(held.dispatcher),
    become(next: readonly string[]) {
      present = next;
    },
  };
}

/** The name of the answering target. */
async function askOver(dispatcher: Dispatcher): Promise<string> {
  const request = { method: 'GET', path: '/', headers: [], body: null };
  const { body } = await ask(dispatcher, request, AbortSignal.timeout(5000));
  return body.toString();
}

describe('connections to a name', () => {
  it('are spread over its addresses', async () => {
    const { ask } = await createScene([ONE, OTHER]);
    const answered = await Promise.all([ask(), ask(), ask(), ask()]);
    assert.deepEqual(answered.sort(), [ONE, ONE, OTHER, OTHER]);
  });

  it('are made to the next address where one refuses', async () => {
    const { ask } = await createScene([UNUSED, ONE], {
      connections: 1,
      connectTimeoutMs: 2000,
      connectionMaxAgeSeconds: 0.001,
    });
    for (let i = 0; i < 4; i++) assert.equal(await ask(), ONE);
  });

  it('follow it to other addresses while requests never pause', async () => {
    const { ask, become } = await createScene([ONE], {
      connections: 1,
      connectTimeoutMs: 2000,
      connectionMaxAgeSeconds: 0.1,
    });
    assert.equal(await ask(), ONE);
    become([OTHER]);
    const since = performance.now();
    while ((await ask()) === ONE) assert.ok(performance.now() - since < 5000, 'it stays where it was');
    assert.equal(await ask(), OTHER);
  });

  it('stay where they are for as long as they may', async () => {
    const { ask, become } = await createScene([ONE], { connections: 1 });
    assert.equal(await ask(), ONE);
    become([OTHER]);
    for (let i = 0; i < 5; i++) assert.equal(await ask(), ONE);
  });

  it('can be made outside of the pool, for one request', async () => {
    const { pools } = await createScene([ONE]);
    const single = pools.single(origin, { connections: 1, connectTimeoutMs: 2000, connectionMaxAgeSeconds: 60 });
    assert.equal(await askOver(single), ONE);
    await single.close();
  });
});

describe('pools', () => {
  const settings = { connections: 2, connectTimeoutMs: 2000, connectionMaxAgeSeconds: 60 };
  const pools = createPools(() => undefined);

  it('are one for equal settings, and another for others', async () => {
    const held = [settings, { ...settings }, { ...settings, connections: 3 }, { ...settings, tls: { ca: 'x' } }].map(
      (one) => pools.hold('https://service.test', one, () => undefined),
    );
    const [first, same, ...others] = held.map(({ dispatcher }) => dispatcher);
    assert.equal(first, same);
    for (const other of others) assert.notEqual(first, other);
    await Promise.all(held.map((one) => one.letGo()));
  });

  it('close when the last one lets go', async () => {
    const server = createServer((_, response) => response.end(ONE));
    await new Promise<void>((resolve) => server.listen(0, ONE, resolve));
    await start({ destroy: () => server.close() });
    const { port } = server.address() as AddressInfo;
    let connections = 0;
    let closed = Promise.resolve();
    server.on('connection', (socket) => {
      connections += 1;
      closed = new Promise((resolve) => socket.once('end', resolve));
    });
    const held = () => pools.hold(`http://${ONE}:${port}`, settings, () => undefined);
    const [first, second] = [held(), held()];
    assert.equal(await askOver(first.dispatcher), ONE);
    await first.letGo();
    assert.equal(await askOver(second.dispatcher), ONE);
    assert.equal(connections, 1);
    await second.letGo();
    await closed;
  });
});

describe('a lookup', () => {
  const two = [
    { address: ONE, family: 4 },
    { address: OTHER, family: 4 },
  ];
  const ask = (all: boolean, answer: Parameters<LookupAll>[2] extends (...given: infer G) => void ? G : never) =>
    new Promise<unknown[]>((resolve) =>
      createLookup((_hostname, options, callback) => {
        assert.equal(options.all, true);
        callback(...answer);
      })('service.test', { all }, (...result) => resolve(result)),
    );

  it('gives one address to requests for one', async () => {
    assert.deepEqual(await ask(false, [null, two]), [null, OTHER, 4]);
    assert.deepEqual(await ask(true, [null, two]), [null, [...two].reverse()]);
  });

  it('reports its failure', async () => {
    const error = new Error('ENOTFOUND');
    assert.deepEqual(await ask(true, [error, []]), [error, '']);
  });
});
