// Reads contracts in a thread of its own, so that a gateway that serves is not held up: 13 MB of OpenAPI take a second. What was read
// comes over piece by piece, since taking it over at once would hold up for a tenth of that.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Mistake } from '../mistakes.ts';
import type { ContractContent, JsonObject, ReadContract } from './document.ts';
import { createPause } from './slices.ts';

/** What the thread answers when it is told a file to read. */
export interface ReadReply {
  readonly mistakes: readonly Mistake[];
  /** Absent: there is nothing to serve in the file. */
  readonly content: (ContractContent & { readonly pieces: number }) | undefined;
}

/** Some members of an object somewhere in the document. */
export interface Piece {
  readonly place: readonly string[];
  readonly members: JsonObject;
}

export interface ContractReader {
  /** One file at a time. Rejects when the thread fails. */
  readonly readContract: ReadContract;
  close(): void;
}

/** The thread is started by the first file. */
export function createContractReader(): ContractReader {
  let worker: Worker | undefined;
  const ended = new AbortController();

  function start(): Worker {
    const started = new Worker(new URL('./reader-thread.ts', import.meta.url));
    // Nobody waits for the answer of a thread that is gone.
    started.once('exit', () => ended.abort());
    return started;
  }

  async function ask<Reply>(message: unknown): Promise<Reply> {
    worker ??= start();
    worker.postMessage(message);
    const [reply] = await once(worker, 'message', { signal: ended.signal });
    return reply as Reply;
  }

  return {
    async readContract(file, mistakes) {
      const reply = await ask<ReadReply>({ file });
      mistakes.push(...reply.mistakes);
      if (reply.content === undefined) return undefined;
      const { root, pieces, ...rest } = reply.content;
      const pause = createPause();
      for (let count = 0; count < pieces; count += 1) {
        const { place, members } = await ask<Piece>('next');
        Object.assign(placeIn(root, place), members);
        await pause();
      }
      return { root, ...rest };
    },
    close: () => void worker?.terminate(),
  };
}

function placeIn(root: JsonObject, place: readonly string[]): JsonObject {
  return place.reduce((object, name) => object[name] as JsonObject, root);
}
