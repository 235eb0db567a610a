// Three gateways over Redis, and a provider that rotates refresh tokens and takes a second redemption for theft: 200 requests at once as an
// access token ends, round after round, while the gateway that refreshes is killed or stands still at each step of the refresh. Each token
// is redeemed once, the provider sees no theft, and no request gets 401 but those of a session whose new tokens died with a gateway.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { closesAfterAll } from '../support/closing.ts';
import {
  type Fault,
  KILLS_AFTER,
  KILLS_BEFORE,
  KILLS_BETWEEN,
  type Moment,
  startRefreshTrial,
} from '../support/refresh-trial.ts';

const ROUNDS = Number(process.env.SESSION_ROUNDS ?? 100);
/** A pause that is longer than the lease of a holder that has sent nothing. */
const LONG_MS = 6500;
const SHORT_MS = 800;

const pause = (at: Moment, forMs: number): Fault => ({ kind: 'pause', at, forMs });
const kill = (at: Moment): Fault => ({ kind: 'kill', at });
const none: Fault = { kind: 'none', at: undefined };

const start = closesAfterAll();

it(`${ROUNDS} rounds of 200 requests, with pauses and kills at each step: what can be kept is kept`, {
  timeout: 2_400_000,
}, async () => {
  const trial = await start(startRefreshTrial({ reuseSeconds: 0 }));
  const faults = [
    ...[...KILLS_BEFORE, ...KILLS_BETWEEN, ...KILLS_AFTER].map(kill),
    ...[pause('has the lease', LONG_MS), pause('the provider has it', LONG_MS), pause('stores', SHORT_MS)],
    ...Array.from({ length: 8 }, () => none),
  ];
  for (let number = 0; number < ROUNDS; number += 1) {
    const fault = faults[(number * 7) % faults.length] as Fault;
    const isUncertain = fault.kind === 'kill' && KILLS_BETWEEN.includes(fault.at);
    const { isLost, refusedEarly } = await trial.round(fault);
    assert.equal(refusedEarly, 0, 'no request gets 401 while the access token lives');
    assert.ok(!isLost || isUncertain, `the session is lost by: ${fault.kind} ${fault.at}`);
    assert.equal(new Set(trial.redeemed).size, trial.redeemed.length, 'each token is redeemed once');
    assert.deepEqual(trial.errors, [], 'the provider has seen no theft');
  }
  console.log(trial.table());
});

it('where the provider takes a token again, no kill loses a session', { timeout: 1_200_000 }, async () => {
  const trial = await start(startRefreshTrial({ reuseSeconds: 3600 }));
  for (let turn = 0; turn < Math.max(1, Math.round(ROUNDS / 33)); turn += 1) {
    for (const fault of [...KILLS_BEFORE, ...KILLS_BETWEEN, ...KILLS_AFTER].map(kill)) {
      const { isLost, refusedEarly } = await trial.round(fault);
      assert.deepEqual({ isLost, refusedEarly }, { isLost: false, refusedEarly: 0 }, `killed: ${fault.at}`);
      assert.deepEqual(trial.errors, []);
    }
  }
  console.log(trial.table());
});
