// The packages of the services that are tried: installed once, below node_modules/.cache, and again when their list changes.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const apps = fileURLToPath(new URL('../apps', import.meta.url));
const JAVA_MIN = 17;
const DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1';
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

/** Undefined if this machine can run what Maven provides; otherwise what it lacks. */
export async function missingForJava(): Promise<string | undefined> {
  try {
    const { stderr } = await run('java', ['-version']);
    if (Number(/version "(\d+)/.exec(stderr)?.[1]) < JAVA_MIN) return `Java ${JAVA_MIN}`;
    await run('mvn', ['--version']);
    return undefined;
  } catch (error) {
    return (error as { path?: string }).path ?? 'Java and Maven';
  }
}

/**
 * The directory of an app whose artifact.json names an archive of Maven's: unpacked, and prepared by a command of its own. Throws if the
 * archive is another one than listed.
 */
export async function mavenAppFor(app: string, prepare: { file: string; args: readonly string[] }): Promise<string> {
  const list = join(apps, app, 'artifact.json');
  const { artifact, sha256 } = JSON.parse(readFileSync(list, 'utf8')) as { artifact: string; sha256: string };
  return installed(app, list, async (draft) => {
    mkdirSync(draft, { recursive: true });
    const copy = [`-Dartifact=${artifact}`, `-DoutputDirectory=${draft}`, '-Dmdep.stripVersion=true'];
    await run('mvn', ['--batch-mode', '--quiet', `${DEPENDENCY_PLUGIN}:copy`, ...copy], { cwd: draft });
    const [archive = ''] = readdirSync(draft);
    const found = createHash('sha256')
      .update(readFileSync(join(draft, archive)))
      .digest('hex');
    if (found !== sha256) throw new Error(`${artifact} has the digest ${found}`);
    await run('tar', ['--extract', '--strip-components=1', '--file', archive], { cwd: draft });
    rmSync(join(draft, archive));
    await run(join(draft, prepare.file), prepare.args, { cwd: draft });
  });
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
