// The files of each organization and mode, below one directory. An upload replaces a file in one step. Each new shelf begins with two
// files to try: a short text, and one of a megabyte for ranged downloads.
import { createHash, randomUUID } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  type ReadStream,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SandboxRefusal } from '../refusals.ts';
import type { Scope } from '../store.ts';

export interface FileFacts {
  readonly name: string;
  readonly size: number;
  readonly updated_at: string;
}

export interface StoredFile extends FileFacts {
  /** With its quotation marks. */
  readonly etag: string;
  read(first: number, last: number): ReadStream;
}

export interface Shelf {
  /** By name. */
  list(scope: Scope): FileFacts[];
  find(scope: Scope, name: string): StoredFile | undefined;
  /** Replaces the file of this name. Throws body_too_large, and upstream_rejected once there are too many files. */
  keep(scope: Scope, name: string, content: Readable): Promise<FileFacts>;
  /** False if there is no such file. */
  remove(scope: Scope, name: string): boolean;
}

export const FILE_BYTES_MAX = 64 * 1024 * 1024;
const FILES_MAX = 50;

export function createShelf(directory: string): Shelf {
  rmSync(join(directory, 'drafts'), { recursive: true, force: true });
  mkdirSync(join(directory, 'drafts'), { recursive: true });

  /** The names of organizations are not those of directories. */
  function placeOf(scope: Scope): string {
    const place = join(directory, createHash('sha256').update(scope).digest('hex').slice(0, 32));
    if (!existsSync(place)) writeDemoFiles(place);
    return place;
  }

  const pathOf = (scope: Scope, name: string) => join(placeOf(scope), name);

  return {
    list(scope) {
      const place = placeOf(scope);
      return readdirSync(place)
        .sort()
        .map((name) => factsOf(join(place, name), name));
    },
    find(scope, name) {
      const path = pathOf(scope, name);
      if (!existsSync(path)) return undefined;
      const { ino, size, mtimeMs } = statSync(path);
      const etag = `"${ino.toString(36)}-${size.toString(36)}-${Math.round(mtimeMs).toString(36)}"`;
      return { ...factsOf(path, name), etag, read: (start, end) => createReadStream(path, { start, end }) };
    },
    async keep(scope, name, content) {
      const path = pathOf(scope, name);
      if (!existsSync(path) && readdirSync(placeOf(scope)).length >= FILES_MAX)
        throw new SandboxRefusal('upstream_rejected', { message: `There are ${FILES_MAX} files. Delete one first.` });
      const draft = join(directory, 'drafts', randomUUID());
      try {
        // Opened before the first byte: a stream that opens by itself may do so after a refusal has cleared up.
        const file = await open(draft, 'wx');
        // Not the request itself: a pipeline would destroy the connection that a refusal is to be sent on.
        await pipeline(content.iterator({ destroyOnReturn: false }), bounded, file.createWriteStream());
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      return factsOf(path, name);
    },
    remove(scope, name) {
      const path = pathOf(scope, name);
      if (!existsSync(path)) return false;
      rmSync(path);
      return true;
    },
  };
}

function factsOf(path: string, name: string): FileFacts {
  const { size, mtime } = statSync(path);
  return { name, size, updated_at: mtime.toISOString() };
}

async function* bounded(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > FILE_BYTES_MAX) throw new SandboxRefusal('body_too_large', { message: 'A file has at most 64 MiB.' });
    yield chunk;
  }
}

const WELCOME = 'Files of your organization. Put one here, fetch a part of numbers.txt, and watch /v1/file-events.\n';
const LINES = 65_536;

function writeDemoFiles(place: string): void {
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'welcome.txt'), WELCOME);
  // Sixteen bytes per line: the number of a line gives the start of a range.
  const lines = Array.from({ length: LINES }, (_, index) => `line ${String(index + 1).padStart(10, '0')}\n`);
  writeFileSync(join(place, 'numbers.txt'), lines.join(''));
}
