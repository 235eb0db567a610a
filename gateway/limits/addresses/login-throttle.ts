// Limits failed logins through tunnels, per client address and in total, because an upstream that sees all clients at the address of the
// gateway would lock out all of them for the failed logins of one. Throws auth_attempts_limited.

import { GatewayError } from '../../catalogue/errors.ts';
import type { Admitted } from '../../exchange/exchange.ts';
import type { Awaitable } from '../../shared/awaitable.ts';
import { addressBlockOf } from '../../shared/http/address-block.ts';
import { type AcceptedCredentials, createAcceptedCredentials } from './accepted-credentials.ts';
import { FailureLimit, type FailureLimitOptions } from './failure-limit.ts';
import { createLoginQueue } from './login-queue.ts';

export interface LoginThrottleRules {
  /** Failed logins allowed per address in one window, which begins with the first failure. */
  readonly failures: number;
  readonly failuresWindowSeconds: number;
  /** Failed logins allowed in one window for all addresses together; absent if it is unlimited. */
  readonly failuresTotal?: number | undefined;
}

/** A request that may log in. Only the first call of one of the three methods has an effect. */
export interface LoginAttempt {
  /** Call it with the head of the answer. `status` is undefined if the answer shows nothing about the login. */
  answered(status: number | undefined): void;
  /**
   * Call it if the client disconnected before the answer, or does not finish its request. The upstream may have seen a failed login, so the
   * attempt is treated as a failure, unless the credential was accepted before.
   */
  abandoned(): void;
  /** Call it if no answer came, and the client was not the cause. */
  unanswered(): void;
}

/** An attempt that counts nothing. It is for a request that is not a login, or whose client left while it waited. */
export const NO_LOGIN: LoginAttempt = {
  answered: () => undefined,
  abandoned: () => undefined,
  unanswered: () => undefined,
};

/** Statuses by which an upstream answers a failed login, or too many failed logins. */
const FAILURE_STATUSES = new Set([401, 402, 403, 429]);
const ALL_ADDRESSES = 'all';
/**
 * Retry-After while attempts in flight have reserved all units. It is an estimate, because the gateway does not know when one of them will
 * end.
 */
const RETRY_AFTER_SECONDS = 5;

export type LoginThrottleOptions = Pick<FailureLimitOptions, 'name' | 'counters' | 'now'>;

/** Gives back the units of an attempt. `isAnswered` is true if the outcome of the attempt is known. */
type GiveBack = (isAnswered: boolean) => void;

/**
 * The limits of failed logins. A credential that the upstream has accepted within the last window is trusted, so it passes even from a
 * blocked address, and reserves no unit. The trust has a bound, because an upstream may give one address the same answer whatever the
 * credential is. If a trusted credential fails, it is no longer trusted. A few such failures block the address for all credentials.
 */
export class LoginThrottle {
  readonly #rules: () => LoginThrottleRules;
  readonly #accepted: AcceptedCredentials;
  readonly #ofAddress: FailureLimit;
  /** Failures of trusted credentials, per address. */
  readonly #ofAccepted: FailureLimit;
  readonly #ofAll: FailureLimit;
  readonly #queue = createLoginQueue();
  /** Returns the digest of a credential that could be a guess. The methods take the digest. */
  readonly digestOf: AcceptedCredentials['digestOf'];

  /** @param rules the current rules. If they change, windows that have begun keep their end */
  constructor(rules: () => LoginThrottleRules, { name, counters, now }: LoginThrottleOptions) {
    this.#rules = rules;
    this.#accepted = createAcceptedCredentials(() => rules().failuresWindowSeconds * 1000, now);
    this.digestOf = this.#accepted.digestOf;
    const limitOf = (failure: string, rulesOf: FailureLimitOptions['rules']) =>
      new FailureLimit({ name: `${failure}:${name}`, counters, now, rules: rulesOf });
    this.#ofAddress = limitOf('login', () => addressRules(rules(), 1));
    this.#ofAccepted = limitOf('known', () => addressRules(rules(), 0.1));
    this.#ofAll = limitOf('total', () => totalRules(rules()));
  }

  /** Throws if too many logins have failed. */
  refuseIfBlocked({ clientAddress }: Admitted, digest: string): void {
    assertNotBlocked(this.#ofAccepted, clientAddress);
    if (this.#accepted.has(digest)) return;
    for (const [limit, counted] of this.#limitsFor(clientAddress)) assertNotBlocked(limit, counted);
  }

  /**
   * Admits an attempt to log in. The attempt reserves a unit of each limit until its outcome is known, because many attempts at once could
   * otherwise exceed a limit. The attempt waits while other attempts have reserved all remaining units. Throws, or rejects, as
   * `refuseIfBlocked` does.
   */
  admit(admitted: Admitted, digest: string): Awaitable<LoginAttempt> {
    return this.#beginTrusted(admitted.clientAddress, digest) ?? this.#beginInTurn(admitted, digest);
  }

  /** Returns the limits under which an attempt from this address counts, each with the name that it counts under. */
  #limitsFor(address: string): readonly (readonly [limit: FailureLimit, counted: string])[] {
    if (this.#rules().failuresTotal === undefined) return [[this.#ofAddress, address]];
    return [
      [this.#ofAddress, address],
      [this.#ofAll, ALL_ADDRESSES],
    ];
  }

  /** Begins an attempt with an accepted credential; undefined if the credential is unknown or too many of its requests are open. */
  #beginTrusted(address: string, digest: string): LoginAttempt | undefined {
    const end = this.#accepted.begin(digest);
    return end && this.#begin(address, digest, end, true);
  }

  /**
   * Begins an attempt when the address has its turn. If the address is blocked then:
   *
   * - A request with a trusted credential waits until fewer requests with this credential are in progress.
   * - A request with another credential is refused.
   */
  async #beginInTurn(admitted: Admitted, digest: string): Promise<LoginAttempt> {
    const { clientAddress, request } = admitted;
    const attempt = await this.#queue.take(addressBlockOf(clientAddress), async () => {
      if (request.socket.destroyed) return NO_LOGIN;
      const trusted = this.#beginTrusted(clientAddress, digest);
      if (trusted !== undefined) return trusted;
      const isKnown = this.#accepted.has(digest);
      return this.#beginReserved(clientAddress, digest).catch((error) => {
        if (isKnown) return undefined;
        throw error;
      });
    });
    if (attempt !== undefined) return attempt;
    throw new GatewayError('auth_attempts_limited', { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  async #beginReserved(address: string, digest: string): Promise<LoginAttempt | undefined> {
    const giveBack = await this.#reserve(address);
    return giveBack && this.#begin(address, digest, giveBack, false);
  }

  /** Reserves a unit of each limit. Resolves with undefined if one of them has none left. */
  async #reserve(address: string): Promise<GiveBack | undefined> {
    const units: (() => void)[] = [];
    const giveBack = () => {
      for (const unit of units) unit();
      this.#queue.askAgain();
    };
    try {
      for (const [limit, counted] of this.#limitsFor(address)) {
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

  #begin(address: string, digest: string, giveBack: GiveBack, isTrusted: boolean): LoginAttempt {
    let isOver = false;

    const end = (isAnswered: boolean, hasFailed: boolean): void => {
      if (isOver) return;
      isOver = true;
      // The unit is given back only after the failure is counted. Otherwise, for a moment, the attempt would be neither reserved nor
      // counted.
      if (hasFailed) void this.#countFailure(address, digest).then(() => giveBack(isAnswered));
      else giveBack(isAnswered);
    };

    return {
      answered: (status) => {
        if (!isOver && status !== undefined && status < 300) this.#accepted.add(digest);
        end(true, status !== undefined && FAILURE_STATUSES.has(status));
      },
      // A client with a trusted credential that leaves before the answer is not counted as a failure. The outcome of its request stays
      // unknown, and too many such requests end the trust.
      abandoned: () => end(false, !isTrusted),
      unanswered: () => end(true, false),
    };
  }

  async #countFailure(address: string, digest: string): Promise<void> {
    const counting = this.#limitsFor(address).map(([limit, counted]) => limit.countFailure(counted));
    if (this.#accepted.forget(digest)) counting.push(this.#ofAccepted.countFailure(address));
    await Promise.all(counting);
  }
}

function assertNotBlocked(limit: FailureLimit, address: string): void {
  if (limit.isBlocked(address)) throw limit.refusalOf(address);
}

function addressRules({ failures, failuresWindowSeconds }: LoginThrottleRules, part: number) {
  return { failures: Math.ceil(failures * part), windowSeconds: failuresWindowSeconds };
}

function totalRules({ failures, failuresTotal = failures, failuresWindowSeconds }: LoginThrottleRules) {
  return { failures: failuresTotal, windowSeconds: failuresWindowSeconds };
}
