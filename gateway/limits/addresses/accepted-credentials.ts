// Remembers which credentials an upstream has accepted. Stores only digests with a random key of this process, because its memory must
// contain no credential.

import { createHmac, randomBytes } from 'node:crypto';

/** Credentials in memory, about 1 MB. */
const ACCEPTED_MAX = 10_000;
/**
 * The largest number of requests of unknown outcome with one credential. Clients send up to ten requests at once. If there are more, the
 * credential is not trusted until the upstream has answered, because it may no longer be valid.
 */
const OPEN_MAX = 10;

interface Acceptance {
  /** Time of the last acceptance. */
  atMs: number;
  inFlight: number;
  /** Requests that ended without an answer since the last acceptance. */
  unanswered: number;
}

export interface AcceptedCredentials {
  digestOf(credential: string): string;
  /** Whether the credential was accepted within `keptMs`. */
  has(digest: string): boolean;
  /**
   * Begins a request with an accepted credential; returns undefined if the credential is unknown or too many of its requests are open. Call
   * the returned function once, when the answer arrives or can no longer arrive.
   */
  begin(digest: string): ((isAnswered: boolean) => void) | undefined;
  add(digest: string): void;
  /** Removes the credential. Returns whether it was stored. */
  forget(digest: string): boolean;
}

/** @param keptMs milliseconds for which an accepted credential is remembered */
export function createAcceptedCredentials(keptMs: () => number, now: () => number): AcceptedCredentials {
  const secret = randomBytes(32);
  /** The credentials by their digests, in the order of the last acceptance. */
  const acceptances = new Map<string, Acceptance>();

  function found(digest: string): Acceptance | undefined {
    const acceptance = acceptances.get(digest);
    return acceptance !== undefined && now() - acceptance.atMs < keptMs() ? acceptance : undefined;
  }

  return {
    digestOf: (credential) => createHmac('sha256', secret).update(credential).digest('base64'),
    has: (digest) => found(digest) !== undefined,
    begin(digest) {
      const acceptance = found(digest);
      if (acceptance === undefined || acceptance.inFlight + acceptance.unanswered >= OPEN_MAX) return undefined;
      acceptance.inFlight += 1;
      return function end(isAnswered) {
        acceptance.inFlight -= 1;
        if (!isAnswered) acceptance.unanswered += 1;
      };
    },
    add(digest) {
      const acceptance = acceptances.get(digest) ?? { atMs: 0, inFlight: 0, unanswered: 0 };
      acceptances.delete(digest);
      if (acceptances.size >= ACCEPTED_MAX) acceptances.delete(acceptances.keys().next().value as string);
      Object.assign(acceptance, { atMs: now(), unanswered: 0 });
      acceptances.set(digest, acceptance);
    },
    forget: (digest) => acceptances.delete(digest),
  };
}
