// Reads, at once, the bytes that wait in the kernel for a socket. Node reads sockets only between two turns of the event loop, so it does
// not see bytes that arrive during a long turn until the turn has ended.

import { readSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { handleOf } from './handle.ts';

export interface Unread {
  /** The bytes that `take` has read. */
  readonly bytes: Uint8Array;
  /**
   * Reads the waiting bytes into `bytes` and returns their number. The socket itself never gets these bytes. Returns NOTHING if no bytes
   * wait, and where a socket cannot be read in this way, as on Windows. Returns 0 if the peer has ended the connection or the connection
   * has failed.
   */
  take(socket: Socket): number;
  /** Returns the function `take` for one connected socket, for a caller that reads this socket many times. */
  takerOf(socket: Socket): () => number;
}

/** No bytes are waiting. */
export const NOTHING = -1;

/** The part of WebAssembly that is used here. Node provides it, but the types of Node do not declare it. */
interface Memory {
  readonly buffer: ArrayBuffer;
}
declare const WebAssembly: { readonly Memory: new (pages: { initial: number }) => Memory };

/**
 * A page of WebAssembly memory. It holds the arguments of the read (address and length), then its result (the length read), then the bytes.
 */
const PAGE_BYTES = 65_536;
const VECTOR_AT = 0;
const READ_AT = 8;
const BYTES_AT = 16;
const WASI_SUCCESS = 0;
const WASI_EAGAIN = 6;

type ReadCount = () => number;
const nothing: ReadCount = () => NOTHING;

/**
 * Creates a reader that uses WASI. Mostly no bytes wait. In that case WASI returns a number in 1 µs, while `fs.readSync` would throw in 5
 * µs. Each descriptor number has its own reader, which is kept (6 kB), because the system reuses the numbers.
 */
export function createUnread(): Unread {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const bytes = new Uint8Array(memory.buffer, BYTES_AT);
  const view = new DataView(memory.buffer);
  view.setUint32(VECTOR_AT, BYTES_AT, true);
  view.setUint32(VECTOR_AT + 4, PAGE_BYTES - BYTES_AT, true);
  const readers = new Map<number, ReadCount>();
  const open = wasiReader(memory, view) ?? ((fd) => () => readWithoutWasi(fd, bytes));

  function readerFor(socket: Socket): ReadCount {
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
      // A closed socket is not read, because its descriptor number may belong to another connection by now.
      return () => (handleOf(socket) === undefined ? NOTHING : read());
    },
  };
}

/** Returns a function that makes the reader of a descriptor, with the results of `take`; undefined without WASI. */
function wasiReader(memory: Memory, view: DataView): ((fd: number) => ReadCount) | undefined {
  const WASI = loadWasi();
  if (WASI === undefined) return undefined;
  return (fd) => {
    // WASI ends the process if one of its standard descriptors is closed. All three are set to the descriptor that is read, which is
    // open.
    const wasi = new WASI({ version: 'preview1', stdin: fd, stdout: fd, stderr: fd });
    wasi.initialize({ exports: { memory } });
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

function readWithoutWasi(fd: number, bytes: Uint8Array): number {
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

/** Loads WASI, which is experimental; undefined if Node no longer has it. */
function loadWasi(): typeof import('node:wasi').WASI | undefined {
  try {
    return (createRequire(import.meta.url)('node:wasi') as typeof import('node:wasi')).WASI;
  } catch {
    return undefined;
  }
}
