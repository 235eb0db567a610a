// A second tree of this repository, as it was at a commit, with its packages.

import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../test/support/directory.ts';
import { path } from '../contestants.ts';

export interface Tree {
  /** Absolute. */
  readonly directory: string;
  /** Of the commit, shortened. */
  readonly commit: string;
  remove(): void;
}

const own = path('..');

/**
 * Checks the commit out into a temporary directory. It shares the packages of this tree where its lock file is the same, else
 * `npm ci` brings it those that it was locked to. It is removed at the latest when this process exits.
 */
export function checkOut(commit: string): Tree {
  const hash = git('rev-parse', '--short=12', '--verify', `${commit}^{commit}`);
  const parent = temporaryDirectory();
  const directory = join(parent, hash);
  let removed = false;
  const remove = () => {
    if (removed) return;
    removed = true;
    rmSync(parent, { recursive: true, force: true, maxRetries: 5 });
    git('worktree', 'prune');
  };
  process.once('exit', remove);
  git('worktree', 'add', '--quiet', '--detach', directory, hash);
  const lockOf = (tree: string) => readFileSync(join(tree, 'package-lock.json'), 'utf8');
  if (lockOf(directory) === lockOf(own)) symlinkSync(join(own, 'node_modules'), join(directory, 'node_modules'));
  else
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
  return { directory, commit: hash, remove };
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: own, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}
