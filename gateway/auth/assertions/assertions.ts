// The gateway's word to upstreams about who is calling: a short-lived signed token, made once per caller and upstream and reused.

import { importJWK, SignJWT } from 'jose';
import type { Awaitable, Caller, Mode } from '../../exchange.ts';
import { type AssertionKey, kidOf, publishedKeysAt, signerAt, type Term, unsignedFromMs } from './keys.ts';

const LIFETIME_SECONDS = 60;
/** From here on a new one is made in the background. */
const RENEWED_AFTER_MS = 30_000;
/** Leaves 15 s of life, rounding included: one with less could run out on the way. */
const USABLE_FOR_MS = 44_000;

export interface AssertionClaims {
  /** Key id, or whatever else speaks for the organization. */
  readonly subject: string;
  /** Of a token: the name under which its issuer is configured, within which alone the subject is unique. */
  readonly tokenIssuer?: string | undefined;
  readonly organization: string | undefined;
  readonly tier: string | undefined;
  readonly mode: Mode;
  readonly scopes: readonly string[];
}

export interface AssertionsOptions {
  readonly keys: readonly AssertionKey[];
  readonly issuer: string;
  now(): number;
}

export interface Assertions {
  /** Synchronous while a usable one is at hand. */
  assertionFor(caller: Caller, upstream: string): Awaitable<string>;
  /** For work of the gateway itself, on behalf of an organization; not cached. */
  assertionOf(claims: AssertionClaims, upstream: string): Promise<string>;
  /** The public halves of the keys that are published now, as a JWK Set. */
  jwks(): { readonly keys: readonly PublishedKey[] };
  /**
   * Takes another set of keys into use; what the former ones signed is used until it is renewed. Rejects with a sentence, and nothing
   * changes, if there is a moment from now on at which none of them may sign.
   */
  useKeys(keys: readonly AssertionKey[]): Promise<void>;
}

export interface PublishedKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly alg: 'EdDSA';
  readonly use: 'sig';
}

interface Held {
  token: string | undefined;
  signedAtMs: number;
  signing: Promise<string> | undefined;
}

/** Rejects as `useKeys` does. */
export async function createAssertions({ keys, issuer, now }: AssertionsOptions): Promise<Assertions> {
  let used = keys;
  let ready = await prepare(keys, issuer, now());
  let heldBy = new WeakMap<Caller, Map<string, Held>>();

  async function sign(claims: AssertionClaims, upstream: string, atMs: number): Promise<string> {
    const signer = signerAt(ready, atMs);
    if (signer === undefined) throw new Error('There is no key to sign assertions with.');
    return signer.sign(claims, upstream, atMs);
  }

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
      // Of the future: the clock was set back.
      if (held.token === undefined || ageMs > USABLE_FOR_MS || ageMs < 0) return renew(held, caller, upstream);
      // Should this fail, the one at hand still holds; the request that finds none left gets the error.
      if (ageMs >= RENEWED_AFTER_MS) renew(held, caller, upstream).catch(() => undefined);
      return held.token;
    },
    assertionOf: (claims, upstream) => sign(claims, upstream, now()),
    jwks: () => ({ keys: publishedKeysAt(ready, now()).map(({ published }) => published) }),
    async useKeys(next) {
      if (next === used) return;
      const former = publishedKeysAt(ready, now());
      ready = await prepare(next, issuer, now());
      used = next;
      const kids = new Set(publishedKeysAt(ready, now()).map(({ published }) => published.kid));
      // One that was taken away before its time: nobody believes any more what it signed.
      if (former.some(({ published }) => !kids.has(published.kid))) heldBy = new WeakMap();
    },
  };
}

type Sign = (claims: AssertionClaims, upstream: string, atMs: number) => Promise<string>;

interface ReadyKey extends Term {
  readonly published: PublishedKey;
  readonly sign: Sign;
}

async function prepare(keys: readonly AssertionKey[], issuer: string, nowMs: number): Promise<readonly ReadyKey[]> {
  const unsignedMs = unsignedFromMs(keys, nowMs);
  if (unsignedMs !== undefined) {
    const since = new Date(unsignedMs).toISOString();
    throw new Error(`No key of the secrets entry assertion_keys may sign at ${since}: one of them must.`);
  }
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
    // Rounded down, so that the end is never more than the lifetime ahead.
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

function heldFor(heldBy: WeakMap<Caller, Map<string, Held>>, caller: Caller, upstream: string): Held {
  const held = heldBy.get(caller)?.get(upstream);
  if (held !== undefined) return held;
  const fresh: Held = { token: undefined, signedAtMs: 0, signing: undefined };
  const byUpstream = heldBy.get(caller) ?? new Map<string, Held>();
  heldBy.set(caller, byUpstream.set(upstream, fresh));
  return fresh;
}

function claimsOf({ subject, issuer, organization, mode, scopes }: Caller): AssertionClaims {
  const { id, tier } = organization ?? {};
  return { subject, tokenIssuer: issuer, organization: id, tier, mode, scopes: [...scopes] };
}

async function toPublished(key: AssertionKey): Promise<PublishedKey> {
  const { kty, crv, x } = key;
  return Object.freeze({ kty, crv, x, kid: await kidOf(key), alg: 'EdDSA', use: 'sig' });
}
