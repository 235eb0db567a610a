// Opens the long-lived parts of the process from top to bottom and closes them in reverse. serving.ts builds the parts that depend on the
// configuration, once per configuration. A concern that needs a function of another concern gets it as an argument from these two files.
// No part is used above the line that creates it, not even in a callback: a callback may run while the next part is still opening.

import type { DestinationStream } from 'pino';
import type { DigestOf } from './auth/api-key.ts';
import { type Assertions, createAssertions } from './auth/assertions/assertions.ts';
import { createLiveInstances } from './auth/live-instances.ts';
import type { KeyStore } from './auth/store/store.ts';
import type { Settings } from './config/load.ts';
import type { Secrets } from './config/secrets.ts';
import { ConfigError } from './config-errors.ts';
import type { Configuration } from './configuration.ts';
import { createNearLimit } from './console/near-limit.ts';
import type { Sample } from './console/sample.ts';
import { createIds } from './edge/ids.ts';
import { cutOff } from './edge/linger.ts';
import { createRefuse } from './edge/refuse.ts';
import { securityHeadersFor } from './edge/security-headers.ts';
import { newTicketKeys } from './edge/tls/secure.ts';
import type { Operation } from './exchange.ts';
import { openAnswerStore } from './idempotency/open-store.ts';
import { createAddressLimits } from './limits/address-limit.ts';
import { openFailureCounters } from './limits/failure-counter.ts';
import { openCounterStore } from './limits/open-store.ts';
import { openStreamsMaxOf } from './limits/open-streams.ts';
import { createThrottle } from './limits/throttle.ts';
import type { Operators } from './observe/admin.ts';
import { createLog, type Log } from './observe/log.ts';
import { createMetrics } from './observe/metrics.ts';
import { type Lifecycle, upstreamStatus } from './observe/status.ts';
import { untraced } from './observe/tracing/tracing.ts';
import type { LoopProbe } from './overload/pressure.ts';
import { createParts, type Parts } from './parts.ts';
import { onFault } from './shared/faults.ts';
import { claimDirectory } from './shared/sqlite.ts';
import { createOpenStreams } from './streams/open-streams.ts';
import { createTunnels } from './tunnel/tunnels.ts';
import { toUpstreamFailure } from './upstream/failure.ts';
import type { SandboxProcess } from './upstream/sandbox.ts';
import { createForwardClock } from './wiring/clock.ts';
import { openIdentity } from './wiring/identity.ts';
import { createListeners, type Requests } from './wiring/listeners.ts';
import { logStoreState } from './wiring/log-store-state.ts';
import { checkSecrets } from './wiring/named-secrets.ts';
import { openExamples } from './wiring/open-examples.ts';
import { openOverload, openShedding } from './wiring/open-overload.ts';
import { openSandbox } from './wiring/open-sandbox.ts';
import { openServing } from './wiring/open-serving.ts';
import { openTracing } from './wiring/open-tracing.ts';
import { answersForOperators, openAdminListener } from './wiring/operators.ts';
import { followConfiguration } from './wiring/reload.ts';
import { shutDown } from './wiring/shutdown.ts';
import { reportUnreadableForwards } from './wiring/unreadable-forwards.ts';
import { openUpstreamAccess } from './wiring/upstream-access.ts';
import { openUpstreamTargets } from './wiring/upstream-targets.ts';
import { openUpstreamTls } from './wiring/upstream-tls.ts';
import { openVersionUses } from './wiring/version-uses.ts';

export interface AppOptions {
  readonly version: string;
  readonly settings: Settings;
  readonly configuration: Configuration;
  /** Loads and checks the current configuration files; resolves with the same object if no file has changed. Throws ConfigError. */
  reloadConfiguration(previous: Configuration): Promise<Configuration>;
  readonly secrets: Secrets;
  readonly store: KeyStore;
  readonly digestOf: DigestOf;
  now(): number;
  /** Destination of log lines; standard output by default. */
  readonly logTo?: DestinationStream | undefined;
  /** Measures the delay of the event loop; by default with a timer. */
  readonly probeLoop?: LoopProbe;
  /** Number of this worker. A worker opens no admin listener: the primary process answers operators, through `operators`. */
  readonly worker?: number | undefined;
  /** TLS session ticket keys. All workers share them, so that a client can resume its session at any worker. */
  readonly ticketKeys?: Buffer | undefined;
  /** Runs after the listeners are open and before readiness turns on. */
  readonly prepare?: (tools: Preparation) => Promise<void>;
}

export interface Preparation {
  /** Present if an upstream is the sandbox. */
  readonly sandbox: SandboxProcess | undefined;
  /** Signs assertions for requests that the gateway itself sends on behalf of an organization. */
  readonly assertionOf: Assertions['assertionOf'];
}

export interface App {
  readonly port: number;
  /** Port of the plaintext listener beside the TLS listener; undefined without one. */
  readonly plainPort: number | undefined;
  /** 0 without an admin listener. */
  readonly adminPort: number;
  readonly operators: Operators<Sample>;
  readonly log: Log;
  /** Reloads the configuration. A change of its files triggers a reload by itself. Never rejects. */
  reload(): Promise<void>;
  /**
   * Turns readiness off, finishes the requests in flight and closes every part. The caller closes the key store.
   *
   * @param handOver accept no more connections from the start, because other processes listen on the same port
   */
  stop(handOver?: boolean): Promise<void>;
}

/** Builds the gateway and opens its listeners. If a part cannot be opened, closes the others and rejects. */
export async function startApp(options: AppOptions): Promise<App> {
  const parts = createParts();
  try {
    return await openParts(options, parts);
  } catch (error) {
    await parts.close().catch(() => undefined);
    throw error;
  }
}

/** The parts in their order. Long, because it has one entry per part with the arguments of that part. */
async function openParts(options: AppOptions, parts: Parts): Promise<App> {
  const { settings, secrets, store, now } = options;
  // Windows use the monotonic clock, expiry times the wall clock.
  const forwardNow = createForwardClock(now);
  let configuration = options.configuration;
  const inForce = () => configuration;
  // A reload does not change these settings.
  const { gateway } = configuration.config;
  let lifecycle: Lifecycle = 'starting';
  const isDraining = () => lifecycle === 'draining';
  parts.add({
    name: 'configuration',
    use(next) {
      configuration = next;
    },
  });

  const secretsOf = (next: Configuration) => Object.values(checkSecrets(next, secrets.read)).flat();
  parts.add({ name: 'secrets', check: secretsOf });
  const mistakes = parts.check(configuration);
  if (mistakes.length > 0) throw new ConfigError(mistakes);

  // Without Redis, this process alone holds the counters: a second gateway on the same directory would admit every limit again.
  if (settings.redisUrl === undefined) parts.add({ name: 'claim', close: claimDirectory(settings.dataDirectory) });
  const pressed = createNearLimit(forwardNow);
  const metrics = createMetrics({ version: options.version, onPressure: pressed.note });
  const log = createLog({
    level: gateway.logLevel,
    now,
    destination: options.logTo,
    worker: options.worker,
    onDropped: metrics.logLinesDropped,
  });
  parts.add({
    name: 'log',
    use({ config }) {
      log.logger.level = config.gateway.logLevel;
    },
    close: log.flush,
  });
  const ids = createIds(now);
  metrics.expect(operationsOf(configuration));
  parts.add({ name: 'metrics', use: (next) => metrics.expect(operationsOf(next)) });
  const stopReporting = onFault((thrown) => {
    log.logger.error({ err: thrown }, 'an error outside a request: its exchange or connection was ended');
    metrics.fault();
  });
  parts.add({ name: 'faults', close: stopReporting });
  const admin = openAdminListener({ settings, secrets, log, worker: options.worker, now: forwardNow });
  parts.add({ name: 'admin', close: admin.close });
  const tracing = openTracing({ gateway, secrets, ids, log, version: options.version, onOutcome: metrics.spans });
  parts.add({ name: 'tracing', close: () => tracing?.close() });
  const traceparentFor = tracing?.traceparentFor ?? untraced(ids);

  const live = createLiveInstances(store.instances);
  parts.add({ name: 'live instances', close: live.stop });
  const counters = await openCounterStore({
    settings,
    whenStoreIsAway: () => inForce().config.limits.whenStoreIsAway,
    instances: live.count,
    now: forwardNow,
    onBatch: metrics.limitBatch,
    onChange: logStoreState(log, 'limits'),
  });
  parts.add({ name: 'limits', status: () => ({ limits: counters.status() }), close: counters.close });
  const failures = openFailureCounters(settings.redisUrl);
  parts.add({ name: 'failures', close: failures.close });

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
  parts.add({
    name: 'upstream access',
    check: access.objections,
    use: ({ config }) => access.use(config.upstreams, config.gateway.overload.organizationShare),
  });
  const tls = openUpstreamTls({ secrets, log, now });
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
  parts.add({
    name: 'sandbox',
    check: ({ config }) => sandbox.objections(config),
    close: () => sandbox.process?.close(),
  });
  const examples = await openExamples(configuration, log);
  parts.add({ name: 'examples', use: examples.use });
  const targets = openUpstreamTargets({ originOf, answerFor: examples.answerFor, log, metrics, now });
  parts.add({
    name: 'upstreams',
    status: () => ({
      upstreams: upstreamStatus(
        inForce().config.upstreams,
        examples.status(),
        targets.targetSets.status(),
        access.status(),
      ),
    }),
  });

  const streams = createOpenStreams({
    mostOf: (caller) => openStreamsMaxOf(inForce().config.limits, caller),
    now,
  });
  parts.add({
    name: 'streams',
    use: (next) => streams.use(operationsOf(next)),
    status: streams.status,
    drain: streams.drain,
    close: streams.close,
  });
  const identity = openIdentity({
    gateway,
    secrets,
    store,
    digestOf: options.digestOf,
    assertions,
    matchesBasic: (upstream, user, password) => access.of(upstream)?.credential?.matches(user, password) === true,
    log,
    now,
    onAssertionKeys: () => sandbox.process?.renewTrust(),
    onChange({ kind, key, organization }) {
      if (kind === 'limits.reset') counters.clearRefusals();
      else if (kind !== 'configuration.changed') streams.identityChanged({ key, organization });
    },
    onReplaced: () => streams.identityChanged({}),
  });
  parts.add({
    name: 'identity',
    status: () => ({ keys: identity.keysStatus(), issuers: identity.issuersStatus() }),
    close: identity.close,
  });
  live.begin();
  const answers = await openAnswerStore({
    redisUrl: settings.redisUrl,
    dataDirectory: settings.dataDirectory,
    now,
    onChange: logStoreState(log, 'idempotent answers'),
  });
  parts.add({ name: 'idempotency', status: () => ({ idempotency: answers.status() }), close: answers.close });
  const versionUses = openVersionUses({ settings, store, log, publicUrl: () => gateway.publicUrl, now });
  parts.add({
    name: 'version uses',
    status: () => ({ deprecated_uses: versionUses.status() }),
    close: versionUses.close,
  });

  const throttle = createThrottle({
    ...configuration.config.limits.addresses,
    counters: failures,
    isKnownCaller: identity.isKnownCaller,
    now: forwardNow,
  });
  parts.add({ name: 'throttle', use: ({ config }) => throttle.useRules(config.limits.addresses) });
  const constantHeaders = securityHeadersFor(gateway.publicUrl);
  const refuse = createRefuse({
    publicUrl: gateway.publicUrl,
    constantHeaders,
    onRefused({ clientAddress }, error) {
      if (clientAddress !== undefined) throttle.countRefusal(clientAddress, error);
    },
  });
  const onUnreadableForward = reportUnreadableForwards(log, metrics.forwardUnreadable);
  const listeners = createListeners({
    settings,
    configuration: inForce,
    log,
    store,
    ticketKeys: options.ticketKeys ?? newTicketKeys(),
    isDraining,
    onUnreadableForward,
    now,
    onExcess: metrics.connectionRefused,
    onHandshakeFailure: metrics.handshakeFailed,
    onRenewal: metrics.renewal,
    constantHeaders,
    refuse,
    requestId: ids.requestId,
  });
  const { certificates } = listeners;
  parts.add({
    name: 'listeners',
    status: () => ({ certificates: certificates.status() }),
    drain: listeners.drain,
    close: listeners.close,
  });
  const addressLimitOf = createAddressLimits({ counters: failures, now: forwardNow });
  const tunnels = createTunnels({
    originOf,
    addressLimitOf: ({ name, rules }) => addressLimitOf(name, rules.limits),
    isOut: targets.targetSets.isOut,
    traceparentFor,
    toFailure: toUpstreamFailure,
    refuse: refuse.refuse,
    cutOff,
    onProxied: ({ request }) => listeners.letStream(request),
  });
  parts.add({ name: 'tunnels', drain: tunnels.drain, close: tunnels.close });
  const overload = openOverload(configuration, {
    // Event streams and WebSockets have a bound of their own.
    inFlight: () => listeners.activeRequests() - tunnels.open() - streams.size(),
    isKnownCaller: identity.isKnownCaller,
    shedding,
    probe: options.probeLoop,
  });
  parts.add({
    name: 'overload',
    use: overload.use,
    status: () => ({ overload: overload.status() }),
    close: overload.stop,
  });

  const serving = openServing(
    configuration,
    {
      identity,
      overload,
      access,
      counters,
      answers,
      throttle,
      tunnels,
      streams,
      ...targets,
      tls,
      traceparentFor,
      refuse,
      originOf,
      noteUse: versionUses.note,
      isDraining,
      onUnreadableForward,
      now,
    },
    { store, log },
  );
  parts.add({
    name: 'serving',
    use: serving.use,
    status: () => ({ operations: serving.current().operations.length }),
    close: serving.close,
  });
  const reloads = followConfiguration({
    directories: [settings.configDirectory, settings.contractsDirectory],
    log,
    store,
    now,
    inForce,
    load: options.reloadConfiguration,
    objections: parts.check,
    use: parts.use,
    onOutcome: metrics.reload,
  });
  parts.add({ name: 'reload', status: () => ({ configuration: reloads.status() }), close: reloads.stop });

  metrics.watch({
    activeRequests: listeners.activeRequests,
    keyStoreAway: () => (identity.keysStatus().store === 'failing' ? 1 : 0),
    limitStoreAway: () => (counters.status().state === 'away' ? 1 : 0),
    limitPolicyInForce: () => counters.status().policyInForce,
    tunnelStreams: tunnels.open,
    openStreams: streams.counts,
    upstreamStates: access.status,
    targetStates: targets.targetSets.status,
    bufferedBytes: overload.bufferedBytes,
    configurationLoadedAtMs: reloads.loadedAtMs,
    certificates: certificates.status,
  });
  const operators = answersForOperators({
    version: options.version,
    lifecycle: () => lifecycle,
    keys: identity.keysStatus,
    limits: counters.status,
    parts: parts.status,
    now,
    store,
    log,
    metrics,
    pressed,
    counters,
    versionUses,
    serving: serving.current,
  });
  const requests: Requests = {
    handle: (arrived) => serving.current().handle(arrived),
    upgrades: (request) => serving.current().upgrades(request),
    upgrade: (arrived, socket, head) => serving.current().upgrade(arrived, socket, head),
    onFinished(trail) {
      overload.ended(trail);
      tracing?.finish(trail);
      log.exchange(trail);
      metrics.exchange(trail);
    },
  };

  await identity.ready();
  const { port, plainPort } = await listeners.listen(requests);
  const adminPort = await admin.listen(operators);
  // After the listeners: the preparation replaces the demo key of an earlier start, and if the port is taken, that gateway still runs.
  await options.prepare?.({ sandbox: sandbox.process, assertionOf: assertions.assertionOf });
  lifecycle = 'serving';

  const stop = (handOver = false) =>
    shutDown(
      {
        parts,
        listeners,
        timeouts: gateway.timeouts,
        endStreams: () => streams.drain(gateway.timeouts.drainMs),
        stopReloads: reloads.stop,
        onLifecycle(next) {
          lifecycle = next;
        },
      },
      handOver,
    );

  async function reload(): Promise<void> {
    certificates.reload();
    await reloads.reload();
  }

  return { port, plainPort, adminPort, operators, log, reload, stop };
}

function operationsOf({ contracts }: Configuration): Operation[] {
  return contracts.operations.map(({ operation }) => operation);
}
