// What is simulated takes clocks, timers and random numbers as an argument (gateway/shared/machine.ts): a simulation repeats an order of
// events only if nothing else decides on it. biome.json forbids the globals in the same folders; this test knows the members and the
// modules of Node.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

const SIMULATED = [
  'gateway/acme/',
  'gateway/administration/confirmations.ts',
  'gateway/auth/',
  'gateway/replay/',
  'gateway/limits/',
  'gateway/sessions/live/',
  'gateway/sessions/refresh/',
  'gateway/sessions/store/',
  'gateway/shared/stores/change-follower.ts',
  'gateway/shared/stores/look-up.ts',
  'gateway/usage/',
  'gateway/wiring/reload.ts',
];

/** Parts of these folders that no simulation runs. */
const APART: Readonly<Record<string, string>> = {
  'gateway/acme/acme-http.ts': 'the network',
  'gateway/auth/assertions/': 'keys that are read again from time to time, without a protocol between gateways',
  'gateway/auth/organization-search.ts': 'gives way to requests while it reads',
  'gateway/auth/tokens/': 'keys of issuers, the same',
  'gateway/limits/addresses/accepted-credentials.ts': 'a secret of the process',
  'gateway/limits/addresses/login-queue.ts': 'waits for failures that are counted',
  'gateway/usage/sqlite-store.ts': 'the embedded store gives way to requests while it reads',
};

const FORBIDDEN = [
  /\bDate\.now\b/,
  /\bnew Date\(\)/,
  /\bMath\.random\b/,
  /\bcrypto\.(?:random|getRandom)/,
  /import \{[^}]*\brandom(?:Bytes|UUID|Int|FillSync)\b[^}]*\} from 'node:crypto'/,
  /from 'node:(?:timers|timers\/promises|perf_hooks)'/,
];

it('no simulated file reads a clock, a timer or a random number from Node', () => {
  const files = globSync('gateway/**/*.ts', { cwd: root }).filter(
    (file) =>
      SIMULATED.some((folder) => file.startsWith(folder)) && !Object.keys(APART).some((part) => file.startsWith(part)),
  );
  assert.ok(files.length > 80);
  const found = files.flatMap((file) => {
    const text = readFileSync(root + file, 'utf8');
    return FORBIDDEN.filter((pattern) => pattern.test(text)).map((pattern) => `${file}: ${pattern.source}`);
  });
  assert.deepEqual(found, []);
});

it('biome forbids the timers and the clock in the same files', () => {
  const { overrides } = JSON.parse(readFileSync(`${root}biome.json`, 'utf8'));
  const includes: string[] = overrides.find(
    ({ linter }: { linter: { rules: { style?: object } } }) => linter.rules.style !== undefined,
  ).includes;
  const folders = includes.filter((glob) => !glob.startsWith('!')).map((glob) => glob.replace('**', ''));
  assert.deepEqual(folders, SIMULATED);
  for (const glob of includes.filter((one) => one.startsWith('!')))
    assert.ok(APART[glob.slice(1).replace('**', '')], `${glob} has no reason here`);
});
