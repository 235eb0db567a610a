// Limits failed logins through tunnels, per client address and in total. The upstream may see all clients under the one address of the
// gateway, and would lock all of them out together. Throws auth_attempts_limited.

import { GatewayError } from '../../errors.ts';
import type { Admitted } from '../../exchange.ts';
import type { Awaitable } from '../../shared/awaitable.ts';
import { createAcceptedCredentials } from './accepted-credentials.ts';
import { addressBlockOf } from './address-block.ts';
import { createFailureLimit, type FailureLimit, type FailureLimitOptions } from './failure-limit.ts';
import { createLoginQueue } from './login-queue.ts';

export interface LoginThrottleRules {
  /** Failed logins allowed per address in one window, which begins with the first failure. */
  readonly failures: number;
  readonly failuresWindowSeconds: number;
  /** The same for all addresses together; absent: unlimited. */
  readonly failuresTotal?: number | undefined;
}

/** A request that may log in. Of the three methods, only the first call has an effect. */
export interface LoginAttempt {
  /** Call it with the head of the answer. `status` is undefined if the answer shows nothing about the login. */
  answered(status: number | undefined): void;
  /**
   * Call it if the client has left before the answer, or does not finish its request: the upstream may have seen a failed login. This
   * counts as one, unless the credential was accepted before.
   */
  abandoned(): void;
  /** Call it if no answer came and the client did not cause that. */
  over(): void;
}

export interface LoginThrottle {
  /** Returns the digest of a credential that could be a guess. The other functions take the digest. */
  digestOf(credential: string): string;
  /** Throws if too many logins have failed. */
  refuse(admitted: Admitted, digest: string): void;
  /**
   * Admits an attempt to log in. It reserves a unit of each limit until the outcome is known, so that attempts in flight cannot exceed a
   * limit; it waits while others have reserved all units that are left. Throws, or rejects, as `refuse` does.
   */
  admit(admitted: Admitted, digest: string): Awaitable<LoginAttempt>;
  /** Applies from now on; windows that have begun keep their end. */
  useRules(rules: LoginThrottleRules): void;
}

/** Does nothing: the attempt of a request that is no login, or whose client left while it waited. */
export const NO_LOGIN: LoginAttempt = { answered: () => undefined, abandoned: () => undefined, over: () => undefined };

/** Statuses of the upstream for a failed login, or for too many of them. */
const failing = new Set([401, 402, 403, 429]);
const ALL_ADDRESSES = 'all';
/** An estimate, because the end of an attempt in flight cannot be predicted. */
const RETRY_AFTER_SECONDS = 5;

export type LoginThrottleOptions = Pick<FailureLimitOptions, 'name' | 'counters' | 'now'>;

/** Gives back the units of an attempt. `isAnswered`: the outcome of the attempt is known. */
type GiveBack = (isAnswered: boolean) => void;

/**
 * A credential that was accepted within the last window passes even from a blocked address, and reserves nothing. An upstream may give one
 * address the same answer for every credential. So a credential that fails later is forgotten, and a few such failures block the address
 * for all credentials.
 */
export function createLoginThrottle(
  rules: LoginThrottleRules,
  { name, counters, now }: LoginThrottleOptions,
): LoginThrottle {
  const accepted = createAcceptedCredentials(() => rules.failuresWindowSeconds * 1000, now);
  const ofAddress = createFailureLimit({ name: `login:${name}`, counters, now, ...addressRules(rules, 1) });
  const ofAccepted = createFailureLimit({ name: `known:${name}`, counters, now, ...addressRules(rules, 0.1) });
  const ofAll = createFailureLimit({ name: `total:${name}`, counters, now, ...totalRules(rules) });
  const queue = createLoginQueue();

  /** The limits under which an attempt from this address counts, each with the name that it counts under. */
  function limitsFor(address: string): readonly (readonly [limit: FailureLimit, counted: string])[] {
    if (rules.failuresTotal === undefined) return [[ofAddress, address]];
    return [
      [ofAddress, address],
      [ofAll, ALL_ADDRESSES],
    ];
  }

  /** Reserves a unit of each limit. Resolves with undefined if one of them has none left. */
  async function reserve(address: string): Promise<GiveBack | undefined> {
    const units: (() => void)[] = [];
    const giveBack = () => {
      for (const unit of units) unit();
      queue.retry();
    };
    try {
      for (const [limit, counted] of limitsFor(address)) {
        const unit = await limit.reserve(counted);
        if (unit === undefined) {
          for (const taken of units) taken();
          return undefined;
        }
        units.push(unit);
      }
    } catch (error) {
      giveBack();
      throw error;
    }
    return giveBack;
  }

  async function countFailure(address: string, digest: string): Promise<void> {
    const counting = limitsFor(address).map(([limit, counted]) => limit.countFailure(counted));
    if (accepted.forget(digest)) counting.push(ofAccepted.countFailure(address));
    await Promise.all(counting);
  }

  function begin(address: string, digest: string, giveBack: GiveBack, isTrusted: boolean): LoginAttempt {
    let isOver = false;

    function end(isAnswered: boolean, hasFailed: boolean): void {
      if (isOver) return;
      isOver = true;
      // The unit is given back after the failure is counted, so that the attempt counts at every moment.
      if (hasFailed) void countFailure(address, digest).then(() => giveBack(isAnswered));
      else giveBack(isAnswered);
    }

    return {
      answered(status) {
        if (!isOver && status !== undefined && status < 300) accepted.add(digest);
        end(true, status !== undefined && failing.has(status));
      },
      // An accepted credential is rarely wrong, so leaving early is no failure; too many such requests end the trust in it.
      abandoned: () => end(false, !isTrusted),
      over: () => end(true, false),
    };
  }

  function beginTrusted(address: string, digest: string): LoginAttempt | undefined {
    const end = accepted.begin(digest);
    return end && begin(address, digest, end, true);
  }

  async function beginReserved(address: string, digest: string): Promise<LoginAttempt | undefined> {
    const giveBack = await reserve(address);
    return giveBack && begin(address, digest, giveBack, false);
  }

  /** Waits for the turn of the address. A known credential with too many requests in flight waits for them; an unknown one is refused. */
  async function beginInTurn(admitted: Admitted, digest: string): Promise<LoginAttempt> {
    const { clientAddress, request } = admitted;
    const attempt = await queue.take(addressBlockOf(clientAddress), async () => {
      if (request.socket.destroyed) return NO_LOGIN;
      const trusted = beginTrusted(clientAddress, digest);
      if (trusted !== undefined) return trusted;
      const isKnown = accepted.has(digest);
      return beginReserved(clientAddress, digest).catch((error) => {
        if (isKnown) return undefined;
        throw error;
      });
    });
    if (attempt !== undefined) return attempt;
    throw new GatewayError('auth_attempts_limited', { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  return {
    digestOf: accepted.digestOf,
    refuse({ clientAddress }, digest) {
      refuseIfBlocked(ofAccepted, clientAddress);
      if (accepted.has(digest)) return;
      for (const [limit, counted] of limitsFor(clientAddress)) refuseIfBlocked(limit, counted);
    },
    admit: (admitted, digest) => beginTrusted(admitted.clientAddress, digest) ?? beginInTurn(admitted, digest),
    useRules(next) {
      rules = next;
      ofAddress.useRules(addressRules(next, 1));
      ofAccepted.useRules(addressRules(next, 0.1));
      ofAll.useRules(totalRules(next));
    },
  };
}

function refuseIfBlocked(limit: FailureLimit, address: string): void {
  if (limit.isBlocked(address)) throw limit.refusalOf(address);
}

function addressRules({ failures, failuresWindowSeconds }: LoginThrottleRules, part: number) {
  return { failures: Math.ceil(failures * part), windowSeconds: failuresWindowSeconds };
}

function totalRules({ failures, failuresTotal = failures, failuresWindowSeconds }: LoginThrottleRules) {
  return { failures: failuresTotal, windowSeconds: failuresWindowSeconds };
}
