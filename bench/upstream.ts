// The service behind every contestant: answers at once, from memory. GET gives a page of 20 customers, POST the created record. It reads
// bare sockets, since a whole HTTP server would cost more than the proxies before it and dominate the measurement on machines of few cores.
// Arguments: the port, and how many bytes the page is made up to with white space.

import { createServer, type Socket } from 'node:net';

const [port, pageBytes = '0'] = process.argv.slice(2);

const record = (index: number) => ({
  id: `cus_${String(index).padStart(16, '0')}`,
  name: `Customer ${index}`,
  email: `customer.${index}@example.com`,
  phone: '+15551000000',
  metadata: {},
  created_at: '2026-11-20T00:00:00.000Z',
  updated_at: '2026-11-20T00:00:00.000Z',
});

function answerOf(status: string, value: object, bytes: number): Buffer {
  const body = JSON.stringify(value).padEnd(bytes);
  return Buffer.from(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `Date: ${new Date().toUTCString()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=60\r\n\r\n${body}`,
  );
}

const records = Array.from({ length: 20 }, (_, index) => record(index));
const page = answerOf('200 OK', { data: records, cursor: null, has_more: false }, Number(pageBytes));
const created = answerOf('201 Created', record(1), 0);

const HEAD_END = '\r\n\r\n';
const CHUNKS_END = '0\r\n\r\n';

/** Where the request at the beginning of these bytes ends; -1 if that is not there yet. */
function endOf(bytes: Buffer): number {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1) return -1;
  const bodyStart = headEnd + HEAD_END.length;
  if (bytes[0] === 0x47 /* GET */) return bodyStart;
  const head = bytes.toString('latin1', 0, headEnd);
  if (/\ntransfer-encoding: chunked/i.test(head)) {
    const last = bytes.indexOf(CHUNKS_END, bodyStart);
    return last === -1 ? -1 : last + CHUNKS_END.length;
  }
  const end = bodyStart + Number(/\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  return end > bytes.length ? -1 : end;
}

function serve(socket: Socket): void {
  let arrived: Buffer | undefined;
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    let bytes = arrived === undefined ? chunk : Buffer.concat([arrived, chunk]);
    for (let end = endOf(bytes); end !== -1; end = endOf(bytes)) {
      socket.write(bytes[0] === 0x47 ? page : created);
      bytes = bytes.subarray(end);
    }
    arrived = bytes.length === 0 ? undefined : bytes;
  });
}

createServer({ noDelay: true }, serve).listen(Number(port), '127.0.0.1');
