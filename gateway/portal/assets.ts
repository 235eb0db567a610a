// The static assets of pages: a fixed list of files, and the colours and the logo of the configuration. A URL never selects a file by path.

import { readFile } from 'node:fs/promises';
import { type PortalResource, toResource } from './resource.ts';

const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

const files: readonly (readonly [name: string, type: string])[] = [
  ['portal.css', CSS],
  ['portal.js', JAVASCRIPT],
  ['search.js', JAVASCRIPT],
  ['try.js', JAVASCRIPT],
  ['page-tools.js', JAVASCRIPT],
  ['account.css', CSS],
  ['account.js', JAVASCRIPT],
  ['account-api.js', JAVASCRIPT],
  ['account-advice.js', JAVASCRIPT],
  ['account-figures.js', JAVASCRIPT],
  ['account-chart.js', JAVASCRIPT],
  ['account-use.js', JAVASCRIPT],
  ['account-requests.js', JAVASCRIPT],
  ['account-keys.js', JAVASCRIPT],
  ['account-limits.js', JAVASCRIPT],
  ['account-key-parts.js', JAVASCRIPT],
  ['account-key-steps.js', JAVASCRIPT],
  ['account-key-actions.js', JAVASCRIPT],
  ['account-dialog.js', JAVASCRIPT],
  ['icon.svg', 'image/svg+xml'],
];

/** How the configuration wants pages to look. */
export interface Look {
  readonly logo: { readonly type: string; readonly body: Buffer } | undefined;
  /** `#rrggbb` */
  readonly colours: { readonly light?: string | undefined; readonly dark?: string | undefined };
}

/** Maps the path of each asset to the function that makes it. */
export function assetsFor(look: Look): ReadonlyMap<string, () => Promise<PortalResource>> {
  const made = new Map<string, () => Promise<PortalResource>>(
    files.map(([name, type]) => [
      `/docs/assets/${name}`,
      async () => toResource('asset', type, await readFile(new URL(`./assets/${name}`, import.meta.url))),
    ]),
  );
  made.set('/docs/assets/theme.css', () => toResource('asset', CSS, themeOf(look)));
  const { logo } = look;
  if (logo !== undefined) made.set('/docs/assets/logo', () => toResource('asset', logo.type, logo.body));
  return made;
}

function themeOf({ colours: { light, dark } }: Look): string {
  const rule = (colour: string) => `:root { --accent: ${colour}; --mark: ${colour}; }`;
  const parts = [
    ...(light === undefined ? [] : [rule(light)]),
    ...(dark === undefined ? [] : [`@media (prefers-color-scheme: dark) { ${rule(dark)} }`]),
  ];
  // A light colour alone would be too dark on dark pages.
  if (light !== undefined && dark === undefined)
    parts.push('@media (prefers-color-scheme: dark) { :root { --accent: #8ab4ff; --mark: #4a86ee; } }');
  return `/* The colours of the configuration. */\n${parts.join('\n')}\n`;
}
