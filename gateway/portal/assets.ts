// The static assets of pages: a fixed list of files, the portal's own and Swagger UI's. A URL never selects a file by path.

import { readFile } from 'node:fs/promises';
import { type PortalResource, toResource } from './resource.ts';

const own = (name: string) => new URL(`./assets/${name}`, import.meta.url);
const swagger = (name: string) => new URL(import.meta.resolve(`swagger-ui-dist/${name}`));

const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

const files: readonly (readonly [name: string, type: string, file: (name: string) => URL])[] = [
  ['portal.css', CSS, own],
  ['reference.css', CSS, own],
  ['reference.js', JAVASCRIPT, own],
  ['icon.svg', 'image/svg+xml', own],
  ['swagger-ui.css', CSS, swagger],
  ['swagger-ui-bundle.js', JAVASCRIPT, swagger],
];

/** Maps the path of each asset to the function that reads it. */
export const ASSETS: ReadonlyMap<string, () => Promise<PortalResource>> = new Map(
  files.map(([name, type, file]) => [
    `/docs/assets/${name}`,
    async () => toResource('asset', type, await readFile(file(name))),
  ]),
);
