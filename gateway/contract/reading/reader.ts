// Reads contracts in a worker thread, because 13 MB of OpenAPI take a second and would block requests. The content arrives in pieces,
// because deserializing it at once would block for part of that time. A thread is kept for a while after it has read, for the next reload.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Mistake } from '../../shared/mistakes.ts';
import type { Position, Spot } from '../../shared/yaml-source.ts';
import type { JsonObject } from '../pointer.ts';
import { createYieldToLoop } from '../yield-to-loop.ts';
import type { ContractContent } from './contract-content.ts';
import type { ContractReader } from './document.ts';
import { type Piece, putPiece } from './document-pieces.ts';

/** A message to the thread, which asks it to read a file, to send the next piece of it, or to find positions in a file. */
export type ReadRequest =
  | { readonly file: string; readonly directory: string | undefined }
  | { readonly file: string; readonly spots: readonly Spot[] }
  | 'next';

/** The thread's reply to a request to read a file. */
export interface ReadReply {
  readonly mistakes: readonly Mistake[];
  /** The content of the file; undefined if it serves no operation. */
  readonly content: (Omit<ContractContent, 'root'> & { readonly pieces: number }) | undefined;
}

/** Handles one request at a time. Rejects when the thread fails. */
interface ThreadReader extends ContractReader {
  /** Starts the thread in advance, which takes 200 ms; otherwise the first request starts it. */
  start(): void;
  /** Rejects a request that is pending. */
  close(): void;
}

/**
 * How long a thread without work is kept. Files are often saved several times, and a new thread would load the linter again, which takes
 * half a second of CPU time. An idle thread takes some 60 MB.
 */
const KEPT_MS = 10_000;

/** The idle thread of this process, if there is one. */
let kept: { readonly worker: Worker; readonly end: NodeJS.Timeout } | undefined;

function takeThread(): Worker {
  if (kept !== undefined) {
    const { worker, end } = kept;
    kept = undefined;
    clearTimeout(end);
    worker.ref();
    return worker;
  }
  const worker = new Worker(new URL('./reader-thread.ts', import.meta.url));
  // `once` in `request` reports the error. Without this listener, an error while no request is pending would end the process.
  worker.on('error', () => undefined);
  worker.once('exit', () => {
    if (kept?.worker !== worker) return;
    clearTimeout(kept.end);
    kept = undefined;
  });
  return worker;
}

/** Keeps a thread that has no request. */
function keepThread(worker: Worker): void {
  if (kept !== undefined) {
    void worker.terminate();
    return;
  }
  worker.unref();
  const end = setTimeout(() => void worker.terminate(), KEPT_MS).unref();
  kept = { worker, end };
}

/** @param directory the directory that references to files may not leave; undefined for the directory of the contract */
export function createThreadReader(directory?: string): ThreadReader {
  let worker: Worker | undefined;
  let isPending = false;
  const ended = new AbortController();
  /** Rejects a pending request when the thread exits. */
  const abort = () => ended.abort();

  function start(): Worker {
    worker ??= takeThread().once('exit', abort);
    return worker;
  }

  async function request<Reply>(message: ReadRequest): Promise<Reply> {
    const thread = start();
    isPending = true;
    thread.postMessage(message);
    const [reply] = await once(thread, 'message', { signal: ended.signal });
    isPending = false;
    return reply as Reply;
  }

  function close(): void {
    if (worker === undefined || ended.signal.aborted) return;
    // A thread with a pending request is ended. If it were kept, its reply would be taken for the reply to the next request.
    if (isPending) void worker.terminate();
    else keepThread(worker.off('exit', abort));
    worker = undefined;
  }

  async function readContract(file: string, mistakes: Mistake[]): Promise<ContractContent | undefined> {
    const reply = await request<ReadReply>({ file, directory });
    mistakes.push(...reply.mistakes);
    if (reply.content === undefined) return undefined;
    const { pieces, ...rest } = reply.content;
    const root: JsonObject = {};
    const pause = createYieldToLoop();
    for (let count = 0; count < pieces; count += 1) {
      putPiece(root, await request<Piece>('next'));
      await pause();
    }
    return { root, ...rest };
  }

  return {
    readContract,
    locate: (file, spots) => request<readonly Position[]>({ file, spots }),
    start: () => void start(),
    close,
  };
}
