// The modules of the gateway that pages use, too: what writes samples writes them again as the reader types. The browser gets the same
// sources, without their types.

import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';

/** Modules that import each other and nothing else, below this folder. */
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

/** Each module with a function that reads it; the name is its path below the folder of the assets. */
export function pageCode(): readonly (readonly [name: string, read: () => Promise<string>])[] {
  return MODULES.map((name) => [`code/${name}`, () => scriptOf(name)]);
}

async function scriptOf(name: string): Promise<string> {
  const source = await readFile(new URL(name, import.meta.url), 'utf8');
  // What is taken out becomes spaces, so that places in errors stay right; a browser needs none at the ends of lines.
  return stripTypeScriptTypes(source)
    .replace(/[ ]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n');
}
