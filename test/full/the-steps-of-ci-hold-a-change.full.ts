// The commands of docs/ci.md, as the page has them, in a repository with a configuration: they let a sound change pass, and no other.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../support/directory.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [, steps = ''] =
  /```sh\n(bin\/gateway check\n[\s\S]*?)```/.exec(readFileSync(join(root, 'docs/ci.md'), 'utf8')) ?? [];

it('the steps of CI', () => {
  const repository = temporaryDirectory();
  const contract = join(repository, 'my-config/openapi/v1/customers.yaml');
  const environment = {
    PATH: process.env.PATH ?? '',
    GATEWAY_CONFIG: 'my-config',
    GATEWAY_CONTRACTS: 'my-config/openapi',
    GATEWAY_DATA: join(repository, 'data'),
    BASE: 'main',
  };
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], { cwd: repository });
  const run = (lines: string) => {
    const script = `set -e\n${lines}`;
    const { status, stdout, stderr } = spawnSync('sh', ['-c', script], {
      cwd: repository,
      env: environment,
      encoding: 'utf8',
    });
    // A step that fails before it leaves none.
    if (existsSync(join(repository, '.before'))) git('worktree', 'remove', '--force', '.before');
    return { status, said: stdout + stderr };
  };

  mkdirSync(join(repository, 'bin'));
  writeFileSync(join(repository, 'bin/gateway'), `#!/bin/sh\nexec ${join(root, 'bin/gateway')} "$@"\n`, {
    mode: 0o755,
  });
  const gateway = (...words: string[]) =>
    execFileSync(join(root, 'bin/gateway'), words, { cwd: repository, env: environment });
  gateway('init', 'my-config');
  gateway('contract', 'publish');
  git('init', '--quiet', '--initial-branch', 'main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'all');

  const before = readFileSync(contract, 'utf8');
  const unchanged = run(steps);
  assert.equal(unchanged.status, 0, unchanged.said);
  assert.match(unchanged.said, /No client breaks: 0 breaking changes/);

  writeFileSync(contract, before.replace(/maximum: 100\b/, 'maximum: 50'));
  assert.notEqual(readFileSync(contract, 'utf8'), before);
  const breaking = run(steps);
  assert.equal(breaking.status, 1, breaking.said);
  assert.match(breaking.said, /request-bound-narrowed/);

  const compared = run(steps.replace(/^bin\/gateway (check|contract lint)\n/gm, ''));
  assert.equal(compared.status, 1, 'the comparison alone finds it, although the promise lies beside the contract');
  assert.match(compared.said, /breaking, request-bound-narrowed/);
});
