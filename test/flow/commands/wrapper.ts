// The wrapper `bin/gateway` around a program that prints one word, because loading the gateway takes longer than all that the wrapper does.

import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** What the program prints. */
export const PRINTED = 'the program';

/** Makes the wrapper in a directory, with the pinned Node of this one, and returns its path. */
export function wrapAround(directory: string): string {
  for (const folder of ['bin', 'gateway', 'node_modules']) mkdirSync(join(directory, folder));
  copyFileSync(join(root, 'bin/gateway'), join(directory, 'bin/gateway'));
  symlinkSync(join(root, 'node_modules/node'), join(directory, 'node_modules/node'));
  writeFileSync(join(directory, 'gateway/main.ts'), `const printed: string = '${PRINTED}';\nconsole.log(printed);\n`);
  return join(directory, 'bin/gateway');
}
