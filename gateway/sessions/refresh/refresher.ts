// Refreshes the tokens of sessions: once for each generation, over all requests and instances. The instance with the lease redeems the
// refresh token, and the others wait for the successor. A token that may have been redeemed is not redeemed again, unless the provider
// takes it again.

import type { Awaitable } from '../../shared/awaitable.ts';
import { type Machine, realMachine } from '../../shared/machine.ts';
import type {
  EndReason,
  IssuedTokens,
  RefreshLease,
  Session,
  SessionStore,
  SessionTokens,
} from '../store/session-store.ts';
import { createFailures } from './failures.ts';
import { type HeldLease, holdLease } from './held-lease.ts';
import type { Redeem, Redeemed } from './redeem.ts';
import { createSettler } from './settle.ts';
import { createTakeLease } from './take-lease.ts';

/** A refresh begins so long before the access token ends: a quarter of its life, a minute at most. */
const EARLY_MS = { part: 0.25, most: 60_000 } as const;
/** The provider has so long to answer. */
const REDEEM_MAX_MS = 20_000;
/** How often the store is asked for what another instance is doing. */
const ASK_AGAIN_MS = { first: 50, longest: 400 } as const;
/** A request without a living access token waits so long for one. */
const WAIT_MAX_MS = 8000;
/** A successor is written once more: by then Redis has it on disk, or has lost it in a crash. */
const WRITE_AGAIN_AFTER_MS = 2000;
const WRITE_AGAIN_FOR_MS = 60_000;

/** `away`: the access token has ended, and neither provider nor store give a new one at present. The session has not ended. */
export type Refreshed = Session | 'ended' | 'away';

export interface RefresherOptions {
  readonly store: Pick<SessionStore, 'refreshes' | 'openTokens'>;
  readonly redeem: Redeem;
  /** For how long the provider of a session takes a refresh token again that it has redeemed; 0: never. */
  reuseMsOf(session: Session): number;
  /** Tokens that arrived after their session had ended: to be revoked. */
  discard(session: Session, tokens: SessionTokens): void;
  end(session: Session, reason: EndReason): Awaitable<unknown>;
  /** The clock of the store. */
  nowMs(): number;
  /** A later generation became known. */
  onSuccessor(session: Session): void;
  /** Why a refresh did not succeed, for operators. */
  onFailure?: ((session: Session, reason: string) => void) | undefined;
  readonly machine?: Machine | undefined;
}

export interface Refresher {
  /**
   * Returns the session at once while its access token lives, and begins a refresh shortly before its end. Afterwards waits for the
   * successor, for some seconds.
   */
  fresh(session: Session): Awaitable<Refreshed>;
  /** Refreshes in progress in this process. */
  running(): number;
  /** Waits for refreshes in progress, for a few seconds. */
  close(): Promise<void>;
}

export function createRefresher(options: RefresherOptions): Refresher {
  const { store, redeem, reuseMsOf, discard, end, nowMs, onSuccessor, onFailure, machine = realMachine } = options;
  const { performance, sleep, setTimeout, clearTimeout } = machine;
  const { refreshes } = store;
  const running = new Map<string, Promise<Refreshed>>();
  const failures = createFailures(performance);
  const settler = createSettler(machine);
  const takeLease = createTakeLease({ refreshes, reuseMsOf, nowMs, settler, machine });
  const isOver = ({ accessEndsAtMs }: Session) => accessEndsAtMs <= nowMs();

  function succeed(session: Session): Session {
    failures.forget(session.hash);
    onSuccessor(session);
    return session;
  }

  function fail(session: Session, reason: string): Refreshed {
    failures.note(session.hash);
    onFailure?.(session, reason);
    return isOver(session) ? 'away' : session;
  }

  async function refresh(session: Session): Promise<Refreshed> {
    const owner = machine.randomUUID();
    for (let pauseMs: number = ASK_AGAIN_MS.first; ; pauseMs = Math.min(2 * pauseMs, ASK_AGAIN_MS.longest)) {
      const taken = await takeLease(session, owner);
      switch (taken.state) {
        case 'taken':
          return redeemWith(holdLease(taken.lease, refreshes, machine), taken.session);
        case 'succeeded':
          return succeed(taken.session);
        case 'ended':
          return 'ended';
        case 'unknown':
          if (!isOver(taken.session)) return fail(session, 'the outcome of a refresh is unknown');
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

  async function redeemWith(held: HeldLease, session: Session): Promise<Refreshed> {
    const { lease } = held;
    try {
      const tokens = tokensOf(session);
      if (tokens === undefined) return await giveBackUnread(lease, session);
      const outcome = await outcomeOf(session, tokens, held);
      if (held.isSuperseded()) return refresh(session);
      switch (outcome.kind) {
        case 'tokens':
          return await write(lease, session, outcome.tokens);
        case 'ended':
          await settler.settle(() => end(session, 'refused'), WRITE_AGAIN_FOR_MS);
          return 'ended';
        case 'away': {
          const letGo = outcome.redeemed === 'no' ? refreshes.release : refreshes.giveUp;
          held.letGo();
          await settler.settle(() => letGo(lease), WRITE_AGAIN_FOR_MS);
          return fail(session, outcome.reason);
        }
      }
    } finally {
      held.letGo();
    }
  }

  function tokensOf(session: Session): SessionTokens | undefined {
    try {
      return store.openTokens(session);
    } catch {
      return undefined;
    }
  }

  /** Another instance may know the key, until the access token ends. */
  async function giveBackUnread(lease: RefreshLease, session: Session): Promise<Refreshed> {
    await settler.settle(() => refreshes.release(lease), WRITE_AGAIN_FOR_MS);
    if (!isOver(session)) return fail(session, 'its tokens cannot be decrypted');
    await end(session, 'lost');
    return 'ended';
  }

  async function outcomeOf(session: Session, tokens: SessionTokens, { announce }: HeldLease): Promise<Redeemed> {
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(new Error('the provider does not answer')), REDEEM_MAX_MS).unref();
    try {
      return await redeem(session, tokens, { signal: over.signal, announce });
    } catch (error) {
      return { kind: 'away', redeemed: 'unknown', reason: (error as Error).message };
    } finally {
      clearTimeout(timer);
    }
  }

  async function write(lease: RefreshLease, session: Session, tokens: IssuedTokens): Promise<Refreshed> {
    const since = performance.now();
    const put = async () => {
      const accessLivesMs = Math.max(0, tokens.accessLivesMs - (performance.now() - since));
      return { written: await refreshes.replaceTokens(lease, { ...tokens, accessLivesMs }) };
    };
    const result = await settler.settle(put, Math.max(tokens.accessLivesMs, WRITE_AGAIN_FOR_MS));
    if (result === undefined) return fail(session, 'the new tokens could not be stored');
    if (result.written === undefined) {
      discard(session, tokens);
      return 'ended';
    }
    setTimeout(() => void settler.settle(put, WRITE_AGAIN_FOR_MS), WRITE_AGAIN_AFTER_MS).unref();
    return succeed(result.written);
  }

  function begin(session: Session): Promise<Refreshed> {
    const { hash } = session;
    const result = refresh(session)
      .catch((error: unknown) => fail(session, (error as Error).message))
      .finally(() => running.delete(hash));
    running.set(hash, result);
    return result;
  }

  function isDue({ accessEndsAtMs, accessLivesMs }: Session): boolean {
    return accessEndsAtMs - nowMs() <= Math.min(EARLY_MS.most, EARLY_MS.part * accessLivesMs);
  }

  async function within(ms: number, result: Promise<Refreshed>): Promise<Refreshed> {
    const { promise: late, resolve } = Promise.withResolvers<'away'>();
    const timer = setTimeout(() => resolve('away'), ms);
    try {
      return await Promise.race([result, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    fresh(session) {
      if (!session.refreshable || !isDue(session)) return session;
      const isEnded = isOver(session);
      let result = running.get(session.hash);
      if (result === undefined && failures.mayTry(session.hash)) result = begin(session);
      if (!isEnded) return session;
      return result === undefined ? 'away' : within(WAIT_MAX_MS, result);
    },
    running: () => running.size,
    async close() {
      await Promise.race([Promise.allSettled(running.values()), sleep(WAIT_MAX_MS / 2, { ref: false })]);
      settler.close();
    },
  };
}
