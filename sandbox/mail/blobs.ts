// Uploads of clients, as files in a directory that is emptied at start and at the end, and never grows beyond a bound: the oldest give way.
// No upload is held in memory as a whole.
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, mkdirSync, type ReadStream, rmSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { limited } from './answers.ts';

export interface Blob {
  readonly id: string;
  readonly size: number;
}

export interface Blobs {
  /**
   * Keeps a stream for an account; the same bytes have the same name. @throws Refused when it is longer than allowed
   */
  keep(accountId: string, content: Readable, bytesMax: number): Promise<Blob>;
  open(accountId: string, id: string): { readonly size: number; readonly content: ReadStream } | undefined;
  close(): void;
}

const ALL_BYTES_MAX = 200_000_000;

/** @param allBytesMax What all of them may take together. */
export function createBlobs(directory: string, allBytesMax = ALL_BYTES_MAX): Blobs {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  /** Oldest first. */
  const sizes = new Map<string, number>();

  const keyOf = (accountId: string, id: string) => `${accountId}-${id}`;

  async function add(key: string, draft: string, size: number): Promise<void> {
    await rename(draft, join(directory, key));
    sizes.delete(key);
    sizes.set(key, size);
    let total = [...sizes.values()].reduce((sum, one) => sum + one, 0);
    for (const [oldest, freed] of [...sizes]) {
      if (total <= allBytesMax) return;
      sizes.delete(oldest);
      total -= freed;
      await rm(join(directory, oldest), { force: true });
    }
  }

  return {
    async keep(accountId, content, bytesMax) {
      const draft = join(directory, randomUUID());
      // Opened before the first byte: a stream that opens by itself may do so after a refusal has cleared up.
      const file = await open(draft, 'wx');
      const hash = createHash('sha256');
      let size = 0;
      async function* measured(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          size += chunk.length;
          if (size > bytesMax) throw limited('maxSizeUpload');
          hash.update(chunk);
          yield chunk;
        }
      }
      try {
        // Not the stream itself: a pipeline would destroy the connection that a refusal is to be sent on.
        const chunks = content.iterator({ destroyOnReturn: false });
        await pipeline(chunks, measured, file.createWriteStream());
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      const id = `c${hash.digest('hex').slice(0, 40)}`;
      await add(keyOf(accountId, id), draft, size);
      return { id, size };
    },
    open(accountId, id) {
      const size = sizes.get(keyOf(accountId, id));
      return size === undefined
        ? undefined
        : { size, content: createReadStream(join(directory, keyOf(accountId, id))) };
    },
    close() {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
