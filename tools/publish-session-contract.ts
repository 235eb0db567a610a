// Publishes the contract of sessions, as `gateway contract publish` does for the contracts that the shipped configuration serves: that one
// names no provider, so it serves no sessions.
//
//   npm run publish:session

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'gateway-session-'));
const PUBLISHED_FILES = ['published/session.json', 'published/changes.jsonl'];

const STAFF_PROVIDER = {
  issuer: 'https://login.example.com',
  clientId: 'gateway',
  authentication: { method: 'client_secret_basic', secret: 'session_client' },
  organization: { id: 'org_example' },
};
const CONFIGURATION = {
  'gateway.yaml': {
    publishedContracts: 'published',
    portal: { title: 'Platform API' },
    sessions: { providers: { staff: STAFF_PROVIDER } },
  },
  'upstreams.yaml': { upstreams: { session: { contracts: ['session/*.yaml'], live: 'session:' } } },
  'limits.yaml': { tiers: { standard: { requests: 1000 } } },
};

try {
  for (const [file, content] of Object.entries(CONFIGURATION))
    writeFileSync(join(directory, file), JSON.stringify(content));
  // Without the other published contracts, because their operations are not served here.
  const contracts = join(directory, 'openapi');
  for (const path of ['session', ...PUBLISHED_FILES])
    cpSync(join(root, 'openapi', path), join(contracts, path), { recursive: true });
  const env = { ...process.env, GATEWAY_CONFIG: directory, GATEWAY_CONTRACTS: contracts };
  const { status } = spawnSync(join(root, 'bin/gateway'), ['contract', 'publish'], { env, stdio: 'inherit' });
  process.exitCode = status ?? 1;
  if (status === 0) for (const path of PUBLISHED_FILES) cpSync(join(contracts, path), join(root, 'openapi', path));
} finally {
  rmSync(directory, { recursive: true });
}
