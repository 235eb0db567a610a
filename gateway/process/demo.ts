// Creates the demo organization of a gateway that runs on the sandbox, its data, and a new test key at every start. Keys of earlier starts
// work until they expire, because a client may still use them.

import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { DigestOf } from '../auth/api-key.ts';
import { createIssueKey } from '../auth/issue-key.ts';
import type { KeyStore } from '../auth/store/key-store.ts';
import { DAY_MS } from '../shared/durations.ts';
import type { Preparation } from '../wiring/app-options.ts';

const ORGANIZATION = 'org_demo';
const BY = 'start';

interface DemoOptions extends Preparation {
  readonly store: KeyStore;
  readonly digestOf: DigestOf;
  /** An upstream that lies on the sandbox. */
  readonly upstream: string;
  readonly dataDirectory: string;
  now(): number;
}

/** Creates the organization and its data if absent, and resolves with a new key. */
export async function issueDemoKey({
  sandbox,
  assertionOf,
  store,
  digestOf,
  upstream,
  dataDirectory,
  now,
}: DemoOptions): Promise<string> {
  const organization = {
    id: ORGANIZATION,
    name: 'Demo',
    tier: 'premium',
    state: 'active',
    contacts: [],
    operator: false,
  } as const;
  // Two gateways may start at the same time. The second `create` then fails because the organization exists, and the demo can continue.
  if ((await store.organizations.get(ORGANIZATION)) === undefined) await store.organizations.create(organization, BY);
  for (const mode of ['live', 'test'] as const) {
    const claims = { subject: BY, organization: ORGANIZATION, tier: organization.tier, mode, scopes: ['*'] };
    await sandbox?.seed(await assertionOf(claims, upstream));
  }
  const issueKey = createIssueKey({ digestOf, randomBytes, now });
  const { key, record } = issueKey({
    organization: ORGANIZATION,
    mode: 'test',
    name: keyNameOf(dataDirectory),
    scopes: ['*'],
    allowedCidrs: [],
    expiresAtMs: now() + DAY_MS,
    by: BY,
  });
  await store.keys.create(record);
  return key;
}

/** Returns the name of the key. It contains the host and the data directory, because several gateways may share a key store. */
function keyNameOf(dataDirectory: string): string {
  const digest = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 6);
  return `demo key of ${hostname()} ${digest}`;
}
