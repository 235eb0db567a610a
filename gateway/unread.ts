// What a socket holds that nothing has read yet, read at once. Node reads sockets between two turns of the event loop only; what arrives
// during a long turn is in the kernel, and unknown here, until that turn is over.

import { readSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

/** Members of Node's own that `net.Socket` and `tls.TLSSocket` have; a pinned test holds that they are there. */
export interface Handle {
  readonly fd?: number;
  /** Bytes that were written and that the layer below has not taken yet: of TLS the encrypted ones, of TCP those that wait for the kernel. */
  readonly writeQueueSize?: number;
  /** Of TLS: takes bytes as if they had been read from the network. */
  receive?(bytes: Uint8Array): void;
  /** Of TLS: whether bytes are taken at present. */
  readonly reading?: boolean;
  /** Of TLS: the connection beneath. */
  readonly _parent?: { readonly bytesRead: number; readStart(): number };
}

export interface Unread {
  /** What `take` has read. */
  readonly bytes: Uint8Array;
  /**
   * Takes what has arrived: the length of it in `bytes`, NOTHING, or 0 when the other side has ended the connection or it has failed. The
   * socket itself never gets what was taken. NOTHING also where a socket cannot be read like this, as on Windows.
   */
  take(socket: Socket): number;
  /** The same for one connected socket that is read again and again. */
  takerOf(socket: Socket): () => number;
}

/** Nothing has arrived. */
export const NOTHING = -1;

/** The part that is used here of what Node has without its types. */
interface Memory {
  readonly buffer: ArrayBuffer;
}
declare const WebAssembly: { readonly Memory: new (pages: { initial: number }) => Memory };

/** A page of WebAssembly memory: one vector of address and length, the length that was read, and the bytes. */
const PAGE_BYTES = 65_536;
const VECTOR_AT = 0;
const READ_AT = 8;
const BYTES_AT = 16;
const WASI_SUCCESS = 0;
const WASI_EAGAIN = 6;

type Read = () => number;
const nothing: Read = () => NOTHING;

/**
 * `fs.readSync` throws where nothing has arrived, which is nearly always: 5 µs. The same system call as WASI offers it gives a number: 1 µs.
 * A reader belongs to the number of a descriptor and is kept, since these numbers are used again: 6 kB each.
 */
export function createUnread(): Unread {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const bytes = new Uint8Array(memory.buffer, BYTES_AT);
  const view = new DataView(memory.buffer);
  view.setUint32(VECTOR_AT, BYTES_AT, true);
  view.setUint32(VECTOR_AT + 4, PAGE_BYTES - BYTES_AT, true);
  const readers = new Map<number, Read>();
  const open = wasiReader(memory) ?? ((fd) => () => readOrThrow(fd));

  /** Told as `take` tells it. */
  function wasiReader(memoryOfAll: Memory): ((fd: number) => Read) | undefined {
    const WASI = loadWasi();
    if (WASI === undefined) return undefined;
    return (fd) => {
      // A descriptor that is not open would end the process here, so all three are this one.
      const wasi = new WASI({ version: 'preview1', stdin: fd, stdout: fd, stderr: fd });
      wasi.initialize({ exports: { memory: memoryOfAll } });
      const { fd_read } = wasi.wasiImport as {
        fd_read(fd: number, vectors: number, count: number, read: number): number;
      };
      return () => {
        const error = fd_read(0, VECTOR_AT, 1, READ_AT);
        if (error === WASI_EAGAIN) return NOTHING;
        return error === WASI_SUCCESS ? view.getUint32(READ_AT, true) : 0;
      };
    };
  }

  function readOrThrow(fd: number): number {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    try {
      return readSync(fd, bytes);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? NOTHING : 0;
    } finally {
      Error.stackTraceLimit = limit;
    }
  }

  function readerFor(socket: Socket): Read {
    const fd = handleOf(socket)?.fd ?? -1;
    if (fd < 0) return nothing;
    let read = readers.get(fd);
    if (read === undefined) {
      read = open(fd);
      readers.set(fd, read);
    }
    return read;
  }

  return {
    bytes,
    take: (socket) => readerFor(socket)(),
    takerOf(socket) {
      const read = readerFor(socket);
      // The number of a descriptor that was closed may belong to another connection by now.
      return () => (handleOf(socket) === undefined ? NOTHING : read());
    },
  };
}

/** Undefined: it is closed, or is being made. */
export function handleOf(socket: Socket): Handle | undefined {
  return (socket as Socket & { readonly _handle?: Handle | null })._handle ?? undefined;
}

/** Undefined where Node has it no longer: it is called experimental. */
function loadWasi(): typeof import('node:wasi').WASI | undefined {
  try {
    return (createRequire(import.meta.url)('node:wasi') as typeof import('node:wasi')).WASI;
  } catch {
    return undefined;
  }
}
