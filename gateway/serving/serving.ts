// The pipeline of one configuration. Each new configuration gets its own; parts that outlive a configuration are passed in.

import type { Assertions } from '../auth/assertions/assertions.ts';
import { type CredentialReaders, createAuthenticate } from '../auth/authenticate.ts';
import type { KeyStore } from '../auth/store/key-store.ts';
import type { Configuration } from '../configuration.ts';
import { delimiterOfForm } from '../contract/forms/multipart.ts';
import { parseIdempotencyKey } from '../contract/idempotency-key.ts';
import { misdirected, type Site } from '../edge/admission/sites.ts';
import type { BeginInternal } from '../edge/exchanges.ts';
import { createAnswerChallenge, type OwnChallenge } from '../edge/own-answers/acme-challenge.ts';
import type { Refusals } from '../edge/refusal/refusals.ts';
import type { RequestHandlers } from '../edge/server.ts';
import type { Caller } from '../exchange/caller.ts';
import type { Admitted, Forwardable } from '../exchange/exchange.ts';
import type { Operation } from '../exchange/operation.ts';
import type { Throttle } from '../limits/addresses/throttle.ts';
import type { CounterStore } from '../limits/counters/counter-store.ts';
import { createLimit } from '../limits/limit.ts';
import type { Log } from '../observe/log.ts';
import type { TraceparentFor } from '../observe/tracing/tracing.ts';
import type { Overload } from '../overload/overload.ts';
import { createNeedsNode, createPipeline, type OperationSteps, type Steps } from '../pipeline.ts';
import { createReplay, type Replay } from '../replay/replay.ts';
import type { ReplayStore } from '../replay/replay-store.ts';
import type { OpenStreams } from '../streams/open-streams.ts';
import type { Tunnel } from '../tunnel/table.ts';
import type { Tunnels } from '../tunnel/tunnels.ts';
import type { Deprecations } from '../versions/deprecation.ts';
import { createNoteUse } from '../versions/uses.ts';
import type { VersionUses } from '../versions/version-uses.ts';
import { createAgentSteps } from './agents.ts';
import { createOpenStream } from './open-stream.ts';
import { createOwnAnswers } from './own-answers.ts';
import { createStatelessStages, type StatelessStages } from './stateless-stages.ts';
import { createToUpstreams, type Executors, type UpstreamParts } from './to-upstreams.ts';
import { createUpgrades } from './upgrades.ts';

/** The parts that know callers. wiring/sections/callers.ts opens them. */
export interface CallerParts {
  readonly identity: { readonly credentialReaders: CredentialReaders };
  readonly replayStore: ReplayStore;
  readonly throttle: Throttle;
  readonly streams: OpenStreams;
  readonly versionUses: Pick<VersionUses, 'note'>;
  /** Calls back when the session of a caller ends, on any instance, unless the returned function is called before. */
  onSessionEnded(caller: Caller, listener: () => void): () => void;
}

/** Parts that live from start to end of the process, by the section of wiring/ that opens them. */
export interface Shared {
  readonly options: { readonly store: Pick<KeyStore, 'organizations'>; now(): number };
  readonly base: { isDraining(): boolean };
  readonly observation: { readonly log: Log; readonly traceparentFor: TraceparentFor };
  readonly counters: { readonly requests: CounterStore };
  readonly upstreams: UpstreamParts & { readonly assertions: Pick<Assertions, 'jwks'> };
  readonly callers: CallerParts;
  readonly traffic: {
    readonly refusals: Refusals;
    readonly overload: Overload;
    readonly tunnels: Tunnels;
    /** Begins an exchange that no connection carries. */
    readonly beginInternal: BeginInternal;
    readonly executors: Executors;
    readonly ownChallenge: OwnChallenge | undefined;
    /** Called when the X-Forwarded-For of a trusted proxy cannot be parsed. */
    onUnreadableForward(entry: string, proxy: string): void;
  };
}

export interface Serving extends RequestHandlers {
  readonly configuration: Configuration;
  readonly operations: readonly Operation[];
  /** Deprecated operations, and versions that have ended. */
  readonly deprecations: Deprecations;
  /** Forwards a request of the plain listener; undefined if no tunnel there has its path. */
  passPlain(admitted: Admitted): Promise<void> | undefined;
  /** Called when no other request will come. Resolves when all requests have ended and every answer is stored. */
  retire(): Promise<void>;
  /** Called at shutdown: gives up answers that are not stored yet. */
  close(): Promise<void>;
}

/** Builds every stage from its part of the configuration. Requests under other configurations go on. */
export function createServing(configuration: Configuration, shared: Shared): Serving {
  const { options, base, counters, callers, traffic } = shared;
  const { overload, tunnels } = traffic;
  const { now } = options;
  const operations = configuration.contracts.operations.map(({ operation }) => operation);
  const stateless = createStatelessStages(configuration, {
    isDraining: base.isDraining,
    hold: overload.hold,
    now,
    onUnreadableForward: traffic.onUnreadableForward,
  });
  const { admit, match, sunset, authorize, validate, deprecations } = stateless;
  const authenticate = createAuthenticate(callers.identity.credentialReaders);
  const repetitions = openReplay(configuration, shared);
  const { streams, onSessionEnded } = callers;
  const admitAgain = async (exchange: Forwardable) => authorize(await authenticate(exchange)).caller;
  const openStream = createOpenStream({ streams, overload, onSessionEnded, admitAgain });
  const { tlsOf, forward, handshake, close } = createToUpstreams(configuration, shared, openStream);
  const { track, empty } = createCount();

  const operationSteps: OperationSteps = {
    admit,
    match,
    sunset,
    authorize,
    validate,
    shed: overload.shed,
    throttle: callers.throttle.throttle,
    authenticate,
    noteUse: createNoteUse(deprecations, callers.versionUses.note),
    limit: createLimit({ store: counters.requests, rules: configuration.config.limits, now }),
    reserve: overload.reserve,
    replay: repetitions.replay,
    forward,
  };
  const steps: Steps<ReadonlySet<Site>, Tunnel> = {
    ...operationSteps,
    ...stepsBesideStages(configuration, shared, stateless, operationSteps, tlsOf),
    track,
  };
  const { upgrades, upgrade } = createUpgrades({ operations, steps, tunnels, tlsOf, handshake, openStream });
  return {
    configuration,
    operations,
    deprecations,
    needsNode: createNeedsNode(steps),
    handle: createPipeline(steps),
    upgrades,
    upgrade,
    passPlain: createPassPlain(steps),
    async retire() {
      await empty();
      await close();
      await repetitions.settled();
    },
    async close() {
      await close();
      await repetitions.close();
    },
  };
}

function createPassPlain(steps: Steps<ReadonlySet<Site>, Tunnel>): Serving['passPlain'] {
  return function passPlain(admitted) {
    const sites = steps.sitesFor(admitted);
    const tunnel = sites && steps.tunnelAt(admitted, sites);
    if (tunnel?.rules.plain !== true) return undefined;
    steps.shed(admitted);
    return steps.passThrough(admitted, tunnel);
  };
}

/** Makes the steps for requests that need no operation: tunnels, preflights, own pages, OPTIONS, and messages of agents. */
function stepsBesideStages(
  configuration: Configuration,
  { options, upstreams, callers, traffic }: Shared,
  stateless: StatelessStages,
  operationSteps: OperationSteps,
  tlsOf: ReturnType<typeof createToUpstreams>['tlsOf'],
): Omit<Steps<ReadonlySet<Site>, Tunnel>, keyof OperationSteps | 'track'> {
  const { admit, sitesFor, tunnelAt } = stateless;
  const { refusals, overload, tunnels } = traffic;
  const answerChallenge = createAnswerChallenge(traffic.ownChallenge);
  const own = createOwnAnswers(configuration, {
    stages: stateless,
    throttle: callers.throttle.throttle,
    jwks: upstreams.assertions.jwks,
    refuse: refusals.refuse,
  });
  const agents = createAgentSteps(configuration, {
    stages: stateless,
    steps: operationSteps,
    trusts: own.trusts,
    begin: traffic.beginInternal,
    refuse: refusals.refuse,
    hold: overload.hold,
    now: options.now,
  });
  return {
    sitesFor,
    tunnelAt,
    allowOrigin: own.allowOrigin,
    isPreflight: own.isPreflight,
    answerPreflight: own.answerPreflight,
    isOwnPath: own.isOwnPath,
    answerOwnPath: own.answerOwnPath,
    answerOptions: own.answerOptions,
    isAgentsPath: agents.isAgentsPath,
    answerAgent: agents.answerAgent,
    async refuseMisdirected(arrived) {
      admit(arrived);
      throw misdirected(configuration.config.gateway);
    },
    async passThrough(admitted, tunnel) {
      const answering = answerChallenge(admitted);
      if (answering === false || !(await answering))
        await tunnels.handle(admitted, { tunnel, tls: tlsOf(tunnel.upstream) });
    },
  };
}

function openReplay({ config }: Configuration, { options, callers, traffic }: Shared): Replay {
  const { gateway, upstreams } = config;
  return createReplay({
    store: callers.replayStore,
    keyOf: parseIdempotencyKey,
    delimiterOf: delimiterOfForm,
    timeoutMs: (operation) => operation.timeoutMs ?? upstreams[operation.upstream]?.timeoutMs ?? 0,
    honoursKey: (upstream) => upstreams[upstream]?.honoursIdempotencyKey === true,
    runsUnknown: (upstream) => upstreams[upstream]?.whenOutcomeUnknown === 'run',
    ...gateway.idempotency,
    onUnprotected: traffic.refusals.ignoreKey,
    now: options.now,
  });
}

/** Counts the requests in flight, so that `retire` can await their end. */
function createCount() {
  let inProgress = 0;
  let onEmpty: (() => void) | undefined;

  function leave(): void {
    inProgress -= 1;
    if (inProgress === 0) onEmpty?.();
  }

  return {
    track(work: Promise<void>): Promise<void> {
      inProgress += 1;
      work.then(leave, leave);
      return work;
    },
    empty: () =>
      new Promise<void>((resolve) => {
        onEmpty = resolve;
        if (inProgress === 0) resolve();
      }),
  };
}
