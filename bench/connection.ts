// One keep-alive connection of a client: whole requests out, whole answers counted. It looks at no more of an answer than it needs to
// find its end, so that the load generator costs little and always the same.

import { once } from 'node:events';
import { connect } from 'node:net';

export interface Connection {
  /** One request at a time: the next one after the answer to the last. */
  send(request: Buffer): void;
  close(): void;
}

/** Gets each whole answer. */
type OnAnswer = (status: number, bodyBytes: number) => void;

const HEAD_END = '\r\n\r\n';

/** What arrives is read into one piece of memory: a client that collects garbage is late with its requests, and contestants seem slow. */
const arrived = Buffer.allocUnsafeSlow(65_536);

/** Anything but an answer with a `Content-Length` ends the process: a measured contestant has to work. */
export async function openConnection(port: number, onAnswer: OnAnswer): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer: arrived, callback: take } });
  await once(socket, 'connect');
  let head: Buffer | undefined;
  let missing = 0;
  let status = 0;
  let length = 0;

  function begin(chunk: Buffer): void {
    head = head === undefined ? chunk : Buffer.concat([head, chunk]);
    const end = head.indexOf(HEAD_END);
    if (end === -1) {
      head = Buffer.from(head);
      return;
    }
    const text = head.toString('latin1', 0, end);
    const [, digits] = /\ncontent-length: (\d+)/i.exec(text) ?? [];
    if (digits === undefined) throw new Error(`An answer without Content-Length:\n${text}`);
    status = Number(text.slice(9, 12));
    length = Number(digits);
    missing = length - (head.length - end - HEAD_END.length);
    head = undefined;
    if (missing <= 0) onAnswer(status, length);
  }

  function take(bytes: number): boolean {
    if (missing <= 0) {
      begin(arrived.subarray(0, bytes));
    } else {
      missing -= bytes;
      if (missing <= 0) onAnswer(status, length);
    }
    return true;
  }

  const onClose = () => {
    throw new Error(`Port ${port} closed a connection that was in use.`);
  };
  socket.on('close', onClose);
  return {
    send: (request) => void socket.write(request),
    close() {
      socket.off('close', onClose);
      socket.destroy();
    },
  };
}
