// Refreshes the tokens of sessions, once for each generation, over all requests and instances. The instance with the lease redeems the
// refresh token, which is not redeemed again unless the provider accepts it twice, and the others wait for the successor.

import type { Awaitable } from '../../shared/awaitable.ts';
import { type Machine, REAL_MACHINE } from '../../shared/machine.ts';
import type { Provider, RefreshOutcome } from '../provider/provider.ts';
import type {
  EndReason,
  IssuedTokens,
  RefreshLease,
  Session,
  SessionStore,
  SessionTokens,
} from '../store/session-store.ts';
import { createFailures, type Failures } from './failures.ts';
import { type HeldLease, holdLease } from './held-lease.ts';
import { createSettler, type Settler } from './settle.ts';
import { createTakeLease, type TakeLease } from './take-lease.ts';

/** A refresh begins this long before the access token ends: a quarter of the life of the token, at most a minute. */
const EARLY_MS = { part: 0.25, most: 60_000 } as const;
/** The time after which a token that was not sent yet is not sent. The request itself has the timeout of the provider. */
const REDEEM_MAX_MS = 20_000;
/** The interval at which a process reads from the store whether another instance has finished its refresh. */
const ASK_AGAIN_MS = { first: 50, longest: 400 } as const;
/** The longest time for which a request waits for an access token that has not ended. */
const WAIT_MAX_MS = 8000;
/** `away`: the access token has ended, and neither the provider nor the store can give a new one now. The session has not ended. */
export type RefreshedSession = Session | 'ended' | 'away';

/** What refreshes do at the providers. */
export interface ProviderRefreshes {
  /** A rejection is treated as `away` with an unknown outcome. */
  readonly redeem: Provider['redeem'];
  /** Milliseconds in which the provider accepts a refresh token again after it has redeemed it; 0 if it never does. */
  reuseMsOf(session: Session): number;
  /** Revokes tokens that arrived after the end of their session. */
  discard(session: Session, tokens: SessionTokens): void;
  /** Called with the reason, for operators, when a refresh has failed. */
  onFailure?: ((session: Session, reason: string) => void) | undefined;
}

interface RefresherOptions extends ProviderRefreshes {
  readonly store: Pick<SessionStore, 'refreshes' | 'openTokens'>;
  end(session: Session, reason: EndReason): Awaitable<unknown>;
  /** The clock of the store. */
  nowMs(): number;
  /** Called when a later generation of the session is known. */
  onSuccessor(session: Session): void;
  readonly machine?: Machine | undefined;
}

export class Refresher {
  readonly #options: RefresherOptions;
  readonly #machine: Machine;
  /** Refreshes in progress, by the hash of their session. */
  readonly #running = new Map<string, Promise<RefreshedSession>>();
  readonly #failures: Failures;
  readonly #settler: Settler;
  readonly #takeLease: TakeLease;

  constructor(options: RefresherOptions) {
    const { store, reuseMsOf, nowMs, machine = REAL_MACHINE } = options;
    this.#options = options;
    this.#machine = machine;
    this.#failures = createFailures(machine.performance);
    this.#settler = createSettler(machine);
    const { refreshes } = store;
    this.#takeLease = createTakeLease({ refreshes, reuseMsOf, nowMs, settler: this.#settler, machine });
  }

  /**
   * Returns the session at once while its access token lives, and begins a refresh shortly before its end. After the end of the access
   * token, waits a few seconds for its successor.
   */
  fresh(session: Session): Awaitable<RefreshedSession> {
    if (!session.refreshable || !this.#isDue(session)) return session;
    const hasEnded = this.#hasAccessEnded(session);
    let result = this.#running.get(session.hash);
    if (result === undefined && this.#failures.mayTry(session.hash)) result = this.#begin(session);
    if (!hasEnded) return session;
    return result === undefined ? 'away' : this.#within(WAIT_MAX_MS, result);
  }

  /** Number of refreshes in progress in this process. */
  running(): number {
    return this.#running.size;
  }

  /** Waits for refreshes in progress, for a few seconds. */
  async close(): Promise<void> {
    const patience = this.#machine.sleep(WAIT_MAX_MS / 2, { ref: false });
    await Promise.race([Promise.allSettled(this.#running.values()), patience]);
    this.#settler.close();
  }

  #begin(session: Session): Promise<RefreshedSession> {
    const { hash } = session;
    const result = this.#refresh(session)
      .catch((error: unknown) => this.#fail(session, (error as Error).message))
      .finally(() => this.#running.delete(hash));
    this.#running.set(hash, result);
    return result;
  }

  async #refresh(session: Session): Promise<RefreshedSession> {
    const { store, end } = this.#options;
    const { sleep } = this.#machine;
    const owner = this.#machine.randomUUID();
    for (let pauseMs: number = ASK_AGAIN_MS.first; ; pauseMs = Math.min(2 * pauseMs, ASK_AGAIN_MS.longest)) {
      const taken = await this.#takeLease(session, owner);
      switch (taken.state) {
        case 'taken':
          return this.#redeemWith(holdLease(taken.lease, store.refreshes, this.#machine), taken.session);
        case 'succeeded':
          return this.#succeed(taken.session);
        case 'ended':
          return 'ended';
        case 'unknown':
          if (!this.#hasAccessEnded(taken.session)) return this.#fail(session, 'the outcome of a refresh is unknown');
          await end(session, 'lost');
          return 'ended';
        case 'late':
          await sleep(pauseMs, { ref: false });
          break;
        case 'held':
          await sleep(Math.min(pauseMs, Math.max(1, taken.endsInMs)), { ref: false });
      }
    }
  }

  async #redeemWith(held: HeldLease, session: Session): Promise<RefreshedSession> {
    const { lease } = held;
    const { store, end } = this.#options;
    try {
      const tokens = this.#tokensOf(session);
      if (tokens === undefined) return await this.#giveBackUnread(lease, session);
      const outcome = await this.#outcomeOf(session, tokens, held);
      if (held.isSuperseded()) return this.#refresh(session);
      switch (outcome.kind) {
        case 'tokens':
          return await this.#write(lease, session, outcome.tokens);
        case 'ended':
          await this.#settler.settle(() => end(session, 'refused'));
          return 'ended';
        case 'away': {
          held.letGo();
          if (outcome.redeemed === 'no') await this.#settler.settle(() => store.refreshes.release(lease));
          else await this.#giveUp(held);
          return this.#fail(session, outcome.reason);
        }
      }
    } finally {
      held.letGo();
    }
  }

  /**
   * Gives up a token that may have been redeemed, because no instance may send it again.
   */
  async #giveUp({ lease, announceAgain }: HeldLease): Promise<void> {
    const giveUp = () => this.#options.store.refreshes.giveUp(lease);
    await this.#settler.settle(giveUp);
    this.#settler.settleAgain(async () => {
      if (await announceAgain()) await giveUp();
    });
  }

  #tokensOf(session: Session): SessionTokens | undefined {
    try {
      return this.#options.store.openTokens(session);
    } catch {
      return undefined;
    }
  }

  /**
   * Gives the lease back, because this process lacks the key of the sealed tokens. An instance that has the key may then refresh the
   * session before the access token ends.
   */
  async #giveBackUnread(lease: RefreshLease, session: Session): Promise<RefreshedSession> {
    const { store, end } = this.#options;
    await this.#settler.settle(() => store.refreshes.release(lease));
    if (!this.#hasAccessEnded(session)) return this.#fail(session, 'its tokens cannot be decrypted');
    await end(session, 'lost');
    return 'ended';
  }

  async #outcomeOf(session: Session, tokens: SessionTokens, { announce }: HeldLease): Promise<RefreshOutcome> {
    const timeout = new AbortController();
    const timeOut = () => timeout.abort(new Error('the provider does not answer'));
    const timer = this.#machine.setTimeout(timeOut, REDEEM_MAX_MS).unref();
    try {
      return await this.#options.redeem(session, tokens, { signal: timeout.signal, announce });
    } catch (error) {
      return { kind: 'away', redeemed: 'unknown', reason: (error as Error).message };
    } finally {
      this.#machine.clearTimeout(timer);
    }
  }

  async #write(lease: RefreshLease, session: Session, tokens: IssuedTokens): Promise<RefreshedSession> {
    const { store, discard } = this.#options;
    const { performance } = this.#machine;
    const since = performance.now();
    const put = async () => {
      const accessLivesMs = Math.max(0, tokens.accessLivesMs - (performance.now() - since));
      return { written: await store.refreshes.replaceTokens(lease, { ...tokens, accessLivesMs }) };
    };
    const result = await this.#settler.settle(put);
    if (result === undefined) return this.#fail(session, 'the new tokens could not be stored');
    if (result.written === undefined) {
      discard(session, tokens);
      return 'ended';
    }
    this.#settler.settleAgain(put);
    return this.#succeed(result.written);
  }

  #succeed(session: Session): Session {
    this.#failures.forget(session.hash);
    this.#options.onSuccessor(session);
    return session;
  }

  #fail(session: Session, reason: string): RefreshedSession {
    this.#failures.note(session.hash);
    this.#options.onFailure?.(session, reason);
    return this.#hasAccessEnded(session) ? 'away' : session;
  }

  /** Whether the access token has ended. */
  #hasAccessEnded({ accessEndsAtMs }: Session): boolean {
    return accessEndsAtMs <= this.#options.nowMs();
  }

  #isDue({ accessEndsAtMs, accessLivesMs }: Session): boolean {
    return accessEndsAtMs - this.#options.nowMs() <= Math.min(EARLY_MS.most, EARLY_MS.part * accessLivesMs);
  }

  async #within(ms: number, result: Promise<RefreshedSession>): Promise<RefreshedSession> {
    const { promise: late, resolve } = Promise.withResolvers<'away'>();
    const timer = this.#machine.setTimeout(() => resolve('away'), ms);
    try {
      return await Promise.race([result, late]);
    } finally {
      this.#machine.clearTimeout(timer);
    }
  }
}
