// Signs assertions: short-lived tokens that tell an upstream which caller a request comes from. An assertion is signed once per caller and
// upstream, and reused.

import { importJWK, SignJWT } from 'jose';
import type { Caller, Mode } from '../../exchange/caller.ts';
import { CallerNote } from '../../exchange/caller-memory.ts';
import type { Awaitable } from '../../shared/awaitable.ts';
import { type AssertionKey, kidOf, publishedKeysAt, signerAt, signerProblem, type Term } from './assertion-keys.ts';

const LIFETIME_SECONDS = 60;
/**
 * The age at which an assertion is renewed in the background. It is random for each assertion. Otherwise a thousand assertions that were
 * signed in one second would be renewed in one second, and all other requests would wait a tenth of a second.
 */
const RENEWED_AFTER_MS = { least: 20_000, most: 40_000 };
/**
 * The age up to which a cached assertion is sent. An assertion of this age is valid for at least 15 s more, because it must not expire on
 * its way.
 */
const USABLE_FOR_MS = 44_000;

interface AssertionClaims {
  /** Key id, or another subject that acts for the organization. */
  readonly subject: string;
  /**
   * The configured name of the issuer of a caller's token, because subjects are unique only within one issuer; undefined for other callers.
   */
  readonly tokenIssuer?: string | undefined;
  readonly organization: string | undefined;
  readonly tier: string | undefined;
  readonly mode: Mode;
  readonly scopes: readonly string[];
}

interface AssertionsOptions {
  readonly keys: readonly AssertionKey[];
  readonly issuer: string;
  now(): number;
  /** From 0 to 1. Default: `Math.random`. */
  random?(): number;
}

export interface Assertions {
  /** Returns an assertion about a caller. Returns no promise while a usable assertion is cached. */
  assertionFor(caller: Caller, upstream: string): Awaitable<string>;
  /** Signs an assertion for a request that the gateway itself sends for an organization. Caches nothing. */
  assertionOf(claims: AssertionClaims, upstream: string): Promise<string>;
  /** Returns the public halves of the published keys, as a JWK Set. */
  jwks(): { readonly keys: readonly PublishedKey[] };
  /**
   * Replaces the keys. Assertions signed with the previous keys stay in use until they are renewed, unless a key was removed before its
   * time. Rejects, and changes nothing, if at some time from now on no key may sign.
   */
  useKeys(keys: readonly AssertionKey[]): Promise<void>;
}

interface PublishedKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly alg: 'EdDSA';
  readonly use: 'sig';
}

interface CachedAssertion {
  readonly upstream: string;
  token: string | undefined;
  signedAtMs: number;
  renewedAfterMs: number;
  signing: Promise<string> | undefined;
}

/** Rejects as `useKeys` does. */
export async function createAssertions(options: AssertionsOptions): Promise<Assertions> {
  const { keys, issuer, now, random = Math.random } = options;
  let used = keys;
  let ready = await prepare(keys, issuer, now());
  let cache = new AssertionCache();

  async function sign(claims: AssertionClaims, upstream: string, atMs: number): Promise<string> {
    const signer = signerAt(ready, atMs);
    if (signer === undefined) throw new Error('There is no key to sign assertions with.');
    return signer.sign(claims, upstream, atMs);
  }

  /** Signs a new assertion. Other requests of this caller to this upstream wait for the same signature. */
  function renew(cached: CachedAssertion, caller: Caller, upstream: string): Promise<string> {
    const atMs = now();
    cached.signing ??= sign(claimsOf(caller), upstream, atMs)
      .then((token) => {
        cached.token = token;
        cached.signedAtMs = atMs;
        cached.renewedAfterMs = RENEWED_AFTER_MS.least + random() * (RENEWED_AFTER_MS.most - RENEWED_AFTER_MS.least);
        return token;
      })
      .finally(() => {
        cached.signing = undefined;
      });
    return cached.signing;
  }

  return {
    assertionFor(caller, upstream) {
      const cached = cache.cachedFor(caller, upstream);
      const ageMs = now() - cached.signedAtMs;
      // A negative age means that the clock was set back.
      if (cached.token === undefined || ageMs > USABLE_FOR_MS || ageMs < 0) return renew(cached, caller, upstream);
      // If the renewal fails, the cached assertion stays in use while it is valid. The error is thrown only once no assertion is usable.
      if (ageMs >= cached.renewedAfterMs) renew(cached, caller, upstream).catch(() => undefined);
      return cached.token;
    },
    assertionOf: (claims, upstream) => sign(claims, upstream, now()),
    jwks: () => ({ keys: publishedKeysAt(ready, now()).map(({ published }) => published) }),
    async useKeys(next) {
      if (next === used) return;
      const former = publishedKeysAt(ready, now());
      ready = await prepare(next, issuer, now());
      used = next;
      const kids = new Set(publishedKeysAt(ready, now()).map(({ published }) => published.kid));
      // If a key was removed before its time, upstreams no longer accept its signatures.
      if (former.some(({ published }) => !kids.has(published.kid))) cache = new AssertionCache();
    },
  };
}

type Sign = (claims: AssertionClaims, upstream: string, atMs: number) => Promise<string>;

interface ReadyKey extends Term {
  readonly published: PublishedKey;
  readonly sign: Sign;
}

async function prepare(keys: readonly AssertionKey[], issuer: string, nowMs: number): Promise<readonly ReadyKey[]> {
  const problem = signerProblem(keys, nowMs);
  if (problem !== undefined) throw new Error(problem);
  return Promise.all(
    keys.map(async (key) => {
      const published = await toPublished(key);
      return { ...key, published, sign: await createSign(key, published.kid, issuer) };
    }),
  );
}

async function createSign({ kty, crv, x, d }: AssertionKey, kid: string, issuer: string): Promise<Sign> {
  const privateKey = await importJWK({ kty, crv, x, d, alg: 'EdDSA' });
  return function sign(claims, upstream, atMs) {
    const { subject, tokenIssuer, organization, tier, mode, scopes } = claims;
    const ofCaller = {
      ...(tokenIssuer !== undefined && { token_issuer: tokenIssuer }),
      ...(organization !== undefined && { org: organization }),
      ...(tier !== undefined && { tier }),
    };
    // The time is rounded down, so that the expiry is never further ahead than the lifetime.
    const issuedAt = Math.floor(atMs / 1000);
    return new SignJWT({ ...ofCaller, mode, scopes: [...scopes] })
      .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(upstream)
      .setSubject(subject)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + LIFETIME_SECONDS)
      .sign(privateKey);
  };
}

/** The assertions of one caller. */
interface OfCaller {
  readonly cache: AssertionCache;
  last: CachedAssertion;
  readonly byUpstream: Map<string, CachedAssertion>;
}

const ofCallers = new CallerNote<OfCaller>();

/** One assertion per caller and upstream. A new cache has none. */
class AssertionCache {
  cachedFor(caller: Caller, upstream: string): CachedAssertion {
    const noted = ofCallers.get(caller);
    const known = noted?.cache === this ? noted : undefined;
    if (known?.last.upstream === upstream) return known.last;
    const found = known?.byUpstream.get(upstream);
    const last = found ?? { upstream, token: undefined, signedAtMs: 0, renewedAfterMs: 0, signing: undefined };
    if (known === undefined) ofCallers.set(caller, { cache: this, last, byUpstream: new Map([[upstream, last]]) });
    else {
      known.last = last;
      if (found === undefined) known.byUpstream.set(upstream, last);
    }
    return last;
  }
}

function claimsOf({ subject, issuer, organization, mode, scopes }: Caller): AssertionClaims {
  const { id, tier } = organization ?? {};
  return { subject, tokenIssuer: issuer, organization: id, tier, mode, scopes: [...scopes] };
}

async function toPublished(key: AssertionKey): Promise<PublishedKey> {
  const { kty, crv, x } = key;
  return Object.freeze({ kty, crv, x, kid: await kidOf(key), alg: 'EdDSA', use: 'sig' });
}
