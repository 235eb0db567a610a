// The parts that report: log, metrics, faults, the listener of operators, traces. The later parts report events to them.

import type { Configuration } from '../../configuration.ts';
import { NearLimit } from '../../console/feed/near-limit.ts';
import { createIds, type Ids } from '../../edge/ids.ts';
import { createLog, type Log } from '../../observe/log/log.ts';
import { createDropWarning, reportUnreadableForwards } from '../../observe/log/rare-warnings.ts';
import { createMetrics, type Metrics } from '../../observe/metrics/metrics.ts';
import {
  createUntracedIds,
  openTracing,
  type TraceparentFor,
  type TraceWithin,
  type Tracing,
  untracedWithin,
} from '../../observe/tracing/tracing.ts';
import { onGarbledRedis } from '../../redis/garbled.ts';
import { onFault } from '../../shared/faults.ts';
import type { AppOptions } from '../app-options.ts';
import { type AdminListener, openAdminListener } from '../operators.ts';
import type { Parts } from '../parts.ts';
import { type BaseSection, operationsServed } from './base.ts';

interface ObservationSection {
  readonly log: Log;
  readonly metrics: Metrics;
  /** The organizations close to their limits, for the console. */
  readonly pressed: NearLimit;
  readonly ids: Ids;
  readonly admin: AdminListener;
  /** The export of traces; undefined if traces are not exported. */
  readonly tracing: Tracing | undefined;
  readonly traceparentFor: TraceparentFor;
  readonly traceWithin: TraceWithin;
  /** Logs and counts an X-Forwarded-For of a trusted proxy that cannot be parsed. */
  onUnreadableForward(entry: string, proxy: string): void;
}

/** The sections that every later section may use. */
export interface FirstSections {
  readonly options: AppOptions;
  readonly base: BaseSection;
  readonly observation: ObservationSection;
}

/** Opens the section. It is closed late, so that operators can read the log and the status while other parts close. */
export function openObservation(
  { options, base: { gateway, forwardNow, lifecycle } }: Omit<FirstSections, 'observation'>,
  parts: Parts,
): ObservationSection {
  const { configuration, settings, secrets, version, now } = options;
  const pressed = new NearLimit(forwardNow);
  const metrics = createMetrics({ version, onPressure: (...noted) => pressed.note(...noted) });
  const log = createLog({
    level: gateway.logLevel,
    now,
    destination: options.logTo,
    worker: options.worker,
    onDropped: metrics.logLinesDropped,
  });
  parts.add({
    name: 'log',
    apply({ config }) {
      log.logger.level = config.gateway.logLevel;
    },
    close: log.flush,
  });
  const ids = createIds(now);
  const expect = (next: Configuration) =>
    metrics.expect(operationsServed(next), next.config.gateway.metrics.operationsMax);
  expect(configuration);
  parts.add({ name: 'metrics', apply: expect });
  const stopReporting = onFault((thrown) => {
    log.logger.error({ err: thrown }, 'an error outside a request: its exchange or connection was ended');
    metrics.fault();
  });
  parts.add({ name: 'faults', close: stopReporting });
  const warnOfDrop = createDropWarning(log, now);
  const stopCounting = onGarbledRedis((reason) => {
    metrics.redisConnectionDropped();
    warnOfDrop(reason);
  });
  parts.add({ name: 'dropped connections', close: stopCounting });
  const admin = openAdminListener({
    settings,
    secrets,
    log,
    version,
    worker: options.worker,
    askPrimary: options.askPrimary,
    isServing: () => lifecycle() === 'serving',
    isEnding: () => lifecycle() === 'ending' || lifecycle() === 'draining',
    onOutcome: metrics.alerts,
    now: forwardNow,
  });
  parts.add({ name: 'admin', close: admin.close });
  const tracing = openTracing({
    settings: gateway.tracing,
    readSecret: secrets.read,
    ids,
    log,
    version,
    onOutcome: metrics.spans,
  });
  parts.add({ name: 'tracing', close: () => tracing?.close() });
  const traceparentFor = tracing?.traceparentFor ?? createUntracedIds(ids);
  const traceWithin = tracing?.traceWithin ?? untracedWithin(ids);

  const onUnreadableForward = reportUnreadableForwards(log, metrics.forwardUnreadable);
  return { pressed, metrics, log, ids, admin, tracing, traceparentFor, traceWithin, onUnreadableForward };
}
