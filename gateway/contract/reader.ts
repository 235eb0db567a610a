// Reads contracts in a worker thread, because 13 MB of OpenAPI take a second and would block requests. The content arrives in pieces,
// because deserializing it at once would block for part of that time.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Mistake } from '../config-errors.ts';
import type { Position, Spot } from '../shared/yaml-source.ts';
import type { ContractContent } from './content.ts';
import type { ContractReader } from './document.ts';
import { type Piece, putPiece } from './document-pieces.ts';
import type { JsonObject } from './pointer.ts';
import { createYieldToLoop } from './yield-to-loop.ts';

/** A message to the thread: read a file, send the next piece of it, or find positions in a file. */
export type ReadRequest = { readonly file: string; readonly spots?: readonly Spot[] } | 'next';

/** The thread's reply to a request to read a file. */
export interface ReadReply {
  readonly mistakes: readonly Mistake[];
  /** Absent: the file has nothing to serve. */
  readonly content: (Omit<ContractContent, 'root'> & { readonly pieces: number }) | undefined;
}

/** Handles one request at a time. Rejects when the thread fails. */
export interface ThreadReader extends ContractReader {
  /** Starts the thread in advance, which takes 200 ms; otherwise the first request starts it. */
  start(): void;
  close(): void;
}

export function createThreadReader(): ThreadReader {
  let worker: Worker | undefined;
  const ended = new AbortController();

  function start(): Worker {
    if (worker) return worker;
    worker = new Worker(new URL('./reader-thread.ts', import.meta.url));
    // `once` in `request` reports the error. Without this listener, an error while no request is pending would end the process.
    worker.on('error', () => undefined);
    // Rejects pending requests when the thread exits.
    worker.once('exit', () => ended.abort());
    return worker;
  }

  async function request<Reply>(message: ReadRequest): Promise<Reply> {
    const thread = start();
    thread.postMessage(message);
    const [reply] = await once(thread, 'message', { signal: ended.signal });
    return reply as Reply;
  }

  async function readContract(file: string, mistakes: Mistake[]): Promise<ContractContent | undefined> {
    const reply = await request<ReadReply>({ file });
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
    close: () => void worker?.terminate(),
  };
}
