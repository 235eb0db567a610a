// A client connection under a test's full control: any bytes out, whole answers in, one after another, as fast as they come.

import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  /** The reason phrase of the status line. */
  readonly reason: string;
  /** Name and value of each header line, spelled as it came. */
  readonly lines: readonly (readonly [string, string])[];
  /** Lower-case names; repeated ones joined by comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** False when the connection ended before the announced end of the body. */
  readonly whole: boolean;
  /** The error object, if the body is one. */
  readonly error: Readonly<Record<string, unknown>>;
}

export interface Connection {
  readonly socket: Socket;
  send(...pieces: (string | Buffer)[]): void;
  /** Returns the next answer; `hasBody: false` for answers to HEAD. Returns undefined if the connection ends without an answer. */
  answer(options?: { readonly hasBody?: boolean }): Promise<Answer | undefined>;
  /** Resolves when the gateway has closed; whether it did so with a reset. */
  readonly closed: Promise<'end' | 'reset'>;
  /** Returns the received bytes that belong to no answer. */
  rest(): Buffer;
  destroy(): void;
}

export async function openConnection(port: number): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  // A test that fails half-way must not keep its process from ending.
  socket.unref();
  let received = Buffer.alloc(0);
  let over = false;
  let wake = () => {};
  const closed = new Promise<'end' | 'reset'>((resolve) => {
    const finish = (how: 'end' | 'reset') => {
      over = true;
      wake();
      resolve(how);
    };
    socket.on('end', () => finish('end')).on('error', () => finish('reset'));
    socket.on('close', () => finish('end'));
  });
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  await new Promise<void>((resolve, reject) => socket.on('connect', resolve).on('error', reject));

  async function answer({ hasBody = true } = {}): Promise<Answer | undefined> {
    for (;;) {
      const parsed = parseAnswer(received, hasBody, over);
      if (parsed) {
        received = received.subarray(parsed.length);
        return parsed.answer;
      }
      if (over) return undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  return {
    socket,
    send: (...pieces) => {
      for (const piece of pieces) socket.write(piece);
    },
    answer,
    closed,
    rest: () => received,
    destroy: () => socket.destroy(),
  };
}

/** Sends one request on a new connection. */
export async function ask(port: number, request: string | Buffer): Promise<Answer> {
  const connection = await openConnection(port);
  try {
    connection.send(request);
    const answer = await connection.answer({
      hasBody: !Buffer.from(request).subarray(0, 5).equals(Buffer.from('HEAD ')),
    });
    if (!answer) throw new Error('the gateway closed the connection without an answer');
    return answer;
  } finally {
    connection.destroy();
  }
}

/** Returns the text of a well-formed request. Header values are not changed. */
export function requestOf(
  line: string,
  headers: Readonly<Record<string, string | readonly string[] | undefined>> = {},
  body?: string | Buffer,
): Buffer {
  const lines = [`${line} HTTP/1.1`];
  const all = {
    Host: 'api.test',
    ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
    ...headers,
  };
  for (const [name, value] of Object.entries(all)) {
    for (const one of value === undefined ? [] : [value].flat()) lines.push(`${name}: ${one}`);
  }
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body ?? '')]);
}

const UNTIL_MS = 20_000;

/** Polls for an event on the other side that this side cannot see. Bounded by a time that a slow machine does not need. */
export async function until<T>(read: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
  const endsAt = performance.now() + UNTIL_MS;
  while (performance.now() < endsAt) {
    const found = await read();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`it did not happen within ${UNTIL_MS} ms`);
}

/** Waits until a number does not change in several turns. */
export async function untilStill(read: () => number): Promise<void> {
  let last = -1;
  for (let turns = 0; turns < 5; turns += 1) {
    if (read() !== last) turns = 0;
    last = read();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function parseAnswer(bytes: Buffer, hasBody: boolean, over: boolean): { answer: Answer; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...rest] = bytes.toString('latin1', 0, end).split('\r\n');
  const [, statusText, ...reason] = statusLine.split(' ');
  const status = Number(statusText);
  const lines = rest.map(
    (line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const,
  );
  const headers: Record<string, string> = {};
  for (const [name, value] of lines) {
    const key = name.toLowerCase();
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  const bodiless = !hasBody || status < 200 || status === 204 || status === 304;
  const read = bodiless
    ? { body: Buffer.alloc(0), length: 0, whole: true }
    : readBody(bytes.subarray(end + 4), headers, over);
  if (!read) return undefined;
  const { body, length, whole } = read;
  return {
    answer: { status, reason: reason.join(' '), lines, headers, body, whole, error: errorIn(body) },
    length: end + 4 + length,
  };
}

interface Read {
  readonly body: Buffer;
  readonly length: number;
  readonly whole: boolean;
}

function readBody(bytes: Buffer, headers: Record<string, string>, over: boolean): Read | undefined {
  if (headers['transfer-encoding'] === 'chunked') return readChunks(bytes, over);
  const announced = headers['content-length'];
  if (announced === undefined) return over ? { body: bytes, length: bytes.length, whole: true } : undefined;
  const length = Number(announced);
  if (bytes.length >= length) return { body: bytes.subarray(0, length), length, whole: true };
  return over ? { body: bytes, length: bytes.length, whole: false } : undefined;
}

function readChunks(bytes: Buffer, over: boolean): Read | undefined {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = lineEnd === -1 ? Number.NaN : Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (Number.isNaN(size) || next > bytes.length) {
      return over ? { body: Buffer.concat(chunks), length: bytes.length, whole: false } : undefined;
    }
    if (size === 0) return { body: Buffer.concat(chunks), length: next, whole: true };
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
  }
}

function errorIn(body: Buffer): Record<string, unknown> {
  try {
    const { error } = JSON.parse(body.toString('utf8')) as { error?: Record<string, unknown> };
    return error ?? {};
  } catch {
    return {};
  }
}
