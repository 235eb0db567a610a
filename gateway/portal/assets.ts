// The static assets of pages: a fixed list of files, and the colours and the logo of the configuration. A URL never selects a file by path.

import { readFile } from 'node:fs/promises';
import { LOOK_FILES } from '../shared/look/look-files.ts';
import { iconOf, type Look, themeOf } from './look.ts';
import { pageCode } from './page-code.ts';
import { type PortalResource, toResource } from './resource.ts';

const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

const styles = ['portal', 'reference', 'account'];
const scripts = [
  ...[
    'portal',
    'search',
    'key',
    'theme',
    'theme-first',
    'filter',
    'request',
    'request-form',
    'answer',
    'page-tools',
    'agents',
  ],
  ...[
    'account',
    'account-api',
    'account-advice',
    'account-figures',
    'account-chart',
    'account-use',
    'account-requests',
  ],
  ...[
    'account-keys',
    'account-limits',
    'account-key-parts',
    'account-key-steps',
    'account-key-actions',
    'account-dialog',
  ],
];

type Make = () => Promise<PortalResource>;

/** Maps the path of each asset to the function that makes it. `title`: the name that a mark is drawn from. */
export function assetsFor(look: Look, title: string): ReadonlyMap<string, Make> {
  const { logo } = look;
  const own = (name: string, type: string): [string, Make] => [
    `/docs/assets/${name}`,
    async () => toResource('asset', type, await readFile(new URL(`./assets/${name}`, import.meta.url))),
  ];
  return new Map<string, Make>([
    ...styles.map((name) => own(`${name}.css`, CSS)),
    ...scripts.map((name) => own(`${name}.js`, JAVASCRIPT)),
    ...LOOK_FILES.map(({ name, type, read }): [string, Make] => [
      `/docs/assets/${name}`,
      async () => toResource('asset', type, await read()),
    ]),
    ...pageCode().map(([path, read]): [string, Make] => [
      path,
      async () => toResource('asset', JAVASCRIPT, await read()),
    ]),
    ['/docs/assets/theme.css', () => toResource('asset', CSS, themeOf(look))],
    ['/docs/assets/icon.svg', () => toResource('asset', 'image/svg+xml', iconOf(title, look))],
    ...(logo ? [['/docs/assets/logo', () => toResource('asset', logo.type, logo.body)] as [string, Make]] : []),
  ]);
}
