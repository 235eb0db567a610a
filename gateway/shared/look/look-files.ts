// The files that the pages of clients and of operators share: one style sheet and its two fonts, in two files each (licences beside them).

import { readFile } from 'node:fs/promises';

interface LookFile {
  readonly name: string;
  /** A media type. */
  readonly type: string;
  read(): Promise<Buffer>;
}

/** The style sheet names the fonts by their file names, because all are served from one folder. */
export const LOOK_FILES: readonly LookFile[] = [
  file('look.css', 'text/css; charset=utf-8'),
  ...['text', 'text-more', 'code', 'code-more'].map((name) => file(`${name}.woff2`, 'font/woff2')),
];

function file(name: string, type: string): LookFile {
  return { name, type, read: () => readFile(new URL(name, import.meta.url)) };
}
