// The packages of the services that are tried: installed once, below node_modules/.cache, and again when their list changes.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const apps = fileURLToPath(new URL('../apps', import.meta.url));
const cache = fileURLToPath(new URL('../../../node_modules/.cache/services', import.meta.url));

/** The directory of an app's sources. */
export function sourcesOf(app: string): string {
  return join(apps, app);
}

/** False if this machine has no Python that can make virtual environments. */
export async function hasPython(): Promise<boolean> {
  try {
    await run('python3', ['-c', 'import venv, ensurepip']);
    return true;
  } catch {
    return false;
  }
}

/** The Python of a virtual environment with the packages of an app's requirements.txt. */
export async function pythonFor(app: string): Promise<string> {
  const requirements = join(apps, app, 'requirements.txt');
  const directory = await installed(app, requirements, async (draft) => {
    await run('python3', ['-m', 'venv', draft]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
    await run(join(draft, 'bin/python3'), pip);
  });
  return join(directory, 'bin/python3');
}

/** A directory with the packages of an app's package.json, and a copy of its sources, which find the packages there. */
export async function nodeAppFor(app: string): Promise<string> {
  const directory = await installed(app, join(apps, app, 'package.json'), async (draft) => {
    mkdirSync(draft, { recursive: true });
    cpSync(join(apps, app, 'package.json'), join(draft, 'package.json'));
    const { npm_config_nodedir: _, ...env } = process.env;
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock'], {
      cwd: draft,
      env,
    });
  });
  cpSync(join(apps, app), directory, { recursive: true });
  return directory;
}

/** Virtual environments and packages may not be moved after they were made: a mark says that one is whole. */
async function installed(app: string, list: string, install: (directory: string) => Promise<void>): Promise<string> {
  const digest = createHash('sha256').update(readFileSync(list)).digest('hex').slice(0, 12);
  const directory = join(cache, `${app}-${digest}`);
  const mark = join(directory, '.installed');
  if (existsSync(mark)) return directory;
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  await install(directory);
  mkdirSync(mark);
  for (const name of readdirSync(cache))
    if (name.startsWith(`${app}-`) && name !== `${app}-${digest}`) rmSync(join(cache, name), { recursive: true });
  return directory;
}
