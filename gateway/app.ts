// The wiring: builds every stage from its slice of the configuration and hands them to the pipeline. Concerns that need each other's
// functions get them passed in here, so that every arrow between folders is in this file.

import { setTimeout as sleep } from 'node:timers/promises';
import type { DestinationStream } from 'pino';
import type { DigestOf } from './auth/api-key.ts';
import type { Assertions } from './auth/assertions/assertions.ts';
import { createAuthorize } from './auth/authorize.ts';
import type { KeyStore } from './auth/store/store.ts';
import type { Settings } from './config/load.ts';
import type { Secrets } from './config/secrets.ts';
import type { Configuration } from './configuration.ts';
import { createAnswerCheck } from './contract/answer.ts';
import { parseIdempotencyKey } from './contract/idempotency-key.ts';
import { createMatch } from './contract/match.ts';
import { createValidate } from './contract/validate.ts';
import { createAdmit } from './edge/admit.ts';
import { alwaysCarriedBy } from './edge/always.ts';
import { createCors } from './edge/cors.ts';
import { createIds } from './edge/ids.ts';
import { createAnswerOptions } from './edge/options.ts';
import { createRefuse } from './edge/refuse.ts';
import { createPublicServer, listen } from './edge/server.ts';
import { createShell } from './edge/shell.ts';
import type { GatewayError } from './errors.ts';
import type { Arrived, StageName, Trail } from './exchange.ts';
import { openIdentity } from './identity.ts';
import { createLimit } from './limits/limit.ts';
import { openCounterStore } from './limits/open-store.ts';
import { createThrottle } from './limits/throttle.ts';
import { createAdminServer } from './observe/admin.ts';
import { createLog, type Log } from './observe/log.ts';
import { createMetrics } from './observe/metrics.ts';
import { createStatus, type Lifecycle } from './observe/status.ts';
import { createTrail } from './observe/trail.ts';
import { createPipeline } from './pipeline.ts';
import { openAnswerStore } from './replay/open-store.ts';
import { createReplay } from './replay/replay.ts';
import { createForward } from './upstream/forward.ts';
import { liesOnSandbox, type SandboxProcess, startSandbox } from './upstream/sandbox.ts';
import { createTargets } from './upstream/targets.ts';

export interface AppOptions {
  readonly version: string;
  readonly settings: Settings;
  readonly configuration: Configuration;
  readonly secrets: Secrets;
  readonly store: KeyStore;
  readonly digestOf: DigestOf;
  now(): number;
  /** Where log lines go; standard output by default. */
  readonly logTo?: DestinationStream;
  /** Work to be done before anybody can connect: whoever finds the gateway ready finds it done. */
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
  readonly adminPort: number;
  readonly log: Log;
  /** Readiness off, requests in flight finished, everything closed. The key store stays the caller's. */
  stop(): Promise<void>;
}

/** Stages whose failures say something about the client's address rather than about one of its requests. */
const countedStages = new Set<StageName>(['admit', 'match', 'authenticate', 'authorize']);
const countedStatuses = new Set([401, 403, 404, 405]);

/** Builds the gateway and opens both listeners. */
export async function startApp(options: AppOptions): Promise<App> {
  const { settings, configuration, secrets, now } = options;
  const { gateway, upstreams, limits } = configuration.config;
  const log = createLog(gateway.logLevel, now, options.logTo);
  const ids = createIds(now);
  const alwaysCarried = alwaysCarriedBy(gateway.publicUrl);
  const operations = configuration.contracts.operations.map(({ operation }) => operation);
  let lifecycle: Lifecycle = 'serving';

  const identity = await openIdentity({
    gateway,
    secrets,
    store: options.store,
    digestOf: options.digestOf,
    log,
    now,
    onAssertionKeys: () => sandbox?.renewTrust(),
  });
  const { assertions } = identity;
  const onSandbox = Object.keys(upstreams).filter((name) => liesOnSandbox(upstreams[name]));
  const sandbox: SandboxProcess | undefined =
    onSandbox.length === 0
      ? undefined
      : await startSandbox({
          dataDirectory: settings.dataDirectory,
          jwks: assertions.jwks,
          issuer: gateway.publicUrl,
          audiences: onSandbox,
          cursorSecret: await secrets.cursorSecret(),
          onRestart: () => log.logger.warn('the sandbox ended; starting it again'),
        });
  const targets = createTargets(upstreams, (address) => sandbox?.originOf(address) ?? address);
  const counters = await openCounterStore({
    redisUrl: settings.redisUrl,
    whenStoreIsAway: () => limits.whenStoreIsAway,
    now,
    onChange: (state) =>
      log.logger[state.state === 'up' ? 'info' : 'error'](state, 'the store of the limits changed its state'),
  });
  const answers = await openAnswerStore({
    redisUrl: settings.redisUrl,
    dataDirectory: settings.dataDirectory,
    now,
    onChange: (state) =>
      log.logger[state.state === 'up' ? 'info' : 'error'](state, 'the store of idempotent answers changed its state'),
  });
  const timeoutMs = (upstream: string) => upstreams[upstream]?.timeoutMs ?? 0;
  const replays = createReplay({
    store: answers,
    keyOf: parseIdempotencyKey,
    timeoutMs,
    honoursKey: (upstream) => upstreams[upstream]?.honoursIdempotencyKey === true,
    ...gateway.idempotency,
    alwaysCarried,
  });

  const { match, allowedMethods } = createMatch(operations);
  const { throttle, countFailure } = createThrottle({
    ...limits.addresses,
    isKnownCaller: identity.isKnownCaller,
    now,
  });
  const admit = createAdmit({
    ...gateway.limits,
    trustedProxies: gateway.trustedProxies,
    isDraining: () => lifecycle === 'draining',
  });
  const pipeline = createPipeline({
    admit,
    throttle,
    match,
    authenticate: identity.authenticate,
    authorize: createAuthorize({
      operatorScopes: new Set(gateway.operatorScopes),
      hasTestTarget: targets.hasTestTarget,
      now,
    }),
    limit: createLimit({ store: counters, rules: limits, now }),
    validate: createValidate({ ...configuration.contracts, ...gateway.limits }),
    replay: replays.replay,
    forward: createForward({
      targets,
      alwaysCarried,
      answers: createAnswerCheck(configuration.contracts.operations, configuration.contracts.schemas, now),
      timeoutMs,
      assertionFor: assertions.assertionFor,
      traceId: ids.traceId,
      spanId: ids.spanId,
    }),
  });

  const metrics = createMetrics({
    version: options.version,
    activeRequests: () => publicServer.activeRequests(),
    keyStoreAway: () => (identity.keysStatus().store === 'failing' ? 1 : 0),
    limitStoreAway: () => (counters.status().state === 'away' ? 1 : 0),
  });
  const refuse = createRefuse({ publicUrl: gateway.publicUrl, alwaysCarried, onRefused });
  const shell = createShell({ alwaysCarried, admit, jwks: assertions.jwks, refuse: refuse.refuse });
  const answerOptions = createAnswerOptions({ admit, throttle, allowedMethods, alwaysCarried });
  const cors = createCors({
    hosts: gateway.cors,
    declaredRequestHeaders: operations.flatMap(({ requestHeaders }) => requestHeaders),
    declaredResponseHeaders: operations.flatMap(({ responseHeaders }) => [...responseHeaders]),
    alwaysCarried,
    admit,
  });
  const publicServer = createPublicServer({
    ...gateway.limits,
    ...gateway.timeouts,
    refuse,
    createTrail,
    requestId: ids.requestId,
    handle(arrived) {
      cors.allow(arrived);
      if (cors.isPreflight(arrived)) return cors.answerPreflight(arrived);
      if (shell.owns(arrived.request.url as string)) return shell.handle(arrived);
      return arrived.request.method === 'OPTIONS' ? answerOptions(arrived) : pipeline(arrived);
    },
    onFinished,
  });
  const status = createStatus({
    version: options.version,
    now,
    upstreams,
    operations: operations.length,
    keys: identity.keysStatus,
    issuers: identity.issuersStatus,
    limits: counters.status,
    idempotency: answers.status,
    lifecycle: () => lifecycle,
  });
  const adminServer = createAdminServer({
    host: settings.adminHost,
    token: secrets.read('admin_token'),
    metrics,
    readiness: status.readiness,
    status: status.status,
  });

  function onRefused({ trail }: Arrived, error: GatewayError): void {
    const failed = countedStatuses.has(error.refusal.status) && countedStages.has(trail.stage);
    if (failed && trail.clientAddress !== undefined) countFailure(trail.clientAddress);
  }

  function onFinished(trail: Trail): void {
    log.exchange(trail);
    metrics.exchange(trail);
  }

  await identity.ready();
  await options.prepare?.({ sandbox, assertionOf: assertions.assertionOf });
  const port = await listen(publicServer.server, settings.host, settings.port);
  const adminPort = await listen(adminServer, settings.adminHost, settings.adminPort);

  async function stop(): Promise<void> {
    lifecycle = 'ending';
    publicServer.announceEnd();
    if (gateway.timeouts.drainDelayMs > 0) await sleep(gateway.timeouts.drainDelayMs);
    lifecycle = 'draining';
    await publicServer.drain(gateway.timeouts.drainMs);
    await targets.close();
    await replays.close();
    await answers.close();
    await identity.close();
    await counters.close();
    sandbox?.close();
    adminServer.closeAllConnections();
    await new Promise((resolve) => adminServer.close(resolve));
    log.flush();
  }

  return { port, adminPort, log, stop };
}
