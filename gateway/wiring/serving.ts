// The pipeline of one configuration. Each new configuration gets its own; parts that outlive a configuration are passed in.

import { createAuthenticate } from '../auth/authenticate.ts';
import type { Configuration } from '../configuration.ts';
import { delimiterOfForm } from '../contract/forms/multipart.ts';
import { parseIdempotencyKey } from '../contract/idempotency-key.ts';
import { misdirected, type Site } from '../edge/admission/sites.ts';
import type { BeginInternal } from '../edge/exchanges.ts';
import { createAnswerChallenge, type OwnChallenge } from '../edge/own-answers/acme-challenge.ts';
import type { Refusals } from '../edge/refusal/refusals.ts';
import type { RequestHandlers } from '../edge/server.ts';
import type { Admitted, Forwardable } from '../exchange/exchange.ts';
import type { Operation } from '../exchange/operation.ts';
import { createLimit } from '../limits/limit.ts';
import type { Overload } from '../overload/overload.ts';
import { createNeedsNode, createPipeline, type OperationSteps, type Steps } from '../pipeline.ts';
import { createReplay, type Replay } from '../replay/replay.ts';
import { createAgentSteps } from '../serving/agents.ts';
import { createOpenStream } from '../serving/open-stream.ts';
import { createOwnAnswers } from '../serving/own-answers.ts';
import { createStatelessStages, type StatelessStages } from '../serving/stateless-stages.ts';
import { createUpgrades } from '../serving/upgrades.ts';
import type { Tunnel } from '../tunnel/table.ts';
import type { Tunnels } from '../tunnel/tunnels.ts';
import type { Deprecations } from '../versions/deprecation.ts';
import { createNoteUse } from '../versions/uses.ts';
import type { CallersSection, SectionsAboveCallers } from './sections/callers.ts';
import { createToUpstreams, type Executors } from './to-upstreams.ts';

/** The sections whose parts the stages use. They live from start to end of the process. */
export interface Sections extends SectionsAboveCallers {
  readonly callers: CallersSection;
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
export function createServing(configuration: Configuration, sections: Sections): Serving {
  const { options, base, counters, callers, traffic } = sections;
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
  const replays = replayOf(configuration, sections);
  const { streams, onSessionEnded } = callers;
  const admitAgain = async (exchange: Forwardable) => authorize(await authenticate(exchange)).caller;
  const openStream = createOpenStream({ streams, overload, onSessionEnded, admitAgain });
  const { tlsOf, forward, handshake, close } = createToUpstreams(configuration, sections, openStream);
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
    replay: replays.replay,
    forward,
  };
  const steps: Steps<ReadonlySet<Site>, Tunnel> = {
    ...operationSteps,
    ...stepsBesideStages(configuration, sections, stateless, operationSteps, tlsOf),
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
      await replays.settled();
    },
    async close() {
      await close();
      await replays.close();
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
  { options, upstreams, callers, traffic }: Sections,
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

function replayOf({ config }: Configuration, { options, callers, traffic }: Sections): Replay {
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
