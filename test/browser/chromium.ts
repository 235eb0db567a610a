// The browser that the tests drive: CHROMIUM, else the one on the PATH, else the Debian package. Ends with an error that says how to get
// one; tests are never skipped for lack of it.

import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const REMEDY =
  'The browser tests need Chromium: put chromium on the PATH, for example with "sudo apt-get install chromium", or set CHROMIUM to ' +
  'the path of a Chromium or Chrome.';

/** The path of a browser; installs the Debian package when root and there is none. Throws with a remedy. */
export function provideChromium(): string {
  const found = process.env.CHROMIUM ?? onPath();
  if (found) return found;
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    console.log('The browser tests need Chromium: installing the Debian package chromium.');
    run('apt-get', ['update']);
    run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium', 'fonts-liberation']);
    const installed = onPath();
    if (installed) return installed;
  }
  throw new Error(REMEDY);
}

function onPath(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function run(program: string, args: readonly string[]): void {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status, error, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env: environment });
  if (status === 0) return;
  throw new Error(`${program} ${args.join(' ')} failed.\n${error?.message ?? `${stdout}${stderr}`}\n${REMEDY}`);
}
