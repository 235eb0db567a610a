// Opens overload protection with its bounds from the configuration, and counts and logs its refusals.

import type { Configuration } from '../configuration.ts';
import type { Log } from '../observe/log/log.ts';
import type { Metrics } from '../observe/metrics/metrics.ts';
import { createOverload, type Overload, type OverloadOptions, type OverloadRules } from '../overload/overload.ts';
import { type LoopProbe, probeLoop } from '../overload/pressure.ts';
import { createShedding, type Shedding } from '../overload/shedding.ts';

interface OverloadParts extends Omit<OverloadOptions, 'probe' | 'rules'> {
  /** Measures the delay of the event loop; by default with a timer. */
  readonly probe: LoopProbe | undefined;
}

/** Counts refusals due to overload, and logs when they begin and end. */
export function openShedding(log: Log, metrics: Pick<Metrics, 'overload'>): Shedding {
  return createShedding({
    onShed: (reason) => metrics.overload.shed(reason),
    onBegin: (upstream, reason) => log.logger.warn({ upstream, reason }, 'overload: requests are being refused'),
    onEnd: (upstream, shed, durationMs) =>
      log.logger.info({ upstream, shed, duration_ms: Math.round(durationMs) }, 'no more requests are being refused'),
    now: () => performance.now(),
  });
}

interface OpenOverload extends Overload {
  apply(next: Configuration): void;
}

/** @param first the configuration in force */
export function openOverload(first: Configuration, { probe = probeLoop, ...parts }: OverloadParts): OpenOverload {
  let rules = rulesOf(first);
  return {
    ...createOverload({ ...parts, probe, rules: () => rules }),
    apply(next) {
      rules = rulesOf(next);
    },
  };
}

function rulesOf({ config: { gateway } }: Configuration): OverloadRules {
  return { ...gateway.overload, bodyBytesMax: gateway.limits.bodyBytesMax };
}
