// The commands of docs/ci.md, as the page has them, in a repository with a configuration: they let a sound change pass, and no other.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../support/directory.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [, steps = ''] =
  /```sh\n(bin\/gateway check\n[\s\S]*?)```/.exec(readFileSync(join(root, 'docs/ci.md'), 'utf8')) ?? [];

it('the steps of CI', () => {
  const repository = temporaryDirectory();
  const contract = join(repository, 'openapi/v1/customers.yaml');
  const environment = {
    PATH: process.env.PATH ?? '',
    GATEWAY_CONFIG: join(repository, 'config'),
    GATEWAY_CONTRACTS: join(repository, 'openapi'),
    GATEWAY_DATA: join(repository, 'data'),
    BASE: 'main',
  };
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], { cwd: repository });
  const run = () => {
    const script = `set -e\n${steps}`;
    const { status, stdout, stderr } = spawnSync('sh', ['-c', script], {
      cwd: repository,
      env: environment,
      encoding: 'utf8',
    });
    git('worktree', 'remove', '--force', '.before');
    return { status, said: stdout + stderr };
  };

  mkdirSync(join(repository, 'bin'));
  writeFileSync(join(repository, 'bin/gateway'), `#!/bin/sh\nexec ${join(root, 'bin/gateway')} "$@"\n`, {
    mode: 0o755,
  });
  execFileSync(join(root, 'bin/gateway'), ['init', 'made'], { cwd: repository, env: environment });
  git('init', '--quiet', '--initial-branch', 'main');
  execFileSync('mv', ['made/openapi', 'openapi'], { cwd: repository });
  execFileSync('mv', ['made', 'config'], { cwd: repository });
  git('add', '--all');
  git('commit', '--quiet', '--message', 'all');

  const before = readFileSync(contract, 'utf8');
  const unchanged = run();
  assert.equal(unchanged.status, 0, unchanged.said);
  assert.match(unchanged.said, /No client breaks: 0 breaking changes/);

  writeFileSync(contract, before.replace(/maximum: 100\b/, 'maximum: 50'));
  assert.notEqual(readFileSync(contract, 'utf8'), before);
  const breaking = run();
  assert.equal(breaking.status, 1, breaking.said);
  assert.match(breaking.said, /request-bound-narrowed/);
});
