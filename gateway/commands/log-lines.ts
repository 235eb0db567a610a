// Reads lines of access logs, plain or gzipped, in bounded memory.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { CommandContext } from './context.ts';

/** Bounds the memory for a file without line breaks; lines of the gateway are much shorter. */
const LINE_LENGTH_MAX = 65_536;
/** Replaces the beginning of a line that is too long, so that its rest cannot be parsed. */
const CUT_OFF = '\x00';

export interface OpenLines {
  readonly path: string;
  /** The size in bytes; undefined for standard input and pipes. */
  readonly size: number | undefined;
  readonly pieces: AsyncIterator<readonly string[]>;
  bytesRead(): number;
}

/** Opens a log: `-` is standard input, `.gz` a gzipped file. Fails with a sentence if it cannot be read. */
export async function openLines(
  { input, fail }: Pick<CommandContext, 'input' | 'fail'>,
  path: string,
): Promise<OpenLines> {
  if (path === '-') return { path, size: undefined, pieces: linesOf(input()), bytesRead: () => 0 };
  const about = await stat(path).catch(({ code }) => fail(`The log ${path} cannot be read (${code}).`));
  if (about.isDirectory()) fail(`${path} is a directory.`);
  const bytes = createReadStream(path);
  const size = about.isFile() ? about.size : undefined;
  // The callback does nothing, because reading the second stream reports the errors of both streams.
  const text = path.endsWith('.gz') ? pipeline(bytes, createGunzip(), () => undefined) : bytes;
  return { path, size, pieces: linesOf(text), bytesRead: () => bytes.bytesRead };
}

/** Returns the next lines. Ends the command if the rest cannot be read. */
export async function nextLines({ fail }: Pick<CommandContext, 'fail'>, { path, pieces }: OpenLines) {
  try {
    return await pieces.next();
  } catch (error) {
    return fail(`The log ${path} cannot be read to its end (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** Splits into lines. node:readline is slower and buffers lines of any length. */
async function* linesOf(text: Readable): AsyncGenerator<readonly string[]> {
  let rest = '';
  for await (const piece of text.setEncoding('utf8')) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_LENGTH_MAX) rest = CUT_OFF;
    yield lines;
  }
  if (rest !== '') yield [rest];
}
