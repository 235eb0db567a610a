// The pipeline of one configuration. Each new configuration gets its own; parts that outlive a configuration are passed in.

import type { Assertions } from '../auth/assertions/assertions.ts';
import type { Configuration } from '../configuration.ts';
import { createAnswerCheck } from '../contract/answer.ts';
import { delimiterOfForm } from '../contract/forms/multipart.ts';
import { parseIdempotencyKey } from '../contract/idempotency-key.ts';
import type { DownstreamRequest } from '../downstream.ts';
import { createAnswerChallenge, type OwnChallenge } from '../edge/acme-challenge.ts';
import { createCors } from '../edge/cors.ts';
import { createAnswerOptions } from '../edge/options.ts';
import { createOwnPaths } from '../edge/own-paths.ts';
import type { Refuse } from '../edge/refuse.ts';
import { addressOfSite, type Site } from '../edge/sites.ts';
import { GatewayError } from '../errors.ts';
import type { Admitted, Arrived, Fresh, Operation, Stages, StreamEnd, StreamKind, TrailNotes } from '../exchange.ts';
import type { TlsSettings } from '../http1/client/connect.ts';
import { createIdempotency } from '../idempotency/idempotency.ts';
import type { AnswerStore } from '../idempotency/store.ts';
import type { CounterStore } from '../limits/counter-store.ts';
import { createLimit } from '../limits/limit.ts';
import type { Throttle } from '../limits/throttle.ts';
import type { Overload } from '../overload/overload.ts';
import { createNeedsNode, createPipeline, type Steps } from '../pipeline.ts';
import { createPortal } from '../portal/portal.ts';
import { entryOfUpstream } from '../shared/upstream-names.ts';
import type { OpenStreams } from '../streams/open-streams.ts';
import type { Tunnel } from '../tunnel/table.ts';
import type { Tunnels } from '../tunnel/tunnels.ts';
import type { Accesses } from '../upstream/access.ts';
import { createForward } from '../upstream/forward.ts';
import { createHandshake } from '../upstream/handshake.ts';
import type { Pools } from '../upstream/pools.ts';
import type { RecordLocks } from '../upstream/requests/record-locks.ts';
import { createUpstreamRoutes, type UpstreamRoute } from '../upstream/routes.ts';
import { createUpstreamRules } from '../upstream/rules.ts';
import type { TargetSets } from '../upstream/target-set.ts';
import { createTargets } from '../upstream/targets.ts';
import type { Deprecations } from '../versions/deprecation.ts';
import { createNoteUse } from '../versions/uses.ts';
import { portalOptions } from './portal-options.ts';
import { createStatelessStages } from './stateless-stages.ts';
import { createUpgrades, type Upgrades } from './upgrades.ts';

/** Parts that live from start to end of the process. */
export interface Shared {
  readonly authenticate: Stages['authenticate'];
  readonly assertions: Pick<Assertions, 'jwks' | 'assertionFor'>;
  readonly access: Accesses;
  readonly counters: CounterStore;
  readonly answers: AnswerStore;
  readonly overload: Overload;
  readonly throttle: Throttle;
  readonly tunnels: Tunnels;
  readonly streams: OpenStreams;
  readonly pools: Pools;
  readonly targetSets: TargetSets;
  readonly recordLocks: RecordLocks;
  /** Upstream → TLS settings for one configuration. */
  tlsSettingsOf(configuration: Configuration): ReadonlyMap<string, TlsSettings>;
  traceparentFor(trail: TrailNotes): string;
  readonly refuse: Refuse;
  /** Configured address → current origin: the sandbox has its port from the system. */
  originOf(address: string): string;
  /** Notes that an organization has called a deprecated operation. */
  noteUse(organization: string, operation: string): void;
  isDraining(): boolean;
  readonly ownChallenge: OwnChallenge | undefined;
  /** Called when the X-Forwarded-For of a trusted proxy cannot be parsed. */
  onUnreadableForward(entry: string, proxy: string): void;
  now(): number;
  /** Monotonic, in milliseconds. */
  clock(): number;
}

export interface Serving extends Upgrades {
  readonly configuration: Configuration;
  readonly operations: readonly Operation[];
  /** Deprecated operations, and versions that have ended. */
  readonly deprecations: Deprecations;
  /** Whether a tunnel or the gateway itself answers the request, by libraries that need the classes of node:http. */
  needsNode(request: DownstreamRequest): boolean;
  /** Handles a request. Resolves when it has been answered, rejects with the error of a stage. */
  handle(arrived: Arrived): Promise<void>;
  /** Forwards a request of the plain listener; undefined: no tunnel there has its path. */
  passPlain(admitted: Admitted): Promise<void> | undefined;
  /** Called when no further request will come. Resolves when all requests have ended and every answer is stored. */
  retire(): Promise<void>;
  /** Called at shutdown: gives up answers that are not stored yet. */
  close(): Promise<void>;
}

/** Builds every stage from its part of the configuration. Requests under other configurations go on. */
export function createServing(configuration: Configuration, shared: Shared): Serving {
  const { assertions, now } = shared;
  const { config, contracts } = configuration;
  const { gateway, upstreams, limits } = config;
  const operations = contracts.operations.map(({ operation }) => operation);
  const tls = shared.tlsSettingsOf(configuration);
  const tlsOf = (upstream: string) => tls.get(upstream);
  const targets = createTargets({ ...shared, upstreams, tlsOf });
  const rules = createUpstreamRules(upstreams, shared.access);
  const routes = createUpstreamRoutes(upstreams, rules, shared.access, () => performance.now());
  const timeoutMs = (operation: Operation) => operation.timeoutMs ?? upstreams[operation.upstream]?.timeoutMs ?? 0;
  const idempotency = createIdempotency({
    store: shared.answers,
    keyOf: parseIdempotencyKey,
    delimiterOf: delimiterOfForm,
    timeoutMs,
    honoursKey: (upstream) => upstreams[upstream]?.honoursIdempotencyKey === true,
    runsUnknown: (upstream) => upstreams[upstream]?.whenOutcomeUnknown === 'run',
    ...gateway.idempotency,
    onUnprotected: shared.refuse.ignoreKey,
    now,
  });
  const { overload } = shared;
  const deciding = createStatelessStages(configuration, { ...shared, hold: overload.hold });
  const { admit, allowedMethods, deprecations } = deciding;
  const { throttle } = shared.throttle;
  const addressOf = addressOfSite(gateway.hosts, gateway.publicUrl);
  const portal = createPortal(
    portalOptions(configuration, {
      serverOf: (upstream) => addressOf(upstreams[upstream]?.hosts[0] ?? 'api'),
      isDeprecated: (operation) => deprecations.ofOperations.has(operation),
    }),
  );
  const ownPaths = createOwnPaths({
    admit,
    jwks: assertions.jwks,
    portal,
    isRootFree: operations.every(({ path }) => path !== '/'),
    refuse: shared.refuse.refuse,
  });
  const answerOptions = createAnswerOptions({ admit, throttle, allowedMethods });
  const cors = createCors({
    hosts: gateway.cors,
    declaredRequestHeaders: operations.flatMap(({ requestHeaders }) => requestHeaders),
    declaredResponseHeaders: operations.flatMap(({ responseHeaders }) => [...responseHeaders]),
    admit,
  });

  function openStream(fresh: Fresh, kind: StreamKind, end: (why: StreamEnd) => void): () => void {
    const { caller, clientAddress, operation } = fresh;
    async function admitAgain() {
      return deciding.authorize(await shared.authenticate(fresh)).caller;
    }
    const close = shared.streams.open({ kind, caller, clientAddress, operation, admitAgain, end });
    // It counts among the open streams instead.
    overload.ended(fresh.reservation);
    return close;
  }

  const routeTo = (upstream: string) => routes.get(upstream) as UpstreamRoute;
  // An assertion is for the entry as a whole.
  const assertionFor: typeof assertions.assertionFor = (caller, upstream) =>
    assertions.assertionFor(caller, entryOfUpstream(upstream));
  const { traceparentFor } = shared;
  const { track, empty } = createCount();
  const answerChallenge = createAnswerChallenge(shared.ownChallenge);
  const steps: Steps<ReadonlySet<Site>, Tunnel> = {
    ...deciding,
    async refuseMisdirected(arrived) {
      admit(arrived);
      throw new GatewayError('misdirected_request');
    },
    async passThrough(admitted, tunnel) {
      const answering = answerChallenge(admitted);
      if (answering === false || !(await answering))
        await shared.tunnels.handle(admitted, { tunnel, tls: tlsOf(tunnel.upstream) });
    },
    track,
    allowOrigin: cors.allow,
    isPreflight: cors.isPreflight,
    answerPreflight: cors.answerPreflight,
    isOwnPath: ({ request }, sites) => ownPaths.owns(request, sites.has('api')),
    answerOwnPath: ownPaths.handle,
    answerOptions,
    shed: overload.check,
    throttle,
    authenticate: shared.authenticate,
    noteUse: createNoteUse(deprecations, shared.noteUse),
    limit: createLimit({ store: shared.counters, rules: limits, now }),
    reserve: overload.enter,
    replay: idempotency.replay,
    forward: createForward({
      targets,
      locks: shared.recordLocks,
      contractCheck: createAnswerCheck(contracts.operations, contracts.schemas, now),
      routeTo,
      assertionFor,
      traceparentFor,
      openStream,
      refuseIfFull: ({ caller, clientAddress }) => shared.streams.refuseIfFull(caller, clientAddress),
    }),
  };
  const upgrades = createUpgrades({
    operations,
    steps,
    tunnels: shared.tunnels,
    tlsOf,
    handshake: createHandshake({ targets, routeTo, assertionFor, traceparentFor }),
    openStream,
  });
  return {
    configuration,
    operations,
    deprecations,
    needsNode: createNeedsNode(steps),
    handle: createPipeline(steps),
    ...upgrades,
    passPlain(admitted) {
      const sites = steps.sitesFor(admitted);
      const tunnel = sites && steps.tunnelAt(admitted, sites);
      if (tunnel?.rules.plain !== true) return undefined;
      steps.shed(admitted);
      return steps.passThrough(admitted, tunnel);
    },
    async retire() {
      await empty();
      await targets.close();
      await idempotency.settled();
    },
    async close() {
      await targets.close();
      await idempotency.close();
    },
  };
}

/** Counts the requests in flight, so that `retire` can await their end. */
function createCount() {
  let underWay = 0;
  let onEmpty: (() => void) | undefined;

  function leave(): void {
    underWay -= 1;
    if (underWay === 0) onEmpty?.();
  }

  return {
    track(work: Promise<void>): Promise<void> {
      underWay += 1;
      work.then(leave, leave);
      return work;
    },
    empty: () =>
      new Promise<void>((resolve) => {
        onEmpty = resolve;
        if (underWay === 0) resolve();
      }),
  };
}
