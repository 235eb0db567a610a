// Verifies the gateway's assertion, the only thing this service trusts about a request. Throws assertion_missing or
// assertion_invalid.
import { createLocalJWKSet, errors, type JSONWebKeySet, jwtVerify } from 'jose';
import { SandboxRefusal } from './refusals.ts';
import type { Scope } from './store.ts';
import type { Clock } from './write.ts';

const CLOCK_TOLERANCE_SECONDS = 5;
const CACHE_MAX = 2000;

/** The owner of the records of a request. */
export type Identify = (assertion: string | undefined) => Promise<Scope>;

interface Verified {
  readonly scope: Scope;
  readonly untilMs: number;
}

export function createIdentify(
  trusted: () => JSONWebKeySet,
  issuer: string,
  audiences: readonly string[],
  now: Clock,
): Identify {
  let jwks = trusted();
  let keys = createLocalJWKSet(jwks);
  // The gateway sends the same token for up to a minute, and a signature is the dearest part of a small request.
  const cache = new Map<string, Verified>();

  return async function identify(assertion) {
    if (assertion === undefined) throw new SandboxRefusal('assertion_missing');
    const known = cache.get(assertion);
    if (known && known.untilMs > now()) return known.scope;

    const verified = await verify(assertion);
    const oldest = cache.size >= CACHE_MAX ? cache.keys().next().value : undefined;
    if (oldest !== undefined) cache.delete(oldest);
    cache.set(assertion, verified);
    return verified.scope;
  };

  /** Made anew only when the gateway has rotated its keys: imported ones are remembered in it. */
  function presentKeys(): typeof keys {
    const present = trusted();
    if (present !== jwks) keys = createLocalJWKSet(present);
    jwks = present;
    return keys;
  }

  async function verify(assertion: string): Promise<Verified> {
    try {
      const { payload } = await jwtVerify(assertion, presentKeys(), {
        algorithms: ['EdDSA'],
        issuer,
        audience: [...audiences],
        requiredClaims: ['exp', 'sub'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(now()),
      });
      return { scope: scopeOf(payload), untilMs: ((payload.exp ?? 0) + CLOCK_TOLERANCE_SECONDS) * 1000 };
    } catch (error) {
      if (error instanceof errors.JOSEError) throw new SandboxRefusal('assertion_invalid');
      throw error;
    }
  }
}

function scopeOf({ org, mode, scopes }: Readonly<Record<string, unknown>>): Scope {
  const complete =
    typeof org === 'string' && org !== '' && (mode === 'live' || mode === 'test') && Array.isArray(scopes);
  if (!complete) throw new SandboxRefusal('assertion_invalid');
  return `${mode}:${org}`;
}
