// The files of the page, unchanged and from a fixed list: a URL cannot name any other file.

import { readFile } from 'node:fs/promises';
import { LOOK_FILES } from '../shared/look/look-files.ts';

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

interface Source {
  readonly type: string;
  read(): Promise<Buffer>;
}

const onPage = (name: string, type: string): Source => ({
  type,
  read: () => readFile(new URL(`./page/${name}`, import.meta.url)),
});

/** Each file by its path. */
const files = new Map<string, Source>([
  ['/', onPage('index.html', 'text/html; charset=utf-8')],
  ['/console/console.css', onPage('console.css', 'text/css; charset=utf-8')],
  ['/console/icon.svg', onPage('icon.svg', 'image/svg+xml')],
  ...scripts.map((name) => [`/console/${name}.js`, onPage(`${name}.js`, JAVASCRIPT)] as const),
  // The style sheet and the faces that the documentation has, too.
  ...LOOK_FILES.map((file) => [`/console/${file.name}`, file] as const),
]);

const read = new Map<string, Promise<PageFile>>();

/** Returns undefined for an unknown path. Reads each file once, at its first request. */
export function pageFile(path: string): Promise<PageFile> | undefined {
  const file = files.get(path);
  if (file === undefined) return undefined;
  let known = read.get(path);
  if (known === undefined) {
    known = file.read().then((body) => ({ type: file.type, body }));
    read.set(path, known);
  }
  return known;
}
