// What was found wrong with connections to upstreams, one by one: each of these has happened.

import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { type AddressInfo, connect, createServer, type LookupFunction, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createSecureServer } from 'node:tls';
import { createCheckup } from '../../../../gateway/upstream/checkup.ts';
import { parseAnswerHead } from '../../../../gateway/upstream/http1/answer-head.ts';
import { AnswerReader } from '../../../../gateway/upstream/http1/answer-reader.ts';
import { ask } from '../../../../gateway/upstream/http1/ask.ts';
import type { TlsSettings } from '../../../../gateway/upstream/http1/connect.ts';
import { Pool, type PoolSettings } from '../../../../gateway/upstream/http1/pool.ts';
import type { AnswerHandler, Control } from '../../../../gateway/upstream/http1/wire.ts';
import { type Authority, createAuthority } from '../../../support/certificates.ts';
import { closesAfterEach } from '../../../support/closing.ts';

const HOST = '127.0.0.1';
const GET = { method: 'GET', path: '/', headers: [], body: null };
const EMPTY = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

const start = closesAfterEach();
let authority: Authority;
before(() => {
  authority = createAuthority();
});
after(() => authority.remove());

/** An upstream that does with a connection what it is told to. */
async function listen(onSocket: (socket: Socket) => void, isSecure = false): Promise<number> {
  const sockets = new Set<Socket>();
  const noted = (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined));
    onSocket(socket);
  };
  const issued = isSecure ? authority.issue({ names: [HOST] }) : undefined;
  const server: Server = issued
    ? createSecureServer({ cert: issued.certificate, key: issued.key }, noted)
    : createServer(noted);
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  await start({
    destroy() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return (server.address() as AddressInfo).port;
}

/** Answers every request at once, with nothing. */
function answerAll(socket: Socket): void {
  socket.on('data', () => socket.write(EMPTY));
}

type Callback = Parameters<LookupFunction>[2];

function found(callback: Callback): void {
  const addresses: LookupAddress[] = [{ address: HOST, family: 4 }];
  callback(null, addresses);
}

const lookupAtOnce: LookupFunction = (_hostname, _options, callback) => found(callback);

async function createPool(
  port: number,
  settings: Partial<PoolSettings> & { readonly tls?: TlsSettings } = {},
  lookup = lookupAtOnce,
): Promise<Pool> {
  const origin = settings.tls === undefined ? `http://service.test:${port}` : `https://${HOST}:${port}`;
  const all = { connections: 1, connectTimeoutMs: 2000, connectionMaxAgeSeconds: 60, ...settings };
  const pool = new Pool(origin, all, lookup, new Uint8Array(65_536));
  await start({ destroy: () => pool.destroy() });
  return pool;
}

/** Notes what it is told. */
class Taker implements AnswerHandler {
  ended = false;
  control: Control | undefined;
  readonly told: string[] = [];
  bytes = 0;
  readonly over: Promise<void>;
  #resolve: () => void = () => undefined;

  constructor() {
    this.over = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  onRequestStart(control: Control): void {
    this.control = control;
    this.told.push('start');
  }

  onResponseStart(_control: Control, status: number): void {
    this.told.push(String(status));
  }

  onResponseData(_control: Control, chunk: Buffer): void {
    this.bytes += chunk.length;
  }

  onResponseEnd(): void {
    this.told.push('end');
    this.#resolve();
  }

  onResponseError(_control: Control | undefined, error: NodeJS.ErrnoException): void {
    this.told.push(error.code ?? error.message);
    this.#resolve();
  }
}

/** Wants a pause after each piece. */
class SlowTaker extends Taker {
  override onResponseData(control: Control, chunk: Buffer): void {
    super.onResponseData(control, chunk);
    control.pause();
    setTimeout(() => control.resume(), 20);
  }
}

describe('an answer that ends with its connection while the client holds it up', () => {
  const length = 100_000;
  const body = 'a'.repeat(length);
  const answers: Record<string, string> = {
    'without a length': `HTTP/1.1 200 OK\r\n\r\n${body}`,
    'with a length': `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${body}`,
    'in chunks': `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  };
  for (const isSecure of [false, true])
    for (const [name, answer] of Object.entries(answers))
      it(`arrives whole ${name}${isSecure ? ' over TLS' : ''}`, async () => {
        const port = await listen((socket) => socket.once('data', () => socket.end(answer)), isSecure);
        const pool = await createPool(port, isSecure ? { tls: { ca: authority.certificate } } : {});
        const taker = new SlowTaker();
        pool.dispatch(GET, taker);
        await taker.over;
        assert.deepEqual(taker.told, ['start', '200', 'end']);
        assert.equal(taker.bytes, length);
        await pool.close();
      });

  it('is incomplete when it was, once what came has been taken', async () => {
    const half = `HTTP/1.1 200 OK\r\ncontent-length: ${length + 1}\r\n\r\n${body}`;
    const port = await listen((socket) => socket.once('data', () => socket.end(half)), true);
    const pool = await createPool(port, { tls: { ca: authority.certificate } });
    const taker = new SlowTaker();
    pool.dispatch(GET, taker);
    await taker.over;
    assert.deepEqual(taker.told, ['start', '200', 'WIRE_INCOMPLETE']);
    assert.equal(taker.bytes, length);
    await pool.close();
  });
});

describe('the head of an answer', () => {
  it('has nothing but space and tab taken away around its values', () => {
    const head = (line: string) => parseAnswerHead(`HTTP/1.1 200 OK\r\n${line}\r\n`, 'GET');
    assert.equal(head('content-length: \t 5\t ').framing, 5);
    assert.equal(head('x: \t ').headers.x, '');
    assert.throws(() => head('content-length: 5\xa0'), { code: 'WIRE_MALFORMED' });
    assert.throws(() => head('transfer-encoding: \xa0chunked'), { code: 'WIRE_MALFORMED' });
  });
});

describe('a body in chunks', () => {
  function read(body: string): string {
    const reader = new AnswerReader();
    reader.begin('GET');
    reader.feed(Buffer.from(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body}`, 'latin1'));
    let text = '';
    for (;;) {
      const step = reader.next();
      if (step === 'data') text += reader.chunk.toString();
      else if (step !== 'head') return step === 'end' ? text : step;
    }
  }

  for (const extension of ['', ';a', ';a=b', ';a=b;c', ';a="b;\\" c"'])
    it(`may say more about a chunk: ${extension}`, () => {
      assert.equal(read(`5${extension}\r\nhello\r\n0${extension}\r\n\r\n`), 'hello');
    });

  for (const extension of [' ', '\t', ';', ';a b', ' ;a', '; a', ';a=', ';a="b', ';\xe9', ';a,b=c'])
    it(`is refused with what other readers refuse: ${JSON.stringify(extension)}`, () => {
      assert.throws(() => read(`5${extension}\r\nhello\r\n0\r\n\r\n`), { code: 'WIRE_MALFORMED' });
    });

  it('may have fields after it', () => {
    assert.equal(read('5\r\nhello\r\n0\r\na: b\r\nc:\r\n\r\n'), 'hello');
  });

  for (const line of ['no field', 'a\nb: c', ' a: b', 'a : b', 'HTTP/1.1 200 OK', 'a: \0'])
    it(`is refused with a line after it that is no field: ${JSON.stringify(line)}`, () => {
      assert.throws(() => read(`5\r\nhello\r\n0\r\n${line}\r\n\r\n`), { code: 'WIRE_MALFORMED' });
    });
});

/** Holds every look-up but the first until it is told. */
function createHeldLookup() {
  const held: Callback[] = [];
  let asked = 0;
  const lookup: LookupFunction = (_hostname, _options, callback) => {
    asked += 1;
    if (asked === 1) found(callback);
    else held.push(callback);
  };
  return { held, lookup };
}

async function answered(pool: Pool, takers: readonly Taker[]): Promise<void> {
  for (const taker of takers) pool.dispatch(GET, taker);
  await Promise.all(takers.map(({ over }) => over));
}

describe('a pool', () => {
  it('closes as soon as nobody waits who still wants an answer', async () => {
    const asked = Promise.withResolvers<Socket>();
    const port = await listen((socket) => socket.once('data', () => asked.resolve(socket)));
    const pool = await createPool(port);
    const [first, second] = [new Taker(), new Taker()];
    for (const taker of [first, second]) pool.dispatch(GET, taker);
    const upstream = await asked.promise;
    second.ended = true;
    const startedAt = performance.now();
    const closed = pool.close();
    upstream.write(EMPTY);
    await closed;
    assert.ok(performance.now() - startedAt < 500);
    assert.deepEqual([first.told, second.told], [['start', '200', 'end'], []]);
  });

  it('closes without the connections that are still being made for nobody', async () => {
    const { lookup, held } = createHeldLookup();
    const pool = await createPool(await listen(answerAll), { connections: 2 }, lookup);
    await answered(pool, [new Taker(), new Taker()]);
    assert.equal(held.length, 1);
    const startedAt = performance.now();
    await pool.close();
    assert.ok(performance.now() - startedAt < 500);
  });

  it('is closed once it is destroyed', async () => {
    const pool = await createPool(1, {}, () => undefined);
    pool.dispatch(GET, new Taker());
    await sleep(10);
    const closed = pool.close();
    pool.destroy();
    await closed;
  });

  it('keeps no timer of a connection that was given up', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const pool = await createPool(1, { connectTimeoutMs: 60_000 }, () => undefined);
    await sleep(10);
    const before = timers();
    pool.dispatch(GET, new Taker());
    await sleep(10);
    assert.equal(timers(), before + 1);
    pool.destroy();
    await sleep(10);
    assert.equal(timers(), before);
  });

  it('fails nobody for whom a connection is free', async () => {
    const { lookup, held } = createHeldLookup();
    const pool = await createPool(await listen(answerAll), { connections: 2 }, lookup);
    await answered(pool, [new Taker(), new Taker()]);
    const third = new Taker();
    pool.dispatch(GET, third);
    held[0]?.(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), []);
    await third.over;
    assert.deepEqual(third.told, ['start', '200', 'end']);
  });

  it('tells of a connection that could not be made whoever still waits for it', async () => {
    const callbacks: Callback[] = [];
    const pool = await createPool(1, {}, (_hostname, _options, callback) => void callbacks.push(callback));
    const [first, second] = [new Taker(), new Taker()];
    for (const taker of [first, second]) pool.dispatch(GET, taker);
    await new Promise((resolve) => setImmediate(resolve));
    first.ended = true;
    callbacks[0]?.(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), []);
    await second.over;
    assert.deepEqual([first.told, second.told], [[], ['ENOTFOUND']]);
    assert.equal(callbacks.length, 1);
  });

  it('sends nothing before the end of the turn, also when a connection is made in it', async () => {
    const order: string[] = [];
    const late = [new Taker(), new Taker()];
    for (const taker of late) taker.onRequestStart = () => order.push('sent');
    let sockets = 0;
    // The connection is taken here before it is known to be made there, in the same turn.
    const port = await listen((socket) => {
      answerAll(socket);
      sockets += 1;
      if (sockets < 2) return;
      setImmediate(() => order.push('end of turn'));
      for (const taker of late) pool.dispatch(GET, taker);
    });
    const { lookup, held } = createHeldLookup();
    const pool = await createPool(port, { connections: 2 }, lookup);
    await answered(pool, [new Taker(), new Taker()]);
    found(held[0] as Callback);
    await Promise.all(late.map(({ over }) => over));
    assert.deepEqual(order, ['end of turn', 'sent', 'sent']);
  });

  it('outlives credentials that make no connection', async () => {
    const { key } = authority.issue({ names: ['other'] });
    const { certificate } = authority.issue({ names: ['client'] });
    const pool = await createPool(await listen(answerAll, true), { tls: { certificate, key } });
    const taker = new Taker();
    await answered(pool, [taker]);
    assert.deepEqual(taker.told, ['ERR_OSSL_X509_KEY_VALUES_MISMATCH']);
    await pool.close();
  });

  for (const isSecure of [false, true])
    it(`notices a close that came with an answer before it sends anything more${isSecure ? ' over TLS' : ''}`, async () => {
      const closing = `HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi`;
      const port = await listen((socket) => socket.once('data', () => socket.end(closing)), isSecure);
      const tls = isSecure ? { ca: authority.certificate } : undefined;
      const pool = await createPool(port, { connections: 2, ...(tls && { tls }) });
      const takers = Array.from({ length: 20 }, () => new Taker());
      await answered(pool, takers);
      for (const { told } of takers) assert.deepEqual(told, ['start', '200', 'end']);
      assert.equal(pool.opened, takers.length);
    });

  it('makes no further connection for whoever can have one in the next turn', async () => {
    const pool = await createPool(await listen(answerAll), { connections: 4 });
    await answered(pool, [new Taker()]);
    for (let i = 0; i < 10; i++) {
      const taker = new Taker();
      const next = new Taker();
      taker.onResponseEnd = () => pool.dispatch(GET, next);
      pool.dispatch(GET, taker);
      await next.over;
    }
    assert.equal(pool.opened, 1);
  });
});

describe('a health check', () => {
  it('has its result with the head of the answer, whose body may never end', async () => {
    const port = await listen((socket) => socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nabc')));
    const pool = await createPool(port);
    const results: string[] = [];
    await new Promise<void>((resolve) => {
      const rules = { path: '/', intervalMs: 10, timeoutMs: 200, healthyAfter: 1, unhealthyAfter: 1 };
      const onResult = (result: string) => {
        results.push(result);
        resolve();
      };
      const options = { isHealthy: true, connect: () => pool, now: Date.now, onResult, onVerdict: () => undefined };
      void start({ destroy: createCheckup(rules, options).stop });
    });
    assert.deepEqual(results, ['passed']);
  });

  it('leaves the rest of the answer to nobody', async () => {
    let closed: Promise<void> | undefined;
    const port = await listen((socket) => {
      closed = new Promise((resolve) => socket.once('close', () => resolve()));
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nabc'));
    });
    const pool = await createPool(port);
    const { status, body } = await ask(pool, GET, AbortSignal.timeout(1000), false);
    assert.deepEqual([status, body.length], [200, 0]);
    await closed;
  });
});

describe('a body that streams and says how long it is', () => {
  for (const [name, length] of Object.entries({ longer: '5', shorter: '50' }))
    it(`is given up with its connection when it is ${name}`, async () => {
      let got = '';
      const port = await listen((socket) => {
        socket.on('data', (bytes) => {
          got += bytes.toString();
        });
      });
      const pool = await createPool(port);
      const taker = new Taker();
      async function* body() {
        yield Buffer.from('abc');
        await sleep(10);
        yield Buffer.from('defGET / HTTP/1.1');
      }
      pool.dispatch({ method: 'POST', path: '/', headers: ['content-length', length], body: body() }, taker);
      await taker.over;
      assert.deepEqual(taker.told, ['start', 'WIRE_UNSENDABLE']);
      if (name === 'longer') assert.ok(!got.includes('GET'), 'what is too much for it has left');
      await pool.close();
    });

  it('is not replaced by another one that is as long as it is', async () => {
    const pool = await createPool(1);
    const headers = ['content-length', '5'];
    for (const body of [null, Buffer.from('abc')])
      assert.throws(() => pool.dispatch({ method: 'POST', path: '/', headers, body }, new Taker()), {
        code: 'WIRE_UNSENDABLE',
      });
  });
});

describe('a TLS session', () => {
  it('that the other side does not go on with is not tried again', async () => {
    const port = await listen((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n'));
    }, true);
    let first = 0;
    const between = await listen((socket) => {
      socket.once('data', (hello) => {
        first ||= hello.length;
        // A session makes the greeting longer.
        if (hello.length > first + 100) {
          socket.destroy();
          return;
        }
        const onward = connect(port, HOST).on('error', () => undefined);
        onward.write(hello);
        socket.pipe(onward).pipe(socket);
      });
    });
    const pool = await createPool(between, { tls: { ca: authority.certificate } });
    const ends: (string | undefined)[] = [];
    for (let i = 0; i < 3; i++) {
      const taker = new Taker();
      await answered(pool, [taker]);
      ends.push(taker.told.at(-1));
    }
    assert.deepEqual(ends, ['end', 'ECONNRESET', 'end']);
    await pool.close();
  });
});

describe('a request that is given up in the moment in which it gets its connection', () => {
  for (const throws of [false, true])
    it(`takes nothing of its body${throws ? ', also when that is thrown' : ''}`, async () => {
      let taken = 0;
      async function* body() {
        taken += 1;
        yield Buffer.from('abc');
      }
      const pool = await createPool(await listen(answerAll));
      const [taker, next] = [new Taker(), new Taker()];
      taker.onRequestStart = (control) => {
        control.abort();
        if (throws) throw new Error('given up');
      };
      pool.dispatch({ method: 'POST', path: '/', headers: [], body: body() }, taker);
      await answered(pool, [next]);
      assert.deepEqual([taken, taker.told, next.told], [0, [], ['start', '200', 'end']]);
    });
});
