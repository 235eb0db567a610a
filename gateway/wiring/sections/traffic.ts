// The parts that take requests: listeners, tunnels, overload protection, and the pipeline of the configuration in force.

import { randomBytes } from 'node:crypto';
import { createService } from '../../administration/service/service.ts';
import { upstreamStates } from '../../administration/upstream-states.ts';
import type { Configuration } from '../../configuration.ts';
import { cutOff } from '../../edge/connections/linger.ts';
import { createInternalExchanges } from '../../edge/exchanges.ts';
import { createRefusals, type Refusals } from '../../edge/refusal/refusals.ts';
import { securityHeadersFor } from '../../edge/security-headers.ts';
import { createAddressLimits } from '../../limits/addresses/address-limit.ts';
import { reportUnreadableForwards } from '../../observe/rare-warnings.ts';
import type { Overload } from '../../overload/overload.ts';
import { extendLengthenedWindows, warnOfLostTiers } from '../../serving/changed-limits.ts';
import { instanceName } from '../../shared/questions/fleet.ts';
import { createFollowCaller } from '../../tunnel/follow-caller.ts';
import { Tunnels } from '../../tunnel/tunnels.ts';
import { toUpstreamFailure } from '../../upstream/failure.ts';
import { deprecationsOf } from '../../versions/deprecation.ts';
import { type ClientRequests, Listeners } from '../listeners.ts';
import { openOverload } from '../overload.ts';
import type { Parts } from '../parts.ts';
import { createServing, type Sections, type Serving } from '../serving.ts';
import type { Executors } from '../to-upstreams.ts';
import { operationsServed } from './base.ts';
import type { CallersSection, SectionsAboveCallers } from './callers.ts';
import type { CertificatesSection } from './certificates.ts';

export interface TrafficSection {
  readonly listeners: Listeners;
  /** Starts to listen. Resolves with the ports. */
  listen(): ReturnType<Listeners['listen']>;
  readonly tunnels: Tunnels;
  readonly overload: Overload;
  readonly serving: OpenServing;
}

interface OpenServing {
  /** The serving object of the configuration in force. Ask once per request: a request ends under the configuration it began with. */
  current(): Serving;
}

/** The sections above this one. */
export interface SectionsAboveTraffic extends SectionsAboveCallers {
  readonly callers: CallersSection;
  readonly certificates: CertificatesSection;
}

/** No request arrives before the listeners are told to listen. */
export function openTraffic(above: SectionsAboveTraffic, parts: Parts): TrafficSection {
  const { options, base, observation, counters, upstreams, callers, certificates } = above;
  const { configuration } = options;
  const { log, metrics } = observation;
  const constantHeaders = securityHeadersFor(base.gateway.publicUrl);
  const refusals = createRefusals({
    publicUrl: base.gateway.publicUrl,
    onRefused: callers.throttle.countRefusal,
  });
  const ownChallenge = certificates.ordered?.findToken;
  const onUnreadableForward = reportUnreadableForwards(log, metrics.forwardUnreadable);
  const listeners = new Listeners({
    settings: options.settings,
    tls: certificates.tls,
    isDraining: base.isDraining,
    ownChallenge,
    onUnreadableForward,
    constantHeaders,
    refusals,
    configuration: base.inForce,
    onExcess: metrics.connectionRefused,
    requestId: observation.ids.requestId,
  });
  parts.add({ name: 'listeners', drain: (drainMs) => listeners.drain(drainMs), close: () => listeners.close() });
  const tunnels = openTunnels(above, refusals, listeners, parts);
  const overload = openOverloadPart(above, listeners, tunnels, parts);

  const onFinished = finishing(above, overload);

  const beginInternal = createInternalExchanges({
    requestId: observation.ids.requestId,
    traceWithin: observation.traceWithin,
    onFinished,
  });
  const executors = executorsOf(above);
  const serving = openServing(
    configuration,
    {
      options,
      base,
      observation,
      counters,
      upstreams,
      callers,
      traffic: { refusals, overload, tunnels, beginInternal, executors, ownChallenge, onUnreadableForward },
    },
    parts,
  );

  return {
    listeners,
    // A request is handled under the configuration in force when it arrives.
    listen: () => listeners.listen({ current: serving.current, onFinished }),
    tunnels,
    overload,
    serving,
  };
}

/** Returns what is done at the end of each exchange, in this order. */
function finishing({ observation, callers }: SectionsAboveTraffic, overload: Overload): ClientRequests['onFinished'] {
  const { tracing, log, metrics } = observation;
  return function onFinished(trail) {
    overload.ended(trail);
    tracing?.finish(trail);
    log.exchange(trail);
    metrics.exchange(trail);
    callers.usage.count(trail);
  };
}

function openTunnels(
  { base, observation, counters, upstreams: { sandbox, targets }, callers }: SectionsAboveTraffic,
  refusals: Refusals,
  listeners: Listeners,
  parts: Parts,
): Tunnels {
  const addressLimitOf = createAddressLimits({ counters: counters.failures, now: base.forwardNow });
  const tunnels = new Tunnels({
    originOf: sandbox.originOf,
    addressLimitOf: ({ countedAs, rules }) => addressLimitOf(countedAs, rules.limits),
    isOut: (upstream, address) => targets.targetSets.isOut(upstream, address),
    isIsolated: (upstream) => targets.targetSets.isIsolated(upstream),
    onUnrequestedBytes: (upstream) => targets.targetSets.noteUnrequestedBytes(upstream),
    traceparentFor: observation.traceparentFor,
    toFailure: toUpstreamFailure,
    refuse: refusals.refuse,
    cutOff,
    onProxied: ({ request }) => listeners.exemptBody(request),
    followCaller: createFollowCaller((stream) => callers.tunnelStreams.open(stream), callers.identity.callerOfTunnel),
  });
  parts.add({ name: 'tunnels', drain: () => tunnels.drain(), close: () => tunnels.close() });
  return tunnels;
}

function openOverloadPart(
  { options, upstreams, callers: { streams, identity } }: SectionsAboveTraffic,
  listeners: Listeners,
  tunnels: Tunnels,
  parts: Parts,
): Overload {
  const overload = openOverload(options.configuration, {
    // Event streams and WebSockets have a bound of their own.
    inFlight: () => listeners.activeRequests() - tunnels.open() - streams.size(),
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

/** Serves under the configuration in force, and under earlier ones until their requests have ended. */
function openServing(first: Configuration, sections: Sections, parts: Parts): OpenServing {
  const { log } = sections.observation;
  let serving = createServing(first, sections);
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
      void warnOfLostTiers(limits, next.config.limits, sections.options.store, log);
    },
    status: () => ({ operations: serving.operations.length }),
    async close() {
      await Promise.all([...open].map((one) => one.close()));
    },
  });
  return { current: () => serving };
}

/** What executes the operations that the gateway answers itself. */
function executorsOf({
  options,
  base,
  observation,
  counters,
  upstreams,
  callers,
  certificates,
}: SectionsAboveTraffic): Executors {
  const { settings, store, digestOf, version, now } = options;
  const { inForce, inForceSinceMs } = base;
  const { access, targets } = upstreams;
  const { usage, versionUses, sessionServices } = callers;
  const administer = createService({
    store,
    digestOf,
    randomBytes,
    now,
    version,
    configuration: inForce,
    inForceSinceMs,
    limits: counters.limitUsage,
    usage,
    askFleet: observation.admin.askFleet,
    upstreams: () => upstreamStates(inForce().config.upstreams, targets.targetSets.status(), access.status()),
    certificates: certificates.status,
    deprecatedUses(organization) {
      const { gateway: rules } = inForce().config;
      const deprecations = deprecationsOf(operationsServed(inForce()), rules, rules.publicUrl);
      return versionUses.affected(deprecations, organization);
    },
    sessions: sessionServices?.operators,
    instance: instanceName(settings.port),
  });
  return { 'gateway:': administer, 'session:': sessionServices?.execute };
}
