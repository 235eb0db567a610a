// Reads contracts in a thread of its own, so that a gateway that serves is not held up: 13 MB of OpenAPI take a second. What was read
// comes over piece by piece, since taking it over at once would hold up for some of that.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Mistake } from '../config-errors.ts';
import type { Position, Spot } from '../source.ts';
import type { ContractContent, ContractReader, JsonObject } from './document.ts';
import { type Piece, putPiece } from './pieces.ts';
import { createYieldToLoop } from './yield-to-loop.ts';

/** What the thread is asked: to read a file, for the next piece of it, or where things stand in a file. */
export type ReadRequest = { readonly file: string; readonly spots?: readonly Spot[] } | 'next';

/** What the thread answers when it is told a file to read. */
export interface ReadReply {
  readonly mistakes: readonly Mistake[];
  /** Absent: there is nothing to serve in the file. */
  readonly content: (Omit<ContractContent, 'root'> & { readonly pieces: number }) | undefined;
}

/** One question at a time. Rejects when the thread fails. */
export interface ThreadReader extends ContractReader {
  /** Has the thread begin, which takes a fifth of a second; otherwise the first question does. */
  start(): void;
  close(): void;
}

export function createThreadReader(): ThreadReader {
  let worker: Worker | undefined;
  const ended = new AbortController();

  function start(): Worker {
    if (worker) return worker;
    worker = new Worker(new URL('./reader-thread.ts', import.meta.url));
    // Whoever waits is told; without anybody it would end the process.
    worker.on('error', () => undefined);
    // Nobody waits for the answer of a thread that is gone.
    worker.once('exit', () => ended.abort());
    return worker;
  }

  async function ask<Reply>(question: ReadRequest): Promise<Reply> {
    const thread = start();
    thread.postMessage(question);
    const [reply] = await once(thread, 'message', { signal: ended.signal });
    return reply as Reply;
  }

  async function readContract(file: string, mistakes: Mistake[]): Promise<ContractContent | undefined> {
    const reply = await ask<ReadReply>({ file });
    mistakes.push(...reply.mistakes);
    if (reply.content === undefined) return undefined;
    const { pieces, ...rest } = reply.content;
    const root: JsonObject = {};
    const pause = createYieldToLoop();
    for (let count = 0; count < pieces; count += 1) {
      putPiece(root, await ask<Piece>('next'));
      await pause();
    }
    return { root, ...rest };
  }

  return {
    readContract,
    locate: (file, spots) => ask<readonly Position[]>({ file, spots }),
    start: () => void start(),
    close: () => void worker?.terminate(),
  };
}
