// The code of a former version, from the history of this repository, in a temporary directory.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Former } from './fixture.ts';
import { PRESENT } from './run.ts';

const run = promisify(execFile);

export interface FormerTree {
  /** Its top directory, with the packages of the present version: those of the version before are the same. */
  readonly directory: string;
  /** Loads a module of it, such as `gateway/idempotency/redis-store.ts`. */
  load<T>(path: string): Promise<T>;
  remove(): void;
}

/** Undefined if this checkout has no history of it, as a shallow clone or an archive. */
export async function checkOut(version: Former): Promise<FormerTree | undefined> {
  try {
    await run('git', ['-C', PRESENT, 'cat-file', '-e', `${version}^{tree}`]);
  } catch {
    return undefined;
  }
  const directory = mkdtempSync(join(tmpdir(), `gateway-${version}-`));
  const archive = join(directory, 'tree.tar');
  await run('git', [
    '-C',
    PRESENT,
    'archive',
    '--output',
    archive,
    version,
    'bin',
    'gateway',
    'sandbox',
    'openapi',
    'config',
    'package.json',
  ]);
  await run('tar', ['-xf', archive, '-C', directory]);
  symlinkSync(join(PRESENT, 'node_modules'), join(directory, 'node_modules'));
  return {
    directory,
    load: (path) => import(join(directory, path)),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Why a test that needs a former version does not run. */
export const noHistory = (version: Former) =>
  `this checkout has no history of ${version}: fetch it ("git fetch --unshallow") to try the versions together`;
