// The rates of an account or an unknown caller: requests a minute in windows that follow the clock, and requests or uploads in flight.
// Answers 429 without Retry-After, or 400 with a `limit`.
import { limited, tooManyRequests } from './answers.ts';
import type { Permissions } from './permissions.ts';

export interface RateLimits {
  /** Requests a minute of one account. */
  readonly accountPerMinute: number;
  /**
   * Requests a minute without a known account, of one address; loopback addresses are exempt, as on the real server.
   */
  readonly anonymousPerMinute: number;
  /** Requests, and apart from them uploads, of one account at the same time. */
  readonly inFlightMax: number;
  /** Whether the permissions `unlimited-requests` and `unlimited-uploads` lift the limits; not in a test of them. */
  readonly exemption: boolean;
}

/** The members of an account that its limits use. */
export interface RatedAccount {
  readonly id: number;
  readonly permissions: Permissions;
}

export interface Rates {
  /** Counts a request of an account and holds a place for it until the returned function is called. @throws Refused */
  enter(account: RatedAccount): () => void;
  /** The same for an upload. @throws Refused */
  enterUpload(account: RatedAccount): () => void;
  /** @throws Refused */
  countAnonymous(address: string): void;
}

const WINDOW_MS = 60_000;
const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

export function createRates(limits: RateLimits, now: () => number): Rates {
  let counts = new Map<string, number>();
  let window = 0;
  const requests = createPlaces();
  const uploads = createPlaces();

  function countUpTo(limit: number, who: string): void {
    const present = Math.floor(now() / WINDOW_MS);
    if (present !== window) counts = new Map();
    window = present;
    const counted = (counts.get(who) ?? 0) + 1;
    counts.set(who, counted);
    if (counted > limit) throw tooManyRequests();
  }

  const isExempt = ({ permissions }: RatedAccount, permission: string) =>
    limits.exemption && permissions.has(permission);

  return {
    enter(account) {
      if (isExempt(account, 'unlimited-requests')) return () => {};
      countUpTo(limits.accountPerMinute, `account ${account.id}`);
      const leave = requests.take(account.id, limits.inFlightMax);
      if (!leave) throw limited('maxConcurrentRequests');
      return leave;
    },
    enterUpload(account) {
      if (isExempt(account, 'unlimited-uploads')) return () => {};
      const leave = uploads.take(account.id, limits.inFlightMax);
      if (!leave) throw limited('maxConcurrentUpload');
      return leave;
    },
    countAnonymous(address) {
      if (!LOOPBACK.test(address)) countUpTo(limits.anonymousPerMinute, `address ${address}`);
    },
  };
}

function createPlaces(): { take(id: number, max: number): (() => void) | undefined } {
  const taken = new Map<number, number>();
  return {
    take(id, max) {
      const present = taken.get(id) ?? 0;
      if (present >= max) return undefined;
      taken.set(id, present + 1);
      return () => {
        const left = (taken.get(id) ?? 1) - 1;
        if (left === 0) taken.delete(id);
        else taken.set(id, left);
      };
    },
  };
}
