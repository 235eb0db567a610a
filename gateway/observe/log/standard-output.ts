// Writes lines to standard output through a queue. If the reader of the output stops or is gone, or the disk is full, the process neither
// blocks nor ends. Lines that standard output does not accept are dropped and counted.

import { fstatSync, readFileSync, writeSync, writev, writevSync } from 'node:fs';
import { Socket } from 'node:net';
import { linesIn } from './waiting-lines.ts';

/** Called when the bytes are no longer needed, with the number of their lines that were dropped. */
export type OnTaken = (lostLines: number) => void;

/** Destination of the bytes. */
export interface ByteSink {
  /** Takes whole lines. Returns false if the caller should wait for `onDrain`. */
  write(bytes: Buffer, done: OnTaken): boolean;
  /** Calls back when the output accepts more. */
  onDrain(handle: () => void): void;
  /** Writes the waiting bytes before the process ends, as long as the output takes them, and drops the rest. Blocks for a bounded time. */
  end(): void;
}

interface Piece {
  bytes: Buffer;
  readonly done: OnTaken;
}

const FD = 1;
const STANDARD_ERROR = 2;
const NEWLINE = Buffer.of(10);
/** Above this size of the queue, `write` asks its caller to wait. */
const WAITING_BYTES_MAX = 16_384;
/** Maximum number of pieces that one system call takes. */
const PIECES_MAX = 256;
/**
 * The largest number of system calls in one turn of the event loop. Megabytes may wait when a reader continues, and requests must not wait
 * for all of them.
 */
const CALLS_MAX = 8;
/** Pauses between two attempts at a full pipe. */
const RETRY_MS = { first: 1, longest: 100 };
/** At the end of the process, a reader that has taken nothing for this time is treated as stopped. */
const STILL_MS = 1000;
/** At the end of the process, the longest wait for a slow reader. */
const END_MS = 3000;
const LOOK_MS = 5;

export class StandardOutput implements ByteSink {
  /**
   * Whether this thread writes. A write to a disk may take long, so another thread does it. A write to a pipe must not be left to another
   * thread, because if the reader stops, the thread would never end, and Node exits only when all its threads have ended.
   */
  #isDirect = isPipe(FD);
  readonly #onDrain: (() => void)[] = [];
  readonly #waiting: Piece[] = [];
  #waitingBytes = 0;
  #isBusy = false;
  #retryMs = RETRY_MS.first;
  /** Whether the last byte that was written ended a line. */
  #isAtLineStart = true;
  /** Whether the rest of the line that was written last has been dropped. */
  #isTorn = false;
  #endsAt: number | undefined;
  #standsStill = false;

  write(bytes: Buffer, done: OnTaken): boolean {
    this.#waiting.push({ bytes, done });
    this.#waitingBytes += bytes.length;
    if (!this.#isBusy) this.#pump();
    return this.#waitingBytes < WAITING_BYTES_MAX;
  }

  onDrain(handle: () => void): void {
    this.#onDrain.push(handle);
  }

  end(): void {
    this.#isDirect = true;
    this.#isBusy = true;
    unblock(FD);
    this.#endsAt ??= performance.now() + END_MS;
    for (let tookAt = performance.now(); this.#waiting.length > 0; ) {
      const now = performance.now();
      if (this.#writeNow()) {
        tookAt = now;
        this.#standsStill = false;
        continue;
      }
      this.#standsStill ||= now >= Math.min(this.#endsAt, tookAt + STILL_MS);
      if (this.#standsStill) this.#drop(this.#waiting.splice(0));
      else pause(LOOK_MS);
    }
    this.#isBusy = false;
  }

  #pump(): void {
    this.#isBusy = true;
    if (this.#isDirect) unblock(FD);
    for (let calls = 0; this.#waiting.length > 0; calls += 1) {
      if (this.#isDirect && calls < CALLS_MAX && this.#writeNow()) continue;
      if (!this.#isDirect) this.#writeInThread();
      else if (calls === CALLS_MAX) setImmediate(() => this.#pump());
      else this.#pumpLater();
      return;
    }
    this.#isBusy = false;
    for (const handle of this.#onDrain) handle();
  }

  #pumpLater(): void {
    setTimeout(() => this.#pump(), this.#retryMs);
    this.#retryMs = Math.min(RETRY_MS.longest, this.#retryMs * 2);
  }

  #writeInThread(): void {
    const pieces = this.#waiting.splice(0, PIECES_MAX);
    writev(FD, this.#buffersOf(pieces), (error, count) => {
      if (this.#settle(pieces, error, count)) this.#pump();
      else this.#pumpLater();
    });
  }

  #writeNow(): boolean {
    const pieces = this.#waiting.splice(0, PIECES_MAX);
    try {
      return this.#settle(pieces, null, writevSync(FD, this.#buffersOf(pieces)));
    } catch (error) {
      return this.#settle(pieces, error as NodeJS.ErrnoException, 0);
    }
  }

  #buffersOf(pieces: readonly Piece[]): Buffer[] {
    const buffers = pieces.map(({ bytes }) => bytes);
    // End a line that was cut off, because the next line must begin on a new line.
    return this.#isTorn ? [NEWLINE, ...buffers] : buffers;
  }

  /** Notes the result of a write, and puts back the bytes that were not written. Returns false if the output is full. */
  #settle(pieces: Piece[], error: NodeJS.ErrnoException | null, count: number): boolean {
    if (error !== null && isFull(error)) {
      this.#waiting.unshift(...pieces);
      return false;
    }
    if (error === null) this.#advance(pieces, count);
    else this.#drop(pieces);
    return true;
  }

  #advance(pieces: Piece[], count: number): void {
    let left = count;
    if (this.#isTorn && left > 0) {
      left -= 1;
      this.#isTorn = false;
      this.#isAtLineStart = true;
    }
    this.#retryMs = RETRY_MS.first;
    while (left > 0) {
      const piece = pieces[0] as Piece;
      const taken = Math.min(left, piece.bytes.length);
      this.#isAtLineStart = piece.bytes[taken - 1] === NEWLINE[0];
      piece.bytes = piece.bytes.subarray(taken);
      this.#waitingBytes -= taken;
      left -= taken;
      if (piece.bytes.length === 0) pieces.shift()?.done(0);
    }
    this.#waiting.unshift(...pieces);
  }

  #drop(pieces: readonly Piece[]): void {
    this.#isTorn ||= !this.#isAtLineStart;
    for (const { bytes, done } of pieces) {
      this.#waitingBytes -= bytes.length;
      done(linesIn(bytes));
    }
  }
}

/** Says on standard error, if it takes the text at once, that lines were dropped at the end, because no log line can say this now. */
export function tellDroppedAtEnd(lines: number): void {
  const they = lines === 1 ? '1 log line was' : `${lines} log lines were`;
  tellAtEnd(`gateway: ${they} dropped, because standard output did not take them.\n`);
}

/** Writes to standard error, if it takes the text at once. */
export function tellAtEnd(text: string): void {
  try {
    if (isPipe(STANDARD_ERROR)) unblock(STANDARD_ERROR);
    writeSync(STANDARD_ERROR, text);
  } catch {
    // Standard error is full, too, so the text is lost.
  }
}

function isPipe(fd: number): boolean {
  const about = fstatSync(fd);
  return about.isFIFO() || about.isSocket();
}

/** `O_NONBLOCK` of Linux. */
const NON_BLOCKING = 0o4000;

/**
 * Makes writes to a pipe return at once. Call it again from time to time, because another Node process that shares the pipe makes it
 * blocking when it ends.
 */
function unblock(fd: number): void {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
    if (flags !== undefined && (Number.parseInt(flags, 8) & NON_BLOCKING) !== 0) return;
  } catch {
    // The system is not Linux, or no file descriptor is left. The code below opens the pipe in another way.
  }
  try {
    // libuv changes the pipe when it opens it. The handle is never used, and closes the pipe if it is destroyed.
    kept.push(new Socket({ fd, readable: false, writable: true }).unref());
  } catch {
    // It is of another kind than a pipe.
  }
}

const kept: Socket[] = [];

function isFull({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EAGAIN' || code === 'EINTR';
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
