// Requests as bytes that no HTTP client would send.

import { connect } from 'node:net';

interface RawAnswer {
  /** Everything received, as it came. */
  readonly text: string;
  readonly status: number;
  /** Lower-case names; repeated ones joined by comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The error object, if the body is one. */
  readonly error: Record<string, unknown> | undefined;
  /** Whether the server closed the connection. */
  readonly closed: boolean;
}

interface RawOptions {
  /** Further pieces, sent one after another. */
  readonly then?: readonly (string | Buffer)[];
  readonly pauseMs?: number;
  /** How long to wait for more after the last byte. */
  readonly quietMs?: number;
}

/** Sends bytes and reads until the server closes or goes quiet. Bounded by five seconds. */
export async function sendRaw(port: number, request: string | Buffer, options: RawOptions = {}): Promise<RawAnswer> {
  const { then = [], pauseMs = 0, quietMs = 300 } = options;
  const chunks: Buffer[] = [];
  let closed = false;
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = setTimeout(() => socket.destroy(), 5000);
    let quiet: NodeJS.Timeout | undefined;
    let finished = false;
    socket.on('connect', async () => {
      socket.write(request);
      for (const piece of then) {
        if (pauseMs > 0) await new Promise((next) => setTimeout(next, pauseMs));
        if (socket.destroyed) break;
        socket.write(piece);
      }
      finished = true;
    });
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      clearTimeout(quiet);
      quiet = setTimeout(() => finished && socket.destroy(), quietMs);
    });
    socket.on('end', () => {
      closed = true;
      socket.end();
    });
    socket.on('error', () => {
      closed = true;
    });
    socket.on('close', () => {
      clearTimeout(end);
      clearTimeout(quiet);
      resolve();
    });
  });
  return parseAnswer(Buffer.concat(chunks).toString('latin1'), closed);
}

function parseAnswer(text: string, closed: boolean): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const body = rest.join('\r\n\r\n');
  let error: Record<string, unknown> | undefined;
  try {
    error = (JSON.parse(body) as { error?: Record<string, unknown> }).error;
  } catch {
    error = undefined;
  }
  return { text, status: Number(statusLine.split(' ')[1] ?? 0), headers, body, error, closed };
}
