// Pure: which of the keys that sign assertions does what at which moment, and how one takes over from another without a moment in
// which somebody meets a signature of a key that is not published to them yet, or not any more.

import { calculateJwkThumbprint } from 'jose';

/** When a key is in use, in epoch seconds. */
export interface Term {
  /** Absent: from always. */
  readonly signs_from?: number;
  /** Absent: without an end. */
  readonly published_until?: number;
}

/** A private Ed25519 key, as JWK. */
export interface AssertionKey extends Term {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly d: string;
}

/** `retiring`: published, so that what it signed can be verified, but it signs no more. */
export type KeyState = 'signing' | 'next' | 'retiring' | 'past';

/** How upstreams and the gateway name a key (RFC 7638). */
export function kidOf({ kty, crv, x }: AssertionKey): Promise<string> {
  return calculateJwkThumbprint({ kty, crv, x });
}

/** A key that is to sign is published long before, so that everybody knows it by then. */
export function publishedKeysAt<T extends Term>(keys: readonly T[], atMs: number): T[] {
  return keys.filter((key) => endMsOf(key) > atMs);
}

/** The one that took over last; of several, the first. */
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

/** The first moment from now on, in epoch milliseconds, at which no key may sign; undefined: there is none. */
export function unsignedFromMs(keys: readonly Term[], nowMs: number): number | undefined {
  // Only where a key ends can there be none all of a sudden.
  const moments = [nowMs, ...publishedKeysAt(keys, nowMs).map(endMsOf)].filter(Number.isFinite).sort((a, b) => a - b);
  return moments.find((atMs) => signerAt(keys, atMs) === undefined);
}

export interface Rotation {
  readonly nowMs: number;
  /** The successor is published for so long before it signs. */
  readonly leadMs: number;
  /** The keys before it are published for so long after. */
  readonly overlapMs: number;
}

/**
 * The set after a rotation: the successor takes over after the lead, behind everybody who waits already; who signs until then, or would
 * have signed later, is published until the overlap has passed. Keys that are past are left out.
 */
export function rotated<T extends Term>(keys: readonly T[], successor: T, { nowMs, leadMs, overlapMs }: Rotation): T[] {
  const latestStart = Math.max(...keys.map(({ signs_from = 0 }) => signs_from));
  // A second apart at least: of two keys that start at once, only the first would ever sign.
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
