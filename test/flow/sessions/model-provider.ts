// A provider for tests: it rotates refresh tokens, and takes a second redemption of one for theft.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Redemption, RefreshOutcome } from '../../../gateway/sessions/provider/provider.ts';
import type { Session, SessionTokens } from '../../../gateway/sessions/store/session-store.ts';
import { tokens } from './store-samples.ts';

export interface ModelProvider {
  /** Each redemption by its token, in turn. */
  readonly redeemed: string[];
  /** Second redemptions. */
  readonly alarms: string[];
  readonly discarded: string[];
  /** What happens instead of an answer. */
  disturbance: RefreshOutcome | undefined;
  thinksMs: number;
  /** Instead of `thinksMs`: it answers once this has resolved. */
  answersAfter: Promise<void> | undefined;
  accessLivesMs: number;
  /** For how long it takes a token again. */
  reuseMs: number;
  redeem(session: Session, tokens: SessionTokens, redemption: Redemption): Promise<RefreshOutcome>;
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
    answersAfter: undefined,
    accessLivesMs: 300_000,
    reuseMs: 0,
    async redeem(_session, { refreshToken = '' }, { announce }) {
      if (!(await announce())) return { kind: 'away', redeemed: 'no', reason: 'another instance has begun' };
      if (this.disturbance?.kind === 'away' && this.disturbance.redeemed === 'no') return this.disturbance;
      if (redeemed.includes(refreshToken) && this.reuseMs === 0) alarms.push(refreshToken);
      redeemed.push(refreshToken);
      await (this.answersAfter ?? sleep(this.thinksMs));
      if (this.disturbance !== undefined) return this.disturbance;
      return { kind: 'tokens', tokens: tokens(`${refreshToken}+`, { accessLivesMs: this.accessLivesMs }) };
    },
    discard: (_session, { refreshToken = '' }) => void discarded.push(refreshToken),
  };
}
