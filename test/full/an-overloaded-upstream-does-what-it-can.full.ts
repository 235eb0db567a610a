// An upstream that gets five times its capacity goes on at that capacity, callers are served or refused soon, and other upstreams are not
// affected. It is a fifth of `npm run bench:overload`, so that the upstream has too much to do and not the machine.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Figures, overloadTrial } from '../../bench/overload/trial.ts';

describe('an upstream of 100 requests a second that gets 500', () => {
  let figures: Figures;
  before(async () => {
    figures = await overloadTrial({ durationMs: 10_000, eachMs: 50, perSecond: 500, busyOrganizations: 5 });
  });

  const shareOf = (served: string) => {
    const [some = 0, all = 0] = served.split(' of ').map(Number);
    return some / all;
  };

  it('does at least four fifths of the most it can', () => {
    const { goodputPerSecond, peakPerSecond } = figures;
    assert.ok(goodputPerSecond >= 0.8 * peakPerSecond, `${goodputPerSecond} of ${peakPerSecond}`);
    assert.ok(goodputPerSecond >= 80, `${goodputPerSecond}`);
  });

  it('serves within two seconds, and refuses sooner', () => {
    assert.ok(figures.servedP99Ms < 2000, `${figures.servedP99Ms} ms`);
    assert.ok(figures.refusedP99Ms < 1000, `${figures.refusedP99Ms} ms`);
  });

  it('gives each of the organizations with too many requests its part', () => {
    const { leastOfOnePerSecond, mostOfOnePerSecond } = figures;
    assert.ok(leastOfOnePerSecond >= 0.7 * mostOfOnePerSecond, `${leastOfOnePerSecond} to ${mostOfOnePerSecond}`);
  });

  it('is noticed neither by an organization with little load nor at another upstream', () => {
    assert.ok(shareOf(figures.quietServed) >= 0.99, figures.quietServed);
    assert.equal(shareOf(figures.otherServed), 1, figures.otherServed);
  });

  it('takes little memory, and is over within five seconds', () => {
    assert.ok(figures.grownMegabytes < 150, `${figures.grownMegabytes} MB`);
    assert.ok(figures.recoveredAfterMs < 5000, `${figures.recoveredAfterMs} ms`);
  });
});
