// `node tools/provide-packages.ts FOLDER…`: installs the packages that only a folder of this repository needs, once for each state of
// its lock file. Benchmarks and browser tests have packages of their own, so that an installation of the gateway does without them.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** `folder`: below the root, with a package.json and its lock file. Throws what npm prints if it cannot install them. */
export function providePackages(folder: string): void {
  const directory = join(root, folder);
  const lock = readFileSync(join(directory, 'package-lock.json'));
  const digest = createHash('sha256').update(lock).digest('hex');
  const mark = join(directory, 'node_modules/.installed');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === digest) return;
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  execFileSync('npm', ['ci', ...options], { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
  writeFileSync(mark, digest);
}

if (import.meta.main) for (const folder of process.argv.slice(2)) providePackages(folder);
