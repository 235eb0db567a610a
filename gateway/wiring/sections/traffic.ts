// The parts that take requests: listeners, tunnels, overload protection, and the pipeline of the configuration in force.

import type { Configuration } from '../../configuration.ts';
import { createInternalExchanges } from '../../edge/internal-exchanges.ts';
import { createRefusals, type Refusals } from '../../edge/refusal/refusals.ts';
import { securityHeadersFor } from '../../edge/security-headers.ts';
import { createAddressLimits } from '../../limits/addresses/address-limit.ts';
import type { Overload } from '../../overload/overload.ts';
import { extendLengthenedWindows } from '../../serving/changed-limits.ts';
import { openMissingTiers } from '../../serving/missing-tiers.ts';
import { createFollowCaller } from '../../tunnel/follow-caller.ts';
import { tunnelsOf } from '../../tunnel/table.ts';
import { Tunnels } from '../../tunnel/tunnels.ts';
import { createExecutors } from '../executors.ts';
import { Listeners, type ListenOptions, type Ports } from '../listeners.ts';
import { openOverload } from '../overload.ts';
import type { Parts } from '../parts.ts';
import type { Sections } from '../sections.ts';
import { createServing, type Serving } from '../serving.ts';

export interface TrafficSection {
  readonly listeners: Listeners;
  /** Starts to listen. Resolves with the ports. */
  listen(): Promise<Ports>;
  readonly tunnels: Tunnels;
  readonly overload: Overload;
  /**
   * The serving object of the configuration in force. Call it once per request, because a request has to end under the configuration under
   * which it began.
   */
  servingInForce(): Serving;
}

type EarlierSections = Omit<Sections, 'traffic'>;

/** Opens the parts. No request arrives before `listen` is called. */
export function openTraffic(above: EarlierSections, parts: Parts): TrafficSection {
  const { options, base, observation, stores, certificates } = above;
  const constantHeaders = securityHeadersFor(base.gateway.publicUrl);
  const refusals = createRefusals({
    publicUrl: base.gateway.publicUrl,
    countRefusal: stores.throttle.countRefusal,
  });
  const listeners = new Listeners({
    settings: options.settings,
    tls: certificates.tls,
    isDraining: base.isDraining,
    ownChallenge: certificates.ordered?.findKeyAuthorization,
    onUnreadableForward: observation.onUnreadableForward,
    constantHeaders,
    refusals,
    configuration: base.inForce,
    onExcess: observation.metrics.connectionRefused,
    requestId: observation.ids.requestId,
  });
  parts.add({ name: 'listeners', drain: (drainMs) => listeners.drain(drainMs), close: () => listeners.drain(0) });
  const tunnels = openTunnels(above, refusals, parts);
  const overload = openOverloadPart(above, listeners, tunnels, parts);

  const recordExchange = createRecordExchange(above, overload);
  const beginInternal = createInternalExchanges({
    requestId: observation.ids.requestId,
    traceWithin: observation.traceWithin,
    recordExchange,
  });
  const executors = createExecutors(above);
  const servingInForce = openServing(
    { ...above, traffic: { refusals, overload, tunnels, beginInternal, executors } },
    parts,
  );
  const listen = () => listeners.listen({ servingInForce, recordExchange });
  return { listeners, listen, tunnels, overload, servingInForce };
}

/** Returns the function that is called once at the end of each exchange. */
function createRecordExchange(
  { observation, stores }: EarlierSections,
  overload: Overload,
): ListenOptions['recordExchange'] {
  const { tracing, log, metrics } = observation;
  return function recordExchange(trail) {
    overload.noteEnd(trail);
    // `finish` runs before the log, because it sets the trace id that the log line contains.
    tracing?.finish(trail);
    log.logExchange(trail);
    metrics.countExchange(trail);
    stores.usage.count(trail);
  };
}

function openTunnels(
  { options, base, observation, counters, upstreams: { sandbox, targets }, callers }: EarlierSections,
  refusals: Refusals,
  parts: Parts,
): Tunnels {
  const limits = createAddressLimits({ counters: counters.failures, now: base.forwardNow });
  const apply = ({ config }: Configuration) =>
    limits.apply(tunnelsOf(config.upstreams).map(({ countedAs, rules }) => [countedAs, rules.limits]));
  apply(options.configuration);
  const tunnels = new Tunnels({
    originOf: sandbox.originOf,
    addressLimitOf: ({ countedAs }) => limits.limitOf(countedAs),
    isOut: (upstream, address) => targets.targetSets.isOut(upstream, address),
    isIsolated: (upstream) => targets.targetSets.isIsolated(upstream),
    onUnrequestedBytes: (upstream) => targets.targetSets.noteUnrequestedBytes(upstream),
    traceparentFor: observation.traceparentFor,
    refuse: refusals.refuse,
    followCaller: createFollowCaller((stream) => callers.tunnelStreams.open(stream), callers.identity.callerOfTunnel),
  });
  parts.add({ name: 'tunnels', apply, drain: () => tunnels.drain(), close: () => tunnels.close() });
  return tunnels;
}

function openOverloadPart(
  { options, upstreams, callers: { streams, identity } }: EarlierSections,
  listeners: Listeners,
  tunnels: Tunnels,
  parts: Parts,
): Overload {
  const overload = openOverload(options.configuration, {
    // Tunnels and open streams are left out, because another bound applies to them.
    requestsInProgress: () => listeners.requestsInProgress() - tunnels.open() - streams.size(),
    isKnownCaller: identity.isKnownCaller,
    shedding: upstreams.shedding,
    probe: options.probeLoop,
  });
  parts.add({
    name: 'overload',
    apply: overload.apply,
    status: () => ({ overload: overload.status() }),
    close: overload.stop,
  });
  return overload;
}

/**
 * Serves under the configuration in force, and under earlier configurations until their requests have ended. Returns `servingInForce` of
 * `TrafficSection`.
 */
function openServing(sections: Sections, parts: Parts): TrafficSection['servingInForce'] {
  const { log } = sections.observation;
  const { configuration, store } = sections.options;
  let serving = createServing(configuration, sections);
  const missingTiers = openMissingTiers(configuration.config.limits, store, log);
  const open = new Set([serving]);
  parts.add({
    name: 'serving',
    apply(next) {
      const before = serving;
      serving = createServing(next, sections);
      open.add(serving);
      void before.retire().then(() => open.delete(before));
      const { limits } = before.configuration.config;
      void extendLengthenedWindows(limits, next.config.limits, sections.counters.requests, log);
      missingTiers.apply(next.config.limits);
    },
    status: () => ({ operations: serving.operations.length, missing_tiers: missingTiers.status() }),
    async close() {
      missingTiers.close();
      await Promise.all([...open].map((one) => one.close()));
    },
  });

  return () => serving;
}
