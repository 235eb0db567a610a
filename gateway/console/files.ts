// The files that the page is made of, as they are: a fixed list. No file is found by what a URL says.

import { readFile } from 'node:fs/promises';

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

const JAVASCRIPT = 'text/javascript; charset=utf-8';

const scripts = [
  ...['console', 'feed', 'panels', 'traffic-panels', 'state-panels', 'attention'],
  ...['charts', 'scale', 'tables', 'elements', 'format'],
];

/** By path. */
const files = new Map<string, readonly [type: string, name: string]>([
  ['/', ['text/html; charset=utf-8', 'index.html']],
  ['/console/console.css', ['text/css; charset=utf-8', 'console.css']],
  ['/console/icon.svg', ['image/svg+xml', 'icon.svg']],
  ...scripts.map((name) => [`/console/${name}.js`, [JAVASCRIPT, `${name}.js`]] as const),
]);

const read = new Map<string, Promise<PageFile>>();

/** Undefined: there is no such file. Read once, when it is first asked for. */
export function pageFile(path: string): Promise<PageFile> | undefined {
  const file = files.get(path);
  if (file === undefined) return undefined;
  const [type, name] = file;
  let known = read.get(path);
  if (known === undefined) {
    known = readFile(new URL(`./page/${name}`, import.meta.url)).then((body) => ({ type, body }));
    read.set(path, known);
  }
  return known;
}
