// Asks the store about a key nobody remembers, and remembers the answer. Throws auth_unavailable.

import { GatewayError } from '../errors.ts';
import type { Awaitable, Caller } from '../exchange.ts';
import { allowanceOf } from './addresses.ts';
import type { DigestOf } from './api-key.ts';
import type { CallerCache, KeyHash, KnownCaller } from './caller-cache.ts';
import type { ChangeFollower } from './change-follower.ts';
import type { KeyAndOwner, KeyStore } from './store.ts';

export interface LookUpOptions {
  readonly keys: Pick<KeyStore['keys'], 'findByDigest'>;
  readonly digestOf: DigestOf;
  readonly cache: CallerCache;
  readonly follower: ChangeFollower;
}

export function createLookUp({ keys, digestOf, cache, follower }: LookUpOptions) {
  function learn(keyHash: KeyHash, found: KeyAndOwner | undefined, generation: number): KnownCaller | undefined {
    // Something was dropped while the store was asked: the answer serves this request and is not kept.
    const keep = generation === follower.generation();
    if (found === undefined) {
      if (keep) cache.rememberAbsence(keyHash);
      return undefined;
    }
    const known = { caller: callerFrom(found), usedAtMs: found.key.lastUsedAtMs ?? Number.NEGATIVE_INFINITY };
    return keep ? cache.remember(keyHash, known) : known;
  }

  function fail(cause: unknown): never {
    follower.noteFailure(cause);
    throw new GatewayError('auth_unavailable', { cause });
  }

  return function lookUp(key: string, keyHash: KeyHash): Awaitable<KnownCaller | undefined> {
    const generation = follower.generation();
    let found: Awaitable<KeyAndOwner | undefined>;
    try {
      found = keys.findByDigest(digestOf(key));
    } catch (cause) {
      return fail(cause);
    }
    if (!(found instanceof Promise)) return learn(keyHash, found, generation);
    return found.then((answer) => learn(keyHash, answer, generation), fail);
  };
}

function callerFrom({ key, organization }: KeyAndOwner): Caller {
  return Object.freeze({
    subject: key.id,
    organization: Object.freeze({ ...organization, contacts: Object.freeze([...organization.contacts]) }),
    mode: key.mode,
    scopes: new Set(key.scopes),
    revoked: key.revokedAtMs !== undefined,
    expiresAtMs: key.expiresAtMs ?? Number.POSITIVE_INFINITY,
    allowsAddress: allowanceOf(key.allowedCidrs),
  });
}
