// The gateway's word to upstreams about who is calling: a short-lived signed token, made once per caller and upstream and reused.

import { calculateJwkThumbprint, importJWK, SignJWT } from 'jose';
import type { Awaitable, Caller, Mode } from '../exchange.ts';

const LIFETIME_SECONDS = 60;
/** From here on a new one is made in the background. */
const RENEWED_AFTER_MS = 30_000;
/** Leaves 15 s of life, rounding included: one with less could run out on the way. */
const USABLE_FOR_MS = 44_000;

/** A private Ed25519 key, as JWK. */
export interface AssertionKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly d: string;
}

export interface AssertionClaims {
  /** Key id, or whatever else speaks for the organization. */
  readonly subject: string;
  readonly organization: string | undefined;
  readonly tier: string | undefined;
  readonly mode: Mode;
  readonly scopes: readonly string[];
}

export interface AssertionsOptions {
  /** The first one signs; all are published. */
  readonly keys: readonly AssertionKey[];
  readonly issuer: string;
  now(): number;
}

export interface Assertions {
  /** Synchronous while a usable one is at hand. */
  assertionFor(caller: Caller, upstream: string): Awaitable<string>;
  /** For work of the gateway itself, on behalf of an organization; not cached. */
  assertionOf(claims: AssertionClaims, upstream: string): Promise<string>;
  /** The public halves, as a JWK Set. */
  jwks(): { readonly keys: readonly { readonly kid: string }[] };
}

interface Held {
  token: string | undefined;
  signedAtMs: number;
  signing: Promise<string> | undefined;
}

export async function createAssertions({ keys, issuer, now }: AssertionsOptions): Promise<Assertions> {
  const published = await Promise.all(keys.map(toPublished));
  const sign = await createSign(keys[0], published[0]?.kid, issuer);
  const jwks = Object.freeze({ keys: published });
  const heldBy = new WeakMap<Caller, Map<string, Held>>();

  /** One signature at a time per caller and upstream: whoever comes meanwhile gets the same. */
  function renew(held: Held, caller: Caller, upstream: string): Promise<string> {
    const atMs = now();
    held.signing ??= sign(claimsOf(caller), upstream, atMs)
      .then((token) => {
        held.token = token;
        held.signedAtMs = atMs;
        return token;
      })
      .finally(() => {
        held.signing = undefined;
      });
    return held.signing;
  }

  return {
    assertionFor(caller, upstream) {
      const held = heldFor(heldBy, caller, upstream);
      const ageMs = now() - held.signedAtMs;
      if (held.token === undefined || ageMs > USABLE_FOR_MS) return renew(held, caller, upstream);
      // Should this fail, the one at hand still holds; the request that finds none left gets the error.
      if (ageMs >= RENEWED_AFTER_MS) renew(held, caller, upstream).catch(() => undefined);
      return held.token;
    },
    assertionOf: (claims, upstream) => sign(claims, upstream, now()),
    jwks: () => jwks,
  };
}

async function createSign(key: AssertionKey | undefined, kid: string | undefined, issuer: string) {
  if (key === undefined || kid === undefined) throw new Error('There is no key to sign assertions with.');
  const privateKey = await importJWK({ ...key, alg: 'EdDSA' });
  return function sign(claims: AssertionClaims, upstream: string, atMs: number): Promise<string> {
    const { subject, organization, tier, mode, scopes } = claims;
    const ofOrganization = {
      ...(organization !== undefined && { org: organization }),
      ...(tier !== undefined && { tier }),
    };
    // Rounded down, so that the end is never more than the lifetime ahead.
    const issuedAt = Math.floor(atMs / 1000);
    return new SignJWT({ ...ofOrganization, mode, scopes: [...scopes] })
      .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(upstream)
      .setSubject(subject)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + LIFETIME_SECONDS)
      .sign(privateKey);
  };
}

function heldFor(heldBy: WeakMap<Caller, Map<string, Held>>, caller: Caller, upstream: string): Held {
  const held = heldBy.get(caller)?.get(upstream);
  if (held !== undefined) return held;
  const fresh: Held = { token: undefined, signedAtMs: 0, signing: undefined };
  const byUpstream = heldBy.get(caller) ?? new Map<string, Held>();
  heldBy.set(caller, byUpstream.set(upstream, fresh));
  return fresh;
}

function claimsOf({ subject, organization, mode, scopes }: Caller): AssertionClaims {
  return { subject, organization: organization?.id, tier: organization?.tier, mode, scopes: [...scopes] };
}

async function toPublished({ kty, crv, x }: AssertionKey) {
  const publicKey = { kty, crv, x };
  return Object.freeze({ ...publicKey, kid: await calculateJwkThumbprint(publicKey), alg: 'EdDSA', use: 'sig' });
}
