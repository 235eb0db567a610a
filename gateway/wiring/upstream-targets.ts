// Connections to upstreams, and the health and breakers of their targets. These objects live as long as the process. Every change of state
// is logged and counted.

import type { Log } from '../observe/log/log.ts';
import { createBreakerLog, createFailingLog } from '../observe/log/rare-warnings.ts';
import type { Metrics } from '../observe/metrics/metrics.ts';
import { type AnswerFromContract, withInProcessTargets } from '../upstream/targets/in-process.ts';
import { createPools, type Pools } from '../upstream/targets/pools.ts';
import { TargetSets } from '../upstream/targets/target-set.ts';

export interface UpstreamTargets {
  readonly pools: Pools;
  readonly targetSets: TargetSets;
  /** Returns monotonic milliseconds. */
  clock(): number;
}

interface UpstreamTargetsOptions {
  originOf(address: string): string;
  /** Returns the function that answers for an address without a service. */
  answerFor(address: string): AnswerFromContract;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'targets'>;
  now(): number;
}

export function openUpstreamTargets({
  originOf,
  answerFor,
  log,
  metrics,
  now,
}: UpstreamTargetsOptions): UpstreamTargets {
  const clock = () => performance.now();
  const failing = createFailingLog(log, clock);
  const pools = withInProcessTargets(createPools(), answerFor);
  const targetSets = new TargetSets({
    pools,
    originOf,
    clock,
    now,
    onTarget(change) {
      if (change.state === 'failing') return failing.begins(change);
      if (change.state === 'healthy') return failing.ends(change);
      const isWorse = change.state === 'ejected' || change.state === 'unhealthy';
      log.logger[isWorse ? 'warn' : 'info'](change, `a target of the upstream is ${change.state}`);
      if (change.state === 'ejected') metrics.targets.ejected(change);
    },
    onBreaker: createBreakerLog(log, clock),
    onUnrequestedBytes({ upstream, isFirst, isolatedUntil }) {
      metrics.targets.unrequestedBytes(upstream);
      if (!isFirst) return;
      const facts = { upstream, isolated_until: isolatedUntil };
      log.logger.warn(
        facts,
        'the upstream sent bytes that no request asked for: each request gets a connection of its own',
      );
    },
    onCheck: (check) => metrics.targets.checked(check),
  });
  return { pools, targetSets, clock };
}
