// Reads the current rights of an actor from the store, and makes changes on the condition that these rights stay. Throws api_key_revoked,
// api_key_expired, token_expired, account_inactive, too_many_keys, last_key, records_unavailable.

import { type Author, ConditionFailed, type Conditions, type KeyStore } from '../auth/store/key-store.ts';
import { hasExpired } from '../auth/store/stored-key.ts';
import { GatewayError } from '../catalogue/errors.ts';
import type { Actor, Grants } from './actor.ts';

export interface Authority {
  readonly author: Author;
  /** The rights of the actor; undefined if the actor may do everything. */
  readonly may: Grants | undefined;
  /** The acting key and its organization as they were read. */
  readonly keys: NonNullable<Conditions['keys']>;
  readonly organizations: NonNullable<Conditions['organizations']>;
}

interface AuthorityDeps {
  readonly store: KeyStore;
  now(): number;
}

/** Reads the current rights of the actor. Throws for a key that was revoked after its request was authenticated. */
export async function readAuthority(deps: AuthorityDeps, actor: Actor): Promise<Authority> {
  const { kind, by, requestId, organization: of } = actor;
  const author = requestId === undefined ? by : { by, requestId, ...(of !== undefined && { organization: of }) };
  if (kind !== 'key' && kind !== 'token') return { author, may: undefined, keys: [], organizations: [] };
  const { may, keys } = kind === 'key' ? await readKey(deps, by) : { may: tokenGrants(deps, actor), keys: [] };
  const organization = await deps.store.organizations.get(actor.organization ?? '');
  if (organization?.state !== 'active') throw new GatewayError('account_inactive');
  return { author, may, keys, organizations: [organization] };
}

async function readKey({ store, now }: AuthorityDeps, id: string): Promise<Pick<Authority, 'may' | 'keys'>> {
  const key = await store.keys.get(id);
  if (key === undefined || key.revokedAtMs !== undefined) throw new GatewayError('api_key_revoked');
  if (hasExpired(key, now())) throw new GatewayError('api_key_expired');
  const { scopes, allowedCidrs, expiresAtMs = Number.POSITIVE_INFINITY } = key;
  return { may: { scopes: new Set(scopes), allowedCidrs, expiresAtMs }, keys: [key] };
}

function tokenGrants({ now }: AuthorityDeps, { may }: Actor): Grants {
  if (may === undefined) throw new TypeError('A token acts with its grants.');
  if (may.expiresAtMs <= now()) throw new GatewayError('token_expired');
  return may;
}

const ATTEMPTS_MAX = 20;

/** Makes a change that depends on records. If another change has replaced a record meanwhile, starts again from the beginning. */
export async function whileUndisturbed<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt();
    } catch (thrown) {
      if (!(thrown instanceof ConditionFailed)) throw thrown;
      if (thrown.condition === 'leavesAnother') throw new GatewayError('last_key');
      if (thrown.condition === 'most') throw new GatewayError('too_many_keys');
      if (attempts === ATTEMPTS_MAX) throw new GatewayError('records_unavailable', { cause: thrown });
    }
  }
}
