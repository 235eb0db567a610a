// The static assets of pages: a fixed list of files, and the colours and the logo of the configuration. A URL never selects a file by path.

import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { contentVersionOf } from '../shared/http/content-version.ts';
import { LOOK_FILES } from '../shared/look/look-files.ts';
import { wordList } from '../shared/text.ts';
import { iconOf, type Look, themeOf } from './look.ts';
import { type PortalResource, toResource } from './resource.ts';

/** The folder of all assets. */
export const ASSETS = '/docs/assets';

const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

const STYLES = ['portal', 'reference', 'account'];
const SCRIPTS = wordList(
  'portal search search-rank search-path key theme theme-first filter changes request request-form answer stream',
  'refusal page-tools agents',
  'account account-api account-advice account-explain account-figures account-chart account-use account-requests',
  'account-operations account-organization',
  'account-keys account-limits account-key-parts account-key-steps account-key-actions account-dialog',
);

export interface Assets {
  /** The folder of the assets, with their version. */
  readonly base: string;
  readonly version: string;
  /** By path, without the version. */
  readonly makes: ReadonlyMap<string, () => Promise<PortalResource>>;
}

/** Reads all assets, each of which is compressed when it is first requested. `title` is the name from which a mark is drawn. */
export async function openAssets(look: Look, title: string): Promise<Assets> {
  const contents = await Promise.all(
    sourcesOf(look, title).map(async ({ name, type, read }) => ({ name, type, content: await read() })),
  );
  const version = contentVersionOf(contents.map(({ content }) => content));
  const makes = contents.map(
    ({ name, type, content }) => [`${ASSETS}/${name}`, () => toResource('asset', type, content)] as const,
  );
  return { base: `${ASSETS}/${version}`, version, makes: new Map(makes) };
}

interface Source {
  readonly name: string;
  readonly type: string;
  read(): Promise<string | Buffer>;
}

function sourcesOf(look: Look, title: string): readonly Source[] {
  const { logo } = look;
  const own = (name: string, type: string): Source => ({
    name,
    type,
    read: () => readFile(new URL(`./assets/${name}`, import.meta.url)),
  });
  const madeSource = (name: string, type: string, content: string | Buffer): Source => ({
    name,
    type,
    read: async () => content,
  });
  return [
    ...STYLES.map((name) => own(`${name}.css`, CSS)),
    ...SCRIPTS.map((name) => own(`${name}.js`, JAVASCRIPT)),
    ...LOOK_FILES,
    ...pageCode().map(([name, read]) => ({ name, type: JAVASCRIPT, read })),
    madeSource('theme.css', CSS, themeOf(look)),
    madeSource('icon.svg', 'image/svg+xml', iconOf(title, look)),
    ...(logo ? [madeSource('logo', logo.type, logo.body)] : []),
  ];
}

/**
 * The modules of the gateway that also run in the browser, where they rewrite the samples of a page while the reader types. The browser
 * gets the same sources without their types. These modules import only each other.
 */
const MODULES = [
  'html.ts',
  'highlight.ts',
  'samples/sample-request.ts',
  'samples/samples.ts',
  'samples/curl.ts',
  'samples/javascript.ts',
  'samples/python.ts',
  'samples/go.ts',
  'samples/web-socket.ts',
] as const;

/** Returns each module with a function that reads it. The name is its path below the folder of the assets. */
function pageCode(): readonly (readonly [name: string, read: () => Promise<string>])[] {
  return MODULES.map((name) => [`code/${name}`, () => scriptOf(name)]);
}

async function scriptOf(name: string): Promise<string> {
  const source = await readFile(new URL(name, import.meta.url), 'utf8');
  // The removed types become spaces, so that positions in errors stay correct. Spaces at the ends of lines are removed, because no position
  // needs them.
  return stripTypeScriptTypes(source)
    .replace(/[ ]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n');
}
