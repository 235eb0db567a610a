// Lines of access logs, plain or gzipped, in bounded memory.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { CommandContext } from './context.ts';

/** No line of the gateway comes near it: what has no line ends is not gathered in memory. */
const LINE_LENGTH_MAX = 65_536;
/** What stands in place of the beginning of a longer line, so that nobody can read the rest as one. */
const CUT_OFF = '\x00';

export interface OpenLines {
  readonly path: string;
  /** Bytes; undefined where that is not known. */
  readonly size: number | undefined;
  readonly pieces: AsyncIterator<readonly string[]>;
  bytesRead(): number;
}

/** `-` is standard input; a name that ends in .gz is a gzipped log. Fails with a sentence when it cannot be read. */
export async function openLines(
  { input, fail }: Pick<CommandContext, 'input' | 'fail'>,
  path: string,
): Promise<OpenLines> {
  if (path === '-') return { path, size: undefined, pieces: linesOf(input()), bytesRead: () => 0 };
  const about = await stat(path).catch(({ code }) => fail(`The log ${path} cannot be read (${code}).`));
  if (about.isDirectory()) fail(`${path} is a directory.`);
  const bytes = createReadStream(path);
  const size = about.isFile() ? about.size : undefined;
  // What goes wrong in either of the two is told by whoever reads the second.
  const text = path.endsWith('.gz') ? pipeline(bytes, createGunzip(), () => undefined) : bytes;
  return { path, size, pieces: linesOf(text), bytesRead: () => bytes.bytesRead };
}

/** Some lines more. Fails with a sentence when there are more that cannot be read. */
export async function nextLines({ fail }: Pick<CommandContext, 'fail'>, { path, pieces }: OpenLines) {
  try {
    return await pieces.next();
  } catch (error) {
    return fail(`The log ${path} cannot be read to its end (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** Not by node:readline, which is slower and keeps lines of any length. */
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
