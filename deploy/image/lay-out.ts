// Builds the file tree of the image in a directory: copies the files of the Dockerfile, and runs its installation of packages.

import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createIgnored, parseDockerfile, type Stage } from './dockerfile.ts';

const shell = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

export interface LaidOut {
  /** The last stage of the Dockerfile. */
  readonly image: Stage;
  /** Where a path of the image is on this machine. */
  at(path: string): string;
}

/**
 * Lays the image out below `directory`. Commands are run as they stand, with `path` as PATH, if they install packages; those that make
 * the directories of volumes are done by hand, since they need root. Rejects when a command fails.
 */
export async function layOut(directory: string, path: string): Promise<LaidOut> {
  const stages = parseDockerfile(readFileSync(join(root, 'Dockerfile'), 'utf8'));
  const ignored = createIgnored(readFileSync(join(root, '.dockerignore'), 'utf8'));
  const image = stages.at(-1);
  if (image === undefined) throw new Error('The Dockerfile has no stage.');
  for (const [index, stage] of stages.entries()) {
    const top = join(directory, stage.name ?? String(index));
    for (const { from, sources, target } of stage.copies) {
      const origin = from === undefined ? root : join(directory, from);
      for (const source of sources)
        copy(join(origin, source), at(top, stage, target, source), from === undefined ? ignored : undefined);
    }
    for (const command of stage.runs) {
      if (!command.startsWith('npm ')) continue;
      await shell('sh', ['-c', command], { cwd: join(top, stage.workDirectory), env: { ...process.env, PATH: path } });
    }
  }
  const top = join(directory, image.name ?? String(stages.length - 1));
  for (const volume of image.volumes) mkdirSync(join(top, volume), { recursive: true });
  return { image, at: (inside) => join(top, inside) };
}

/** `COPY a ./` puts the file into the directory, `COPY a ./a` puts it under that name. */
function at(top: string, { workDirectory }: Stage, target: string, source: string): string {
  const place = join(top, target.startsWith('/') ? '' : workDirectory, target);
  return target.endsWith('/') ? join(place, source) : place;
}

function copy(source: string, target: string, ignored?: (path: string) => boolean): void {
  const filter = (file: string) => !ignored?.(relative(root, file));
  if (!filter(source)) throw new Error(`.dockerignore keeps out what the Dockerfile copies: ${relative(root, source)}`);
  cpSync(source, target, { recursive: true, filter, verbatimSymlinks: true });
}

/** Removes all write permissions below the path. */
export function makeReadOnly(directory: string): void {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const file = join(entry.parentPath, entry.name);
    chmodSync(file, statSync(file).mode & 0o555);
  }
  chmodSync(directory, 0o555);
}

/** Gives it back, so that the tree can be removed. */
export function makeWritable(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true }))
    if (entry.isDirectory()) makeWritable(join(entry.parentPath, entry.name));
}
