// Reports on organizations and keys for the console: state, limits, last use, and the commands that change them.

import { keyToJson } from '../auth/key-json.ts';
import { createOrganizationSearch } from '../auth/organization-search.ts';
import type { KeyStore } from '../auth/store/key-store.ts';
import type { StoredKey } from '../auth/store/stored-key.ts';
import type { Organization } from '../exchange/caller.ts';
import type { LimitUsageReport } from '../limits/limit-usage.ts';

interface OrganizationReportsOptions {
  readonly store: KeyStore;
  /** Returns the use of limits. Rejects while it cannot be read. */
  usageOf(organization: string): Promise<LimitUsageReport | undefined>;
  tiers(): readonly string[];
  now(): number;
}

interface CommandLine {
  readonly does: string;
  readonly line: string;
}

/** If an organization has more keys, the latest are listed. */
const KEYS_MAX = 200;

export function createOrganizationReports({ store, usageOf, tiers, now }: OrganizationReportsOptions) {
  const search = createOrganizationSearch({ store, clock: () => performance.now() });

  function keyWithCommands(key: StoredKey): object {
    return { ...keyToJson(key, now()), commands: commandsForKey(key, now()) };
  }

  async function findOrganizations(text: string): Promise<object> {
    const { organizations, keys, complete } = await search(text);
    return {
      organizations: organizations.map(organizationToJson),
      keys: keys.map(keyWithCommands),
      complete,
    };
  }

  async function organization(id: string): Promise<object | undefined> {
    const found = await store.organizations.get(id);
    if (found === undefined) return undefined;
    const all = await store.keys.list({ organization: id });
    const usage = await usageOf(id).catch(() => undefined);
    const keys = all.slice(-KEYS_MAX).toReversed();
    const lastUsedAtMs = Math.max(0, ...all.map((key) => key.lastUsedAtMs ?? 0));
    return {
      ...organizationToJson(found),
      tiers: tiers(),
      last_used_at: lastUsedAtMs === 0 ? null : new Date(lastUsedAtMs).toISOString(),
      // The member is null if neither the counters nor their fallback could be read.
      limits: usage?.limits ?? null,
      keys_total: all.length,
      keys: keys.map(keyWithCommands),
      commands: commandsFor(found, tiers()),
    };
  }

  return { findOrganizations, organization };
}

function organizationToJson({ id, name, tier, state, operator }: Organization): object {
  return { id, name, tier, state, operator };
}

function commandsFor({ id: name, tier, state }: Organization, tiers: readonly string[]): CommandLine[] {
  const id = shellWord(name);
  const other = tiers.find((one) => one !== tier);
  // Those that only read come first, and the one that stops a customer comes last.
  return [
    { does: 'Show its limits', line: `bin/gateway limits show --org ${id}` },
    { does: 'List its keys', line: `bin/gateway keys list --org ${id}` },
    { does: 'Show its changes', line: `bin/gateway audit --org ${id}` },
    { does: 'Create a key', line: `bin/gateway keys create --org ${id} --mode live --scopes '*'` },
    { does: 'Reset its counters', line: `bin/gateway limits reset --org ${id}` },
    ...(other === undefined
      ? []
      : [{ does: 'Change its tier', line: `bin/gateway orgs set-tier ${id} ${shellWord(other)} --wait` }]),
    state === 'suspended'
      ? { does: 'Let it in again', line: `bin/gateway orgs resume ${id} --wait` }
      : { does: 'Refuse all its requests', line: `bin/gateway orgs suspend ${id} --wait` },
  ];
}

function commandsForKey({ id: name, revokedAtMs, expiresAtMs, replacedBy }: StoredKey, nowMs: number): CommandLine[] {
  const id = shellWord(name);
  if (revokedAtMs !== undefined || (expiresAtMs !== undefined && expiresAtMs <= nowMs)) return [];
  const revoke = { does: 'Revoke it for good', line: `bin/gateway keys revoke ${id} --reason '' --wait` };
  if (replacedBy !== undefined) return [revoke];
  return [
    {
      does: 'It has leaked: replace it, the old one ends at once',
      line: `bin/gateway keys rotate ${id} --overlap 0s --wait`,
    },
    { does: 'Replace it, both work for a day', line: `bin/gateway keys rotate ${id} --overlap 24h` },
    revoke,
  ];
}

/** Quotes a word for a shell, because operators copy the command, and an imported id may contain any text. */
function shellWord(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
