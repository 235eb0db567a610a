// Wiring of what the gateway takes at all: its bounds, and how their being reached is counted and told.

import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { createOverload, type Overload, type OverloadOptions } from '../overload/overload.ts';
import { type LoopProbe, probeLoop } from '../overload/probe.ts';
import { createShedding, type Shedding } from '../overload/shedding.ts';

export interface OverloadParts extends Omit<OverloadOptions, 'probe'> {
  /** How late the event loop is; measured by a timer of its own by default. */
  readonly probe: LoopProbe | undefined;
}

/** Counts refusals because of too much work, and logs when they begin and end. */
export function openShedding(log: Log, metrics: Pick<Metrics, 'overload'>): Shedding {
  return createShedding({
    onShed: (reason) => metrics.overload.shed(reason),
    onBegin: (upstream, reason) =>
      log.logger.warn({ upstream, reason }, 'there is too much to do: requests are being refused'),
    onEnd: (upstream, shed, durationMs) =>
      log.logger.info({ upstream, shed, duration_ms: Math.round(durationMs) }, 'no more requests are being refused'),
    now: () => performance.now(),
  });
}

export function openOverload({ probe = probeLoop, ...parts }: OverloadParts): Overload {
  return createOverload({ ...parts, probe });
}
