// The wiring: opens what is there from start to end, and has everything that depends on the configuration built by serving.ts, anew for
// each configuration. Concerns that need each other's functions get them passed in by these two files. startApp reads from top to bottom:
// nothing is used above the line that makes it, in callbacks neither, because a callback may run while the next part is still being opened.

import { setImmediate as lookAround, setTimeout as sleep } from 'node:timers/promises';
import type { DestinationStream } from 'pino';
import type { DigestOf } from './auth/api-key.ts';
import { type Assertions, createAssertions } from './auth/assertions/assertions.ts';
import { createLiveInstances } from './auth/live-instances.ts';
import type { KeyStore } from './auth/store/store.ts';
import type { Settings } from './config/load.ts';
import type { Secrets } from './config/secrets.ts';
import type { Configuration } from './configuration.ts';
import { createPressed } from './console/pressed.ts';
import type { Sample } from './console/sample.ts';
import { alwaysCarriedBy } from './edge/always.ts';
import { createIds } from './edge/ids.ts';
import { cutOff } from './edge/linger.ts';
import { createRefuse } from './edge/refuse.ts';
import { newTicketKeys } from './edge/tls/secure.ts';
import type { Operation, StageName } from './exchange.ts';
import { onFault } from './faults.ts';
import { createDoors } from './limits/door.ts';
import { openFailureCounters } from './limits/failure-counter.ts';
import { openCounterStore } from './limits/open-store.ts';
import { createThrottle } from './limits/throttle.ts';
import type { Operators } from './observe/admin.ts';
import { createLog, type Log } from './observe/log.ts';
import { createMetrics } from './observe/metrics.ts';
import type { Lifecycle } from './observe/status.ts';
import { untraced } from './observe/tracing/tracing.ts';
import { createTrail } from './observe/trail.ts';
import type { OverloadRules } from './overload/overload.ts';
import type { LoopProbe } from './overload/probe.ts';
import { openAnswerStore } from './replay/open-store.ts';
import { createServing, type Serving } from './serving.ts';
import { createTunnels } from './tunnel/tunnels.ts';
import { toUpstreamFailure } from './upstream/failure.ts';
import type { SandboxProcess } from './upstream/sandbox.ts';
import { createForwardClock } from './wiring/clock.ts';
import { openIdentity } from './wiring/identity.ts';
import { createListeners, type Requests } from './wiring/listeners.ts';
import { warnOfLostTiers } from './wiring/lost-tiers.ts';
import { openOverload, openShedding } from './wiring/open-overload.ts';
import { openSandbox } from './wiring/open-sandbox.ts';
import { openTracing } from './wiring/open-tracing.ts';
import { openOperators } from './wiring/operators.ts';
import { followConfiguration } from './wiring/reload.ts';
import { reportUnreadableForwards } from './wiring/unreadable-forwards.ts';
import { openUpstreamAccess } from './wiring/upstream-access.ts';
import { openUpstreamTargets } from './wiring/upstream-targets.ts';
import { openUpstreamTls } from './wiring/upstream-tls.ts';
import { openVersionUses } from './wiring/version-uses.ts';

/** From the last connection that is accepted to the last byte of what was sent on it. */
const LAST_REQUESTS_MS = 200;

export interface AppOptions {
  readonly version: string;
  readonly settings: Settings;
  readonly configuration: Configuration;
  /** Loads and checks the configuration as its files are now; the same object if none has changed. Throws ConfigError. */
  reloadConfiguration(previous: Configuration): Promise<Configuration>;
  readonly secrets: Secrets;
  readonly store: KeyStore;
  readonly digestOf: DigestOf;
  now(): number;
  /** Where log lines go; standard output by default. */
  readonly logTo?: DestinationStream;
  /** How late the event loop is; measured by a timer of its own by default. */
  readonly probeLoop?: LoopProbe;
  /** Which of several workers this is: it has no listener for operators, who are answered by somebody else through `operators`. */
  readonly worker?: number | undefined;
  /** Under which sessions of TLS are given to clients; workers have the same, so that each resumes those of the others. */
  readonly ticketKeys?: Buffer | undefined;
  /** Work to be done once the gateway has its ports: whoever finds it ready finds it done. */
  readonly prepare?: (tools: Preparation) => Promise<void>;
}

export interface Preparation {
  /** Present when some upstream is the sandbox. */
  readonly sandbox: SandboxProcess | undefined;
  /** For work of the gateway itself on behalf of an organization. */
  readonly assertionOf: Assertions['assertionOf'];
}

export interface App {
  readonly port: number;
  /** Of the listener without TLS beside the public one; undefined: there is none. */
  readonly plainPort: number | undefined;
  /** 0: there is no such listener. */
  readonly adminPort: number;
  readonly operators: Operators<Sample>;
  readonly log: Log;
  /** Has the configuration read anew, which happens by itself when its files change. Never rejects. */
  reload(): Promise<void>;
  /**
   * Readiness off, requests in flight finished, everything closed. The key store stays the caller's.
   *
   * @param handOver others listen on the same port and go on: no more connections are taken here, from the beginning
   */
  stop(handOver?: boolean): Promise<void>;
}

/** Stages whose failures say something about the client's address rather than about one of its requests. */
const countedStages = new Set<StageName>(['admit', 'match', 'authenticate', 'authorize']);
const countedStatuses = new Set([401, 403, 404, 405]);

/** Builds the gateway and opens both listeners. */
export async function startApp(options: AppOptions): Promise<App> {
  const { settings, secrets, now } = options;
  // What counts within spans goes by this one; what was agreed with others goes by the time of day.
  const forwardNow = createForwardClock(now);
  let configuration = options.configuration;
  // What of this is used here stays as it is while the gateway runs.
  const { gateway } = configuration.config;
  let overloadRules = overloadRulesOf(configuration);
  const log = createLog(gateway.logLevel, now, options.logTo, options.worker);
  const ids = createIds(now);
  const alwaysCarried = alwaysCarriedBy(gateway.publicUrl);
  let lifecycle: Lifecycle = 'starting';
  const pressed = createPressed(forwardNow);
  const metrics = createMetrics({ version: options.version, onPressure: pressed.note });
  const stopReporting = onFault((thrown) => {
    log.logger.error({ err: thrown }, 'an error outside a request: its exchange or connection was ended');
    metrics.fault();
  });
  // Before anything is opened: it may object.
  const tracing = openTracing({ gateway, secrets, ids, log, version: options.version, onOutcome: metrics.spans });
  const traceparentFor = tracing?.traceparentFor ?? untraced(ids);

  const live = createLiveInstances(options.store.instances);
  const counters = await openCounterStore({
    redisUrl: settings.redisUrl,
    whenStoreIsAway: () => configuration.config.limits.whenStoreIsAway,
    instances: live.count,
    now: forwardNow,
    onBatch: metrics.limitBatch,
    onChange: (state) =>
      log.logger[state.state === 'up' ? 'info' : 'error'](state, 'the store of the limits changed its state'),
  });
  const shedding = openShedding(log, metrics);
  const access = await openUpstreamAccess({
    config: configuration.config,
    workers: settings.workers,
    secrets,
    log,
    now,
    onWaited: metrics.overload.queued,
    onShed: (upstream, why) => shedding.note(why, upstream),
    isShedding: shedding.isShedding,
  });
  const tls = openUpstreamTls(configuration, { secrets, log, now });
  const assertions = await createAssertions({ keys: await secrets.assertionKeys(), issuer: gateway.publicUrl, now });
  const sandbox = await openSandbox({
    settings,
    config: configuration.config,
    secrets,
    jwks: assertions.jwks,
    mailAdministrator: access.sandboxAdministrator,
    log,
  });
  const { originOf } = sandbox;
  const identity = openIdentity({
    gateway,
    secrets,
    store: options.store,
    digestOf: options.digestOf,
    assertions,
    matchesBasic: (upstream, user, password) => access.of(upstream)?.credential?.matches(user, password) === true,
    log,
    now,
    onAssertionKeys: () => sandbox.process?.renewTrust(),
    onChange({ kind }) {
      if (kind === 'limits.reset') counters.forgetRefusals();
    },
  });
  live.begin();
  const answers = await openAnswerStore({
    redisUrl: settings.redisUrl,
    dataDirectory: settings.dataDirectory,
    now,
    onChange: (state) =>
      log.logger[state.state === 'up' ? 'info' : 'error'](state, 'the store of idempotent answers changed its state'),
  });
  const failures = openFailureCounters(settings.redisUrl);
  const throttle = createThrottle({
    ...configuration.config.limits.addresses,
    counters: failures,
    isKnownCaller: identity.isKnownCaller,
    now: forwardNow,
  });
  const targets = openUpstreamTargets({ originOf, log, metrics, now });
  const refuse = createRefuse({
    publicUrl: gateway.publicUrl,
    alwaysCarried,
    onRefused({ trail }, error) {
      const failed = countedStatuses.has(error.refusal.status) && countedStages.has(trail.stage);
      if (failed && trail.clientAddress !== undefined) throttle.countFailure(trail.clientAddress);
    },
  });
  const isDraining = () => lifecycle === 'draining';
  const onUnreadableForward = reportUnreadableForwards(log, metrics.forwardUnreadable);
  const listeners = createListeners({
    settings,
    configuration: () => configuration,
    log,
    store: options.store,
    ticketKeys: options.ticketKeys ?? newTicketKeys(),
    isDraining,
    onUnreadableForward,
    now,
    onExcess: metrics.connectionRefused,
    onHandshakeFailure: metrics.handshakeFailed,
    onRenewal: metrics.renewal,
    refuse,
    createTrail,
    requestId: ids.requestId,
  });
  const { certificates } = listeners;
  const doorOf = createDoors({ counters: failures, now: forwardNow });
  const tunnels = createTunnels({
    alwaysCarried,
    originOf,
    doorOf: ({ name, rules }) => doorOf(name, rules.limits),
    isOut: targets.groups.isOut,
    traceparentFor,
    toFailure: toUpstreamFailure,
    refuse: refuse.refuse,
    cutOff,
    onPassing({ request, trail }, tunnel) {
      trail.tunnel = tunnel.name;
      listeners.letStream(request);
    },
  });
  const overload = openOverload({
    rules: () => overloadRules,
    // Event streams and WebSockets have a bound of their own.
    inFlight: () => listeners.activeRequests() - tunnels.open(),
    isKnownCaller: identity.isKnownCaller,
    shedding,
    probe: options.probeLoop,
  });
  const versionUses = openVersionUses({
    settings,
    store: options.store,
    log,
    publicUrl: () => gateway.publicUrl,
    now,
  });
  const shared = {
    identity,
    overload,
    access,
    counters,
    answers,
    throttle,
    tunnels,
    ...targets,
    tls,
    traceparentFor,
    refuse,
    alwaysCarried,
    originOf,
    noteUse: versionUses.note,
    isDraining,
    onUnreadableForward,
    now,
  };
  metrics.expect(operationsOf(configuration));
  let serving = createServing(configuration, shared);
  const living = new Set<Serving>([serving]);

  function useConfiguration(next: Configuration): void {
    const before = serving;
    const { gateway, limits, upstreams } = next.config;
    // What serves under the configuration before has its own already.
    access.use(upstreams, gateway.overload.organizationShare);
    metrics.expect(operationsOf(next));
    serving = createServing(next, shared);
    configuration = next;
    overloadRules = overloadRulesOf(next);
    throttle.useRules(limits.addresses);
    log.logger.level = gateway.logLevel;
    living.add(serving);
    void before.retire().then(() => living.delete(before));
    void warnOfLostTiers(before.configuration.config.limits, limits, options.store, log);
  }

  const reloads = followConfiguration({
    directories: [settings.configDirectory, settings.contractsDirectory],
    log,
    store: options.store,
    now,
    inForce: () => configuration,
    load: options.reloadConfiguration,
    objections: (next) => [...sandbox.objections(next.config), ...access.objections(next), ...tls.objections(next)],
    use: useConfiguration,
    onOutcome: metrics.reload,
  });
  const operators = openOperators({
    ...options,
    forwardNow,
    log,
    metrics,
    pressed,
    counters,
    answers,
    identity,
    access,
    targets,
    overload,
    certificates,
    versionUses,
    reload: reloads.status,
    configuration: () => configuration,
    serving: () => serving,
    lifecycle: () => lifecycle,
  });
  metrics.watch({
    activeRequests: listeners.activeRequests,
    keyStoreAway: () => (identity.keysStatus().store === 'failing' ? 1 : 0),
    limitStoreAway: () => (counters.status().state === 'away' ? 1 : 0),
    limitPolicyInForce: () => counters.status().policyInForce,
    tunnelStreams: tunnels.open,
    upstreamStates: access.status,
    targetStates: targets.groups.status,
    bufferedBytes: overload.bufferedBytes,
    configurationLoadedAtMs: reloads.loadedAtMs,
    certificates: certificates.status,
  });
  const requests: Requests = {
    // Asked once per request: what is in flight ends under the configuration it began with.
    handle: (arrived) => serving.handle(arrived),
    upgrades: (request) => serving.upgrades(request),
    upgrade: (arrived, socket, head) => serving.upgrade(arrived, socket, head),
    onFinished(trail) {
      overload.ended(trail);
      tracing?.finish(trail);
      log.exchange(trail);
      metrics.exchange(trail);
    },
  };

  /** If this fails, the instance is deregistered: otherwise `--wait` would wait for its confirmation. */
  async function begin() {
    try {
      const ports = { ...(await listeners.listen(requests)), adminPort: await operators.listen() };
      // Not before: what is prepared replaces what an earlier start has, which may be running where this one meant to listen.
      await options.prepare?.({ sandbox: sandbox.process, assertionOf: assertions.assertionOf });
      return ports;
    } catch (error) {
      await identity.close();
      throw error;
    }
  }

  await identity.ready();
  const { port, plainPort, adminPort } = await begin();
  lifecycle = 'serving';

  async function stop(handOver = false): Promise<void> {
    lifecycle = 'ending';
    reloads.stop();
    if (handOver) listeners.stopListening();
    listeners.announceEnd();
    const { drainDelayMs } = gateway.timeouts;
    if (drainDelayMs > 0) {
      await serveFor(drainDelayMs);
      // Not every balancer has noticed: whoever has connected just now has a request on its way, which nobody would send once more.
      listeners.stopListening();
      await serveFor(Math.min(drainDelayMs, LAST_REQUESTS_MS));
    }
    lifecycle = 'draining';
    tunnels.drain();
    await listeners.drain(gateway.timeouts.drainMs);
    tunnels.close();
    await Promise.all([...living].map((one) => one.close()));
    await answers.close();
    await versionUses.close();
    live.stop();
    await identity.close();
    overload.stop();
    await counters.close();
    failures.close();
    await tracing?.close();
    sandbox.process?.close();
    await operators.close();
    stopReporting();
    log.flush();
  }

  async function reload(): Promise<void> {
    certificates.reload();
    await reloads.reload();
  }

  return { port, plainPort, adminPort, operators: operators.answers, log, reload, stop };
}

/** An event loop that was busy comes to its timers first: whoever has connected meanwhile is taken in, and then read, before this is over. */
async function serveFor(ms: number): Promise<void> {
  await sleep(ms);
  await lookAround();
  await lookAround();
}

function overloadRulesOf({ config: { gateway } }: Configuration): OverloadRules {
  return { ...gateway.overload, bodyBytesMax: gateway.limits.bodyBytesMax };
}

function operationsOf({ contracts }: Configuration): Operation[] {
  return contracts.operations.map(({ operation }) => operation);
}
