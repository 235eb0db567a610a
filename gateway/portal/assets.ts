// What pages are made of besides HTML: a fixed list of files, of our own and of Swagger UI. No file is found by what a URL says.

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

/** Path → how it is read. */
export const ASSETS: ReadonlyMap<string, () => Promise<PortalResource>> = new Map(
  files.map(([name, type, file]) => [
    `/docs/assets/${name}`,
    async () => toResource('asset', type, await readFile(file(name))),
  ]),
);
