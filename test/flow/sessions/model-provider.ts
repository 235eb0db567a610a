// A provider for tests: it rotates refresh tokens, and takes a second redemption of one for theft.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Redeemed } from '../../../gateway/sessions/refresh/refresher.ts';
import type { Session, SessionTokens } from '../../../gateway/sessions/store/session-store.ts';
import { tokens } from './store-samples.ts';

export interface ModelProvider {
  /** Each redemption by its token, in turn. */
  readonly redeemed: string[];
  /** Second redemptions. */
  readonly alarms: string[];
  readonly discarded: string[];
  /** What happens instead of an answer. */
  disturbance: Redeemed | undefined;
  thinksMs: number;
  accessLivesMs: number;
  redeem(session: Session, tokens: SessionTokens, signal: AbortSignal): Promise<Redeemed>;
  discard(session: Session, tokens: SessionTokens): void;
}

export function createModelProvider(): ModelProvider {
  const redeemed: string[] = [];
  const alarms: string[] = [];
  const discarded: string[] = [];
  return {
    redeemed,
    alarms,
    discarded,
    disturbance: undefined,
    thinksMs: 30,
    accessLivesMs: 300_000,
    async redeem(_session, { refreshToken = '' }) {
      if (this.disturbance?.kind === 'away' && this.disturbance.redeemed === 'no') return this.disturbance;
      if (redeemed.includes(refreshToken)) alarms.push(refreshToken);
      redeemed.push(refreshToken);
      await sleep(this.thinksMs);
      if (this.disturbance !== undefined) return this.disturbance;
      return { kind: 'tokens', tokens: tokens(`${refreshToken}+`, { accessLivesMs: this.accessLivesMs }) };
    },
    discard: (_session, { refreshToken = '' }) => void discarded.push(refreshToken),
  };
}
