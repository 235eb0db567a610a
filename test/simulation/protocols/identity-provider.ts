// The provider of identities as a model: it rotates refresh tokens, and takes a second redemption of one for theft, at once or after some
// time. Connections to it break, and it is away for a while.

import type { Redemption as Announced, RefreshOutcome } from '../../../gateway/sessions/provider/provider.ts';
import type { IssuedTokens, SessionTokens } from '../../../gateway/sessions/store/session-store.ts';
import type { Deployment } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';

/** How long it thinks. */
const THINKS_MS = { quick: 300, slow: [12_000, 18_000, 30_000] } as const;
/** Before this share of redemptions, the discovery document has to be read. */
const DISCOVERIES = 0.3;
const DISCOVERY_MAX_MS = { well: 1000, slow: 4000 } as const;
/** Half of them are slow most of the time, so that faults meet answers that take long. */
const HEALTHS = [
  { episodeGapMs: 15 * 60_000, moods: ['away', 'breaks', 'slow'] },
  { episodeGapMs: 30_000, moods: ['slow', 'slow', 'slow', 'breaks'] },
] as const;
const EPISODE_MS = 4 * 60_000;
const WAY_MS = 30;
/** It takes a token again for so long. For an hour, a lost answer costs nothing. */
const REUSE_MS = [0, 0, 20_000, 3_600_000] as const;
/** Operators name less than what the provider allows. */
const REUSE_MARGIN_MS = 2000;

/** One attempt to redeem a refresh token. */
export interface Redemption {
  readonly session: string;
  readonly generation: number;
  readonly process: SimulatedProcess;
  /** When it was announced to the store. */
  readonly atMs: number;
  /** When it reached the provider. */
  receivedMs: number;
  /** When its answer reached the process; Infinity: it has not. */
  answeredMs: number;
  /** The process has learned that its outcome stays unknown. */
  isLost: boolean;
}

/** Of one session: a chain of refresh tokens, of which each is redeemed once. */
interface Grant {
  readonly session: string;
  /** What was sent, whether it arrived or not. */
  readonly attempts: Redemption[];
  readonly redemptions: Redemption[];
  isRevoked: boolean;
}

export interface IdentityProvider {
  readonly accessLivesMs: number;
  /** For how long it takes a token again. */
  readonly reuseMs: number;
  /** Tokens of a new login. */
  issue(session: string): IssuedTokens;
  redeem(process: SimulatedProcess, tokens: SessionTokens, announced: Announced): Promise<RefreshOutcome>;
  /** Refuses every further refresh. */
  revoke(session: string): void;
  attemptsOf(session: string): readonly Redemption[];
  /** From now on it is well. */
  rest(): void;
}

/**
 * @param onSecond called for the second redemption of a token, with the first one
 * @param onRefused called when a process has learned that a grant is revoked
 */
export function createIdentityProvider(
  deployment: Deployment,
  accessLivesMs: number,
  onSecond: (first: Redemption, second: Redemption) => void,
  onRefused: (session: string) => void,
): IdentityProvider {
  const { world, disturbances } = deployment;
  const random = world.random.named('provider');
  const grants = new Map<string, Grant>();
  const reuseMs = random.pick(REUSE_MS);
  const health = random.pick(HEALTHS);
  let mood: 'well' | 'away' | 'breaks' | 'slow' = 'well';
  let hasRest = false;

  const tokensOf = (session: string, generation: number): IssuedTokens => ({
    accessToken: `access ${session} ${generation}`,
    refreshToken: `${session} ${generation}`,
    idToken: undefined,
    accessLivesMs,
  });

  function nextEpisode(): void {
    world.after(random.between(0, 2 * health.episodeGapMs), () => {
      if (hasRest) return;
      mood = random.pick(health.moods);
      world.note('provider', `is ${mood}`);
      const end = disturbances.begin('outside');
      world.after(random.between(0, 2 * EPISODE_MS), () => {
        mood = 'well';
        world.note('provider', 'is well');
        end();
        nextEpisode();
      });
    });
  }
  nextEpisode();

  /** What the provider does with a token that has arrived. */
  function receive(redemption: Redemption): RefreshOutcome {
    const { session, generation, process } = redemption;
    const grant = grants.get(session) as Grant;
    const first = grant.redemptions.find((one) => one.generation === generation);
    const isLate = first !== undefined && (reuseMs === 0 || world.now() > first.receivedMs + reuseMs + REUSE_MARGIN_MS);
    redemption.receivedMs = world.now();
    grant.redemptions.push(redemption);
    world.note('provider', `redeems ${session} ${generation} for ${process.name}`);
    if (isLate) {
      grant.isRevoked = true;
      onSecond(first, redemption);
    }
    return grant.isRevoked ? { kind: 'ended' } : { kind: 'tokens', tokens: tokensOf(session, generation + 1) };
  }

  /** Before a token is sent, the discovery document may have to be read. */
  function discoversMs(): number {
    if (mood === 'slow') return random.between(0, DISCOVERY_MAX_MS.slow);
    return random.chance(DISCOVERIES) ? random.between(5, DISCOVERY_MAX_MS.well) : 0;
  }

  function thinksMs(): number {
    if (mood === 'slow') return random.pick(THINKS_MS.slow) * random.next();
    return random.between(5, THINKS_MS.quick);
  }

  return {
    accessLivesMs,
    reuseMs,
    issue(session) {
      grants.set(session, { session, attempts: [], redemptions: [], isRevoked: false });
      return tokensOf(session, 0);
    },
    async redeem(process, { refreshToken = '' }, { signal, announce }) {
      const [session = '', generation = '0'] = refreshToken.split(' ');
      const discoversForMs = discoversMs();
      if (discoversForMs > 0) {
        deployment.asks(process);
        await process.machine.sleep(discoversForMs);
      }
      const attempt: Redemption = {
        ...{ session, generation: Number(generation), process, atMs: world.now() },
        ...{ receivedMs: Number.POSITIVE_INFINITY, answeredMs: Number.POSITIVE_INFINITY, isLost: false },
      };
      const attempts = grants.get(session)?.attempts ?? [];
      attempts.push(attempt);
      const unsent = (reason: string): RefreshOutcome => {
        attempts.splice(attempts.indexOf(attempt), 1);
        return { kind: 'away', redeemed: 'no', reason };
      };
      try {
        if (!(await announce())) return unsent('another instance has begun');
      } catch (error) {
        return unsent((error as Error).message);
      }
      return new Promise((resolve) => {
        const answer = (ms: number, outcomeOf: () => RefreshOutcome) =>
          world.after(ms, () => {
            process.enter('message', () => {
              const outcome = outcomeOf();
              if (outcome === lost) attempt.isLost = true;
              else if (!signal.aborted) attempt.answeredMs = world.now();
              resolve(outcome);
              if (outcome.kind === 'ended' && !signal.aborted) onRefused(session);
            });
          });
        const lost: RefreshOutcome = { kind: 'away', redeemed: 'unknown', reason: 'the connection broke' };
        signal.addEventListener(
          'abort',
          () => {
            attempt.isLost = true;
            resolve(lost);
          },
          { once: true },
        );
        if (mood === 'away') {
          answer(WAY_MS, () => unsent('it refuses connections'));
          return;
        }
        const breaks = mood === 'breaks' ? random.pick(['before', 'after', 'never'] as const) : 'never';
        if (breaks === 'before') return void answer(WAY_MS, () => lost);
        world.after(random.between(1, WAY_MS), () => {
          deployment.asks(process);
          const outcome = receive(attempt);
          answer(thinksMs(), () => (breaks === 'after' ? lost : outcome));
        });
      });
    },
    revoke(session) {
      const grant = grants.get(session);
      if (grant !== undefined) grant.isRevoked = true;
    },
    attemptsOf: (session) => grants.get(session)?.attempts ?? [],
    rest() {
      hasRest = true;
    },
  };
}
