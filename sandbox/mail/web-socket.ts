// JMAP over WebSocket (RFC 8887): requests are answered, and any other message comes back as it was sent.
import type { Duplex } from 'node:stream';
import { Refused } from './answers.ts';
import { BINARY, CLOSE, CONTINUATION, type Frame, frameOf, PING, PONG, parseFrame, TEXT } from './frames.ts';
import { acceptance } from './handshake.ts';
import { answerJmap } from './jmap.ts';
import type { Pushes } from './pushes.ts';
import { REQUEST_BYTES_MAX } from './session.ts';

export interface WebSockets {
  /** Takes a connection over after its handshake was found good; `head` are bytes that came with it. */
  open(accountId: string, key: string, socket: Duplex, head: Buffer): void;
  /** Ends all of them. */
  close(): void;
}

const HEARTBEAT_SECONDS = 60;
const IDLE_SECONDS_MAX = 600;
const GOING_AWAY = 1001;

/** @param secondMs How long a second is; tests shorten it. */
export function createWebSockets(pushes: Pushes, secondMs: number): WebSockets {
  const open = new Set<Duplex>();
  return {
    open(accountId, key, socket, head) {
      open.add(socket);
      socket.write(acceptance(key));
      const end = converse(socket, secondMs);
      const stop = pushes.listen(accountId, (_type, change) => {
        socket.write(frameOf(TEXT, Buffer.from(JSON.stringify(change))));
      });
      // A client that is gone is no fault.
      socket.on('error', () => socket.destroy());
      socket.once('close', () => {
        end();
        stop();
        open.delete(socket);
      });
      if (head.length > 0) socket.unshift(head);
    },
    close() {
      for (const socket of open) socket.end(frameOf(CLOSE, codeBytes(GOING_AWAY)), () => socket.destroy());
    },
  };
}

/** The conversation on one connection; the returned function ends its timers. */
function converse(socket: Duplex, secondMs: number): () => void {
  let received = Buffer.alloc(0);
  let fragments: readonly Frame[] = [];
  const heartbeat = setInterval(() => send(PING, Buffer.alloc(0)), HEARTBEAT_SECONDS * secondMs);
  const idle = setTimeout(() => end(codeBytes(GOING_AWAY)), IDLE_SECONDS_MAX * secondMs);

  function send(opcode: number, payload: Buffer): void {
    if (socket.writable) socket.write(frameOf(opcode, payload));
  }

  function end(reason: Buffer): void {
    if (socket.writable) socket.end(frameOf(CLOSE, reason));
    received = Buffer.alloc(0);
    socket.removeListener('data', read);
    socket.resume();
  }

  function read(chunk: Buffer): void {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const parsed = parseFrame(received, REQUEST_BYTES_MAX);
      if (parsed === undefined) return;
      if ('fault' in parsed) {
        end(codeBytes(parsed.fault));
        return;
      }
      received = received.subarray(parsed.length);
      if (!take(parsed.frame)) return;
    }
  }

  /** Whether the conversation goes on. */
  function take(frame: Frame): boolean {
    const { opcode, payload } = frame;
    if (opcode === CLOSE) end(payload.subarray(0, 2));
    else if (opcode === PING) send(PONG, payload);
    else if (opcode !== PONG) return takeData(frame);
    return opcode !== CLOSE;
  }

  function takeData(frame: Frame): boolean {
    // Only a continuation may follow an unfinished message, and only there.
    if ((frame.opcode === CONTINUATION) !== fragments.length > 0) {
      end(codeBytes(1002));
      return false;
    }
    fragments = [...fragments, frame];
    const size = fragments.reduce((sum, { payload }) => sum + payload.length, 0);
    if (size > REQUEST_BYTES_MAX) {
      end(codeBytes(1009));
      return false;
    }
    if (!frame.final) return true;
    const message = Buffer.concat(fragments.map(({ payload }) => payload));
    const opcode = fragments[0]?.opcode ?? TEXT;
    fragments = [];
    idle.refresh();
    send(opcode, opcode === BINARY ? message : replyTo(message));
    return true;
  }

  socket.on('data', read);
  return () => {
    clearInterval(heartbeat);
    clearTimeout(idle);
  };
}

/** RFC 8887, section 4.3: requests and what they are answered carry a type and the client's own identifier. */
function replyTo(message: Buffer): Buffer {
  const text = message.toString();
  const id = requestIdIn(text);
  if (id === undefined) return message;
  try {
    return Buffer.from(JSON.stringify({ '@type': 'Response', ...id, ...answerJmap(text) }));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return Buffer.from(JSON.stringify({ '@type': 'RequestError', ...id, ...JSON.parse(error.answer.body) }));
  }
}

/** Undefined for what is no JMAP request at all. */
function requestIdIn(text: string): { readonly requestId?: string } | undefined {
  try {
    const { '@type': type, id } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (type !== 'Request') return undefined;
    return typeof id === 'string' ? { requestId: id } : {};
  } catch {
    return undefined;
  }
}

function codeBytes(code: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(code);
  return bytes;
}
