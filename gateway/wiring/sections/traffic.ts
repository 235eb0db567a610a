// The parts that take requests: listeners, tunnels, overload protection, and the pipeline of the configuration in force.

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { createService } from '../../administration/service/service.ts';
import { upstreamStates } from '../../administration/upstream-states.ts';
import { createInternalExchanges } from '../../edge/internal-exchanges.ts';
import { cutOff } from '../../edge/linger.ts';
import { createRefuse } from '../../edge/refuse.ts';
import { securityHeadersFor } from '../../edge/security-headers.ts';
import { createAddressLimits } from '../../limits/address-limit.ts';
import { reportUnreadableForwards } from '../../observe/rare-warnings.ts';
import type { Parts } from '../../parts.ts';
import { openServing } from '../../serving/in-force.ts';
import { createFollowCaller } from '../../tunnel/follow-caller.ts';
import { createTunnels } from '../../tunnel/tunnels.ts';
import { toUpstreamFailure } from '../../upstream/failure.ts';
import { deprecationsOf } from '../../versions/deprecation.ts';
import { type ClientRequests, createListeners } from '../listeners.ts';
import { openOverload } from '../overload.ts';
import { type BaseSection, operationsServed } from './base.ts';
import type { CallersSection } from './callers.ts';
import type { CertificatesSection } from './certificates.ts';
import type { CountersSection } from './counters.ts';
import type { ObservationSection } from './observation.ts';
import type { UpstreamsSection } from './upstreams.ts';

export type TrafficSection = ReturnType<typeof openTraffic>;

/** No request arrives before the listeners are told to listen. */
export function openTraffic(
  opened: BaseSection & ObservationSection & CountersSection & UpstreamsSection & CallersSection & CertificatesSection,
  parts: Parts,
) {
  const { configuration, settings, store, gateway, inForce, isDraining, forwardNow } = opened;
  const { log, metrics, ids, tracing, traceparentFor, failures, shedding, originOf, targets } = opened;
  const { streams, tunnelStreams, identity, versionUses, usage, throttle, ordered, tls } = opened;
  const constantHeaders = securityHeadersFor(gateway.publicUrl);
  const refuse = createRefuse({
    publicUrl: gateway.publicUrl,
    constantHeaders,
    onRefused: throttle.countRefusal,
  });
  const ownChallenge = ordered?.findToken;
  const onUnreadableForward = reportUnreadableForwards(log, metrics.forwardUnreadable);
  const listeners = createListeners({
    settings,
    tls,
    isDraining,
    ownChallenge,
    onUnreadableForward,
    constantHeaders,
    refuse,
    configuration: inForce,
    onExcess: metrics.connectionRefused,
    requestId: ids.requestId,
  });
  parts.add({ name: 'listeners', drain: listeners.drain, close: listeners.close });
  const addressLimitOf = createAddressLimits({ counters: failures, now: forwardNow });
  const tunnels = createTunnels({
    originOf,
    addressLimitOf: ({ countedAs, rules }) => addressLimitOf(countedAs, rules.limits),
    isOut: targets.targetSets.isOut,
    isIsolated: targets.targetSets.isIsolated,
    onUnasked: targets.targetSets.noteUnasked,
    traceparentFor,
    toFailure: toUpstreamFailure,
    refuse: refuse.refuse,
    cutOff,
    onProxied: ({ request }) => listeners.letStream(request),
    followCaller: createFollowCaller(tunnelStreams.open, identity.callerOfTunnel),
  });
  parts.add({ name: 'tunnels', drain: tunnels.drain, close: tunnels.close });
  const overload = openOverload(configuration, {
    // Event streams and WebSockets have a bound of their own.
    inFlight: () => listeners.activeRequests() - tunnels.open() - streams.size(),
    isKnownCaller: identity.isKnownCaller,
    shedding,
    probe: opened.probeLoop,
  });
  parts.add({
    name: 'overload',
    use: overload.use,
    status: () => ({ overload: overload.status() }),
    close: overload.stop,
  });

  const administer = createService({
    store,
    digestOf: opened.digestOf,
    randomBytes,
    now: opened.now,
    version: opened.version,
    configuration: inForce,
    inForceSinceMs: opened.inForceSinceMs,
    limits: opened.limitUsage,
    usage,
    askFleet: opened.admin.askFleet,
    upstreams: () => upstreamStates(inForce().config.upstreams, targets.targetSets.status(), opened.access.status()),
    certificates: opened.certificatesStatus,
    deprecatedUses(organization) {
      const { gateway: rules } = inForce().config;
      const deprecations = deprecationsOf(operationsServed(inForce()), rules, rules.publicUrl);
      return versionUses.affected(deprecations, organization);
    },
    sessions: opened.sessionServices?.operators,
    instance: `${hostname()}:${settings.port}`,
  });
  const onFinished: ClientRequests['onFinished'] = (trail) => {
    overload.ended(trail);
    tracing?.finish(trail);
    log.exchange(trail);
    metrics.exchange(trail);
    usage.count(trail);
  };

  const beginInternal = createInternalExchanges({
    requestId: ids.requestId,
    traceWithin: opened.traceWithin,
    onFinished,
  });
  const serving = openServing(
    configuration,
    {
      // Of the sections above; `opened` has them by the same names.
      access: opened.access,
      answerStore: opened.answerStore,
      assertions: opened.assertions,
      authenticate: identity.authenticate,
      clock: targets.clock,
      counters: opened.counters,
      isDraining,
      noteUse: versionUses.note,
      now: opened.now,
      onSessionEnded: opened.onSessionEnded,
      originOf,
      pools: targets.pools,
      recordLocks: opened.recordLocks,
      streams,
      targetSets: targets.targetSets,
      throttle,
      tlsSettingsOf: opened.tlsSettingsOf,
      traceparentFor,
      // Of this section.
      beginInternal,
      executors: { 'gateway:': administer, 'session:': opened.sessionServices?.execute },
      onUnreadableForward,
      overload,
      ownChallenge,
      refuse,
      tunnels,
    },
    { store, log },
  );
  parts.add({
    name: 'serving',
    use: serving.use,
    status: () => ({ operations: serving.current().operations.length }),
    close: serving.close,
  });

  const requests: ClientRequests = {
    // A request is handled under the configuration in force when it arrives.
    current: serving.current,
    onFinished,
  };
  return { listeners, requests, tunnels, overload, serving };
}
