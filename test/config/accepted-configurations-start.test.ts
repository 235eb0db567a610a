// `check` reports every fault that refuses a start, in the same sentence: secrets, listeners and the data directory included.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { CommandContext } from '../../gateway/commands/context.ts';
import { runInProcess } from '../support/in-process.ts';
import { environmentOf, type Files, spoiled, writeFiles } from './faults.ts';

interface Obstacle {
  readonly files?: Files;
  readonly environment?: Readonly<Record<string, string>>;
  /** Entry → content of a file in SECRETS_DIR. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly says: RegExp;
}

const onSandbox = 'live: sandbox:mail\n    credential: { basic: { user: admin, secret: items_login } }';

const obstacles: Readonly<Record<string, Obstacle>> = {
  'a short secret of key digests': {
    environment: { KEY_PEPPER: 'short' },
    says: /^secrets: key_pepper: The secrets entry key_pepper is too short: it needs at least 16 characters\. Correct the file SECRETS_DIR\/key_pepper or the variable KEY_PEPPER\.$/m,
  },
  'assertion keys that are none': {
    environment: { ASSERTION_KEYS: '{}' },
    says: /^secrets: assertion_keys: The secrets entry assertion_keys is malformed: it is not a JWK Set with at least one key\./m,
  },
  'an empty file of the token of operators': {
    secrets: { admin_token: '' },
    says: /^secrets: admin_token: The secrets entry admin_token in .* is an empty file\./m,
  },
  'a short secret of cursors, on the sandbox': {
    files: spoiled('config/upstreams.yaml', 'live: http://items:3000', 'live: sandbox:platform'),
    environment: { CURSOR_SECRET: 'short' },
    says: /^secrets: cursor_secret: The secrets entry cursor_secret is too short/m,
  },
  'an empty file of a credential, on the sandbox': {
    files: spoiled('config/upstreams.yaml', 'live: http://items:3000', onSandbox),
    secrets: { items_login: '' },
    says: /^\S*config\/upstreams\.yaml:5:\d+: upstreams\.items\.credential\.basic\.secret: The secrets entry items_login in .* is an empty file\./m,
  },
  'one port for two listeners': {
    environment: { PORT: '8443', ADMIN_PORT: '8443' },
    says: /^environment: ADMIN_PORT: the public listener has the port 8443 already\. Set PORT or ADMIN_PORT to another one\.$/m,
  },
  'a data directory that is a file': {
    environment: { GATEWAY_DATA: 'config/gateway.yaml' },
    says: /^environment: GATEWAY_DATA: \S*config\/gateway\.yaml is not a directory\./m,
  },
  'an address of a trusted proxy with leading zeros': {
    files: spoiled('config/gateway.yaml', '[]', '[010.0.0.1]'),
    says: /^\S*config\/gateway\.yaml:2:\d+: trustedProxies\.0: "010\.0\.0\.1" is not possible here\./m,
  },
};

async function refusals({ files = {}, environment = {}, secrets = {} }: Obstacle) {
  const directory = writeFiles(files);
  const secretsDirectory = join(directory, 'secrets');
  mkdirSync(secretsDirectory);
  for (const [entry, text] of Object.entries(secrets)) writeFileSync(join(secretsDirectory, entry), text);
  const { GATEWAY_DATA = 'data', ...rest } = environment;
  const all = {
    ...environmentOf(directory),
    SECRETS_DIR: secretsDirectory,
    PORT: '0',
    ADMIN_PORT: '0',
    ...rest,
    GATEWAY_DATA: join(directory, GATEWAY_DATA),
  };
  try {
    const check = await runInProcess(['check'], { environment: all });
    // A refused start ends before it handles signals.
    const adjust = (context: CommandContext) => ({ ...context, onReload: () => undefined });
    const start = await runInProcess(['start'], { environment: all, adjust });
    return { check, start };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe('check reports a fault that refuses a start:', () => {
  for (const [what, obstacle] of Object.entries(obstacles)) {
    it(what, async () => {
      const { check, start } = await refusals(obstacle);
      assert.deepEqual([check.code, start.code], [1, 1]);
      assert.match(check.stderr, obstacle.says);
      assert.match(start.stderr, obstacle.says);
    });
  }
});
