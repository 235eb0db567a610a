// The files of the page, unchanged and from a fixed list: a URL cannot name any other file.

import { readFile } from 'node:fs/promises';

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

const JAVASCRIPT = 'text/javascript; charset=utf-8';

const scripts = [
  ...['console', 'api', 'follow', 'routes', 'elements', 'format', 'tables'],
  ...[
    'overview',
    'overview-tables',
    'tiles',
    'traffic-charts',
    'time-range',
    'subject',
    'charts',
    'chart-kinds',
    'chart-marks',
    'chart-table',
    'scale',
  ],
  ...[
    'exchanges',
    'story',
    'next-steps',
    'routes-view',
    'audit',
    'configuration',
    'explain',
    'organizations',
    'system',
    'runbook',
    'actions',
  ],
];

/** Content type and file name by path. */
const files = new Map<string, readonly [type: string, name: string]>([
  ['/', ['text/html; charset=utf-8', 'index.html']],
  ['/console/console.css', ['text/css; charset=utf-8', 'console.css']],
  ['/console/icon.svg', ['image/svg+xml', 'icon.svg']],
  ...scripts.map((name) => [`/console/${name}.js`, [JAVASCRIPT, `${name}.js`]] as const),
]);

const read = new Map<string, Promise<PageFile>>();

/** Returns undefined for an unknown path. Reads each file once, at its first request. */
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
