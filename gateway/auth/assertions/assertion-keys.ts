// Computes the state of each assertion key at a given time, and a rotation without a gap, in which no verifier meets a signature whose key
// is not published yet, or no longer published. Pure.

import { calculateJwkThumbprint } from 'jose';

/** The period in which a key is in use, in epoch seconds. */
export interface Term {
  /** When the key begins to sign; if it is undefined, from the beginning. */
  readonly signs_from?: number;
  /** Until when the key is published; if it is undefined, forever. */
  readonly published_until?: number;
}

/** A private Ed25519 key, as JWK. */
export interface AssertionKey extends Term {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly d: string;
}

/** `retiring`: still published, so that its signatures can be verified, but no longer signing. */
type KeyState = 'signing' | 'next' | 'retiring' | 'past';

/** Returns the key id (RFC 7638). */
export function kidOf({ kty, crv, x }: AssertionKey): Promise<string> {
  return calculateJwkThumbprint({ kty, crv, x });
}

/** Returns the published keys. They include keys that do not sign yet, because verifiers need a key before it signs. */
export function publishedKeysAt<T extends Term>(keys: readonly T[], atMs: number): T[] {
  return keys.filter((key) => endMsOf(key) > atMs);
}

/** Returns the published key that started to sign last. If several have the same start, returns the first. */
export function signerAt<T extends Term>(keys: readonly T[], atMs: number): T | undefined {
  return publishedKeysAt(keys, atMs)
    .filter((key) => startMsOf(key) <= atMs)
    .reduce<T | undefined>((last, key) => (last && startMsOf(last) >= startMsOf(key) ? last : key), undefined);
}

export function stateAt<T extends Term>(keys: readonly T[], key: T, atMs: number): KeyState {
  if (endMsOf(key) <= atMs) return 'past';
  if (startMsOf(key) > atMs) return 'next';
  return signerAt(keys, atMs) === key ? 'signing' : 'retiring';
}

/** Returns the first time from now on, in epoch milliseconds, at which no key may sign; undefined if that never happens. */
export function unsignedFromMs(keys: readonly Term[], nowMs: number): number | undefined {
  // A gap can begin only now or where a key ends.
  const moments = [nowMs, ...publishedKeysAt(keys, nowMs).map(endMsOf)].filter(Number.isFinite).sort((a, b) => a - b);
  return moments.find((atMs) => signerAt(keys, atMs) === undefined);
}

/** Returns a sentence if at some time from now on no key may sign. */
export function signerProblem(keys: readonly Term[], nowMs: number): string | undefined {
  const unsignedMs = unsignedFromMs(keys, nowMs);
  if (unsignedMs === undefined) return undefined;
  const since = new Date(unsignedMs).toISOString();
  return `No key of the secrets entry assertion_keys may sign at ${since}: one of them must.`;
}

interface Rotation {
  readonly nowMs: number;
  /** How long the successor is published before it signs. */
  readonly leadMs: number;
  /** How long the earlier keys stay published after the successor has taken over. */
  readonly overlapMs: number;
}

/**
 * Returns the set after a rotation. The successor starts to sign after the lead time, and after every key that is already scheduled. The
 * current signer and the scheduled keys stay published until the overlap has passed. Past keys are left out.
 */
export function rotateKeys<T extends Term>(
  keys: readonly T[],
  successor: T,
  { nowMs, leadMs, overlapMs }: Rotation,
): T[] {
  const latestStart = Math.max(...keys.map(({ signs_from = 0 }) => signs_from));
  // Two keys never start in the same second, because the second one of them would never sign (`signerAt`).
  const start = Math.max(Math.ceil((nowMs + leadMs) / 1000), latestStart + 1);
  const end = start + Math.ceil(overlapMs / 1000);
  const former = publishedKeysAt(keys, nowMs).map((key) => {
    const isDone = key.published_until !== undefined && stateAt(keys, key, nowMs) === 'retiring';
    return isDone ? key : { ...key, published_until: end };
  });
  return [...former, { ...successor, signs_from: start }];
}

function startMsOf({ signs_from = 0 }: Term): number {
  return signs_from * 1000;
}

function endMsOf({ published_until = Number.POSITIVE_INFINITY }: Term): number {
  return published_until * 1000;
}
