// What was found wrong with connections to upstreams, one by one: each of these has happened.

import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { type AddressInfo, createServer, type LookupFunction, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createSecureServer } from 'node:tls';
import { parseAnswerHead } from '../../../../gateway/upstream/http1/answer-head.ts';
import { AnswerReader } from '../../../../gateway/upstream/http1/answer-reader.ts';
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
