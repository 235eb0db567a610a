// The actions on keys, which create, change, rotate and revoke them. An acting key grants only rights that it has.

import type { DigestOf } from '../auth/api-key.ts';
import type { RandomBytes } from '../auth/base62.ts';
import { createIssueKey, type KeyRequest } from '../auth/issue-key.ts';
import type { KeysMost } from '../auth/store/key-store.ts';
import { isRotatable, type KeyPatch, type StoredKey, takesPlaceOf } from '../auth/store/stored-key.ts';
import { GatewayError } from '../catalogue/errors.ts';
import { type Configuration, scopeRulesOf } from '../configuration.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import type { Actor } from './actor.ts';
import { type Authority, readAuthority, whileUndisturbed } from './authority.ts';
import { requireMatch } from './etag.ts';
import { type GrantedRights, requireHeld } from './grants.ts';
import { requireChangeable, requireFuture, requireKnownScopes, requireRanges } from './key-rules.ts';
import { getKey, type KeyDeps, keyTag, type OneKey, stateOf } from './read-keys.ts';

interface GrantDeps extends KeyDeps {
  /** Returns the configuration in force, for its scopes. */
  configuration(): Awaitable<Configuration>;
}

interface IssueDeps extends GrantDeps {
  readonly digestOf: DigestOf;
  readonly randomBytes: RandomBytes;
}

interface Trial {
  /** Checks everything and writes nothing. */
  readonly dryRun?: boolean | undefined;
}

interface Conditional extends Trial {
  /** Throws precondition_failed unless the key has this tag. */
  readonly ifMatch?: string | undefined;
}

export interface MadeKey {
  /** The key itself, which is stored nowhere; undefined with `dryRun`. */
  readonly key: string | undefined;
  readonly record: StoredKey;
}

async function requireGrant(deps: GrantDeps, { may }: Authority, granted: GrantedRights): Promise<void> {
  if (may !== undefined) requireHeld(may, granted, scopeRulesOf(await deps.configuration()));
}

export function createKey(
  deps: IssueDeps,
  actor: Actor,
  { dryRun, ...request }: Omit<KeyRequest, 'by'> & Trial,
): Promise<MadeKey> {
  const { store, now } = deps;
  return whileUndisturbed(async () => {
    const authority = await readAuthority(deps, actor);
    const organization = await store.organizations.get(request.organization);
    if (organization === undefined) throw new GatewayError('resource_missing');
    requireKnownScopes(request.scopes, organization, await deps.configuration());
    requireRanges(request.allowedCidrs);
    requireFuture(request.expiresAtMs, now());
    await requireGrant(deps, authority, request);
    const { key, record } = createIssueKey(deps)({ ...request, by: actor.by });
    if (dryRun) {
      await requireRoom(deps, organization.id);
      return { key: undefined, record };
    }
    const { author, keys } = authority;
    const organizations = [...authority.organizations, organization];
    const most = await mostOf(deps);
    if (!(await store.keys.create(record, author, { keys, organizations, most })))
      throw new GatewayError('resource_missing');
    return { key, record };
  });
}

/** Changes a key. The acting key needs all rights that the changed key would have. */
export function changeKey(
  deps: GrantDeps,
  actor: Actor,
  { patch, ifMatch, dryRun, ...one }: OneKey & Conditional & { readonly patch: KeyPatch },
) {
  const { store, now } = deps;
  return whileUndisturbed(async (): Promise<StoredKey> => {
    const authority = await readAuthority(deps, actor);
    const before = await getKey(deps, one);
    requireMatch(ifMatch, keyTag(before));
    const after = { ...before, ...patch };
    requireChangeable(before, after, now());
    const organization = await store.organizations.get(before.organization);
    if (organization === undefined) throw new GatewayError('resource_missing');
    if (patch.scopes !== undefined) requireKnownScopes(patch.scopes, organization, await deps.configuration());
    if (patch.allowedCidrs !== undefined) requireRanges(patch.allowedCidrs);
    if ('expiresAtMs' in patch) requireFuture(patch.expiresAtMs, now());
    await requireGrant(deps, authority, after);
    if (dryRun) return after;
    const keys = [...authority.keys, before];
    const organizations = [...authority.organizations, organization];
    const changed = await store.keys.change(one.id, patch, authority.author, { keys, organizations });
    return changed ?? after;
  });
}

interface Rotation extends OneKey, Trial {
  /** How long the replaced key keeps working, unless it expires sooner. */
  readonly overlapMs: number;
  /**
   * The expiry of the successor; null if it does not expire; undefined for the lifetime of the replaced key, at most until the acting key
   * expires.
   */
  readonly expiresAtMs?: number | null | undefined;
}

interface RotatedKey extends MadeKey {
  /** The replaced key, after the rotation. */
  readonly previous: StoredKey;
}

/** Rotates a key. The acting key needs all rights that the successor would have. */
export function rotateKey(
  deps: IssueDeps,
  actor: Actor,
  { overlapMs, expiresAtMs: wanted, dryRun, ...one }: Rotation,
): Promise<RotatedKey> {
  const { store, now } = deps;
  return whileUndisturbed(async () => {
    const authority = await readAuthority(deps, actor);
    const before = await getKey(deps, one);
    const nowMs = now();
    if (!isRotatable(before, nowMs)) throw new GatewayError('invalid_transition');
    const expiresAtMs = wanted === undefined ? sameLifetime(before, nowMs, authority) : (wanted ?? undefined);
    requireFuture(expiresAtMs, nowMs);
    const { organization, mode, name, scopes, allowedCidrs } = before;
    const request = { organization, mode, name, scopes, allowedCidrs, expiresAtMs, by: actor.by };
    await requireGrant(deps, authority, request);
    const { key, record } = createIssueKey({ ...deps, now: () => nowMs })(request);
    const endsAtMs = nowMs + overlapMs;
    if (dryRun) {
      const end = Math.min(endsAtMs, before.expiresAtMs ?? Number.POSITIVE_INFINITY);
      const previous = { ...before, expiresAtMs: end, replacedBy: record.id };
      await requireRoom(deps, organization, previous);
      return { key: undefined, record, previous };
    }
    const { author, organizations } = authority;
    const keys = [...authority.keys, before];
    const conditions = { keys, organizations, most: await mostOf(deps) };
    const previous = await store.keys.rotate(one.id, record, endsAtMs, author, conditions);
    // The key has expired since it was checked.
    if (previous === undefined) throw new GatewayError('invalid_transition');
    return { key, record, previous };
  });
}

/**
 * Maximum number of keys that an organization may have, whether they work or not. The bound is needed because each creation may read all of
 * them.
 */
const KEY_RECORDS_MAX = 100_000;

async function mostOf({ configuration }: GrantDeps): Promise<KeysMost> {
  const { config } = await configuration();
  return { working: config.gateway.keys.perOrganizationMax, records: KEY_RECORDS_MAX };
}

/**
 * Throws `too_many_keys` if the organization has no room for a new key. A dry run needs this check, because the store checks the number of
 * keys only when it writes a key.
 *
 * @param replaced the key that a rotation replaces, with its new end; undefined for a creation
 */
async function requireRoom(deps: GrantDeps, organization: string, replaced?: StoredKey): Promise<void> {
  const most = await mostOf(deps);
  const nowMs = deps.now();
  let [working, records] = [1, 1];
  for await (const page of deps.store.keys.scan({ organization })) {
    const now = page.map((key) => (key.id === replaced?.id ? replaced : key));
    working += now.filter((key) => stateOf(key, nowMs) === 'active').length;
    records += now.length;
    if (working > most.working || records > most.records) throw new GatewayError('too_many_keys');
  }
}

function sameLifetime({ createdAtMs, expiresAtMs }: StoredKey, nowMs: number, { may }: Authority): number | undefined {
  const same = expiresAtMs === undefined ? Number.POSITIVE_INFINITY : nowMs + (expiresAtMs - createdAtMs);
  const endsAtMs = Math.min(same, may?.expiresAtMs ?? Number.POSITIVE_INFINITY);
  return endsAtMs === Number.POSITIVE_INFINITY ? undefined : endsAtMs;
}

interface Revocation extends OneKey, Conditional {
  readonly reason: string | undefined;
  /** Whether the last key that works may go. */
  readonly allowLast: boolean;
}

/**
 * Revokes a key. The acting key may revoke each key of its organization, even a key with more rights. A key that was revoked before stays
 * unchanged. Throws last_key.
 */
export function revokeKey(
  deps: KeyDeps,
  actor: Actor,
  { reason, allowLast, ifMatch, dryRun, ...one }: Revocation,
): Promise<StoredKey> {
  const { store, now } = deps;

  async function isLast(key: StoredKey, nowMs: number): Promise<boolean> {
    if (stateOf(key, nowMs) !== 'active') return false;
    for await (const page of store.keys.scan({ organization: key.organization }))
      if (page.some((other) => takesPlaceOf(other, key, nowMs))) return false;
    return true;
  }
  return whileUndisturbed(async () => {
    const { author, keys: acting, organizations } = await readAuthority(deps, actor);
    const before = await getKey(deps, one);
    requireMatch(ifMatch, keyTag(before));
    if (dryRun) {
      const nowMs = now();
      if (!allowLast && (await isLast(before, nowMs))) throw new GatewayError('last_key');
      const revocation = { revokedAtMs: nowMs, revokedBy: actor.by, revokedReason: reason };
      return before.revokedAtMs === undefined ? { ...before, ...revocation } : before;
    }
    const keys = ifMatch === undefined ? acting : [...acting, before];
    const conditions = { keys, organizations, leavesAnother: !allowLast };
    const after = await store.keys.revoke(one.id, author, reason, conditions);
    if (after === undefined) throw new GatewayError('resource_missing');
    return after;
  });
}
