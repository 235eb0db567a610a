// Builds the pipeline of one configuration. Each new configuration gets its own pipeline. Parts that outlive a configuration are arguments.

import type { Configuration } from '../configuration.ts';
import { misdirectedError } from '../edge/admission/sites.ts';
import { createAnswerChallenge } from '../edge/own-answers/acme-challenge.ts';
import type { RequestHandlers } from '../edge/server.ts';
import type { Admitted } from '../exchange/exchange.ts';
import type { Operation } from '../exchange/operation.ts';
import { createNeedsNode, createPipeline, type OperationSteps, type Steps } from '../pipeline.ts';
import { createReplay, type Replay } from '../replay/replay.ts';
import { createAgentSteps } from '../serving/agents.ts';
import { type Checking, createCheckingSteps } from '../serving/checking-steps.ts';
import { createOpenStream } from '../serving/open-stream.ts';
import { createOwnAnswers } from '../serving/own-answers.ts';
import { createUpgrades } from '../serving/upgrades.ts';
import type { Deprecations } from '../versions/deprecation.ts';
import type { Sections } from './sections.ts';
import { createToUpstreams, type TlsOf } from './to-upstreams.ts';

export interface Serving extends RequestHandlers {
  readonly configuration: Configuration;
  readonly operations: readonly Operation[];
  /** Deprecated operations, and versions that have ended. */
  readonly deprecations: Deprecations;
  /** Forwards a request of the plain listener; undefined if no tunnel there has its path. */
  passPlain(admitted: Admitted): Promise<void> | undefined;
  /**
   * Called when no more requests will come under this configuration. Resolves when all its requests have ended and every answer is stored.
   */
  retire(): Promise<void>;
  /** Gives up answers that are not stored yet. Called at shutdown. */
  close(): Promise<void>;
}

/**
 * Builds every step from its part of the configuration. Requests under other configurations continue. serving/checking-steps.ts makes the
 * steps before `replay`, and takes their parts from the sections.
 */
export function createServing(configuration: Configuration, sections: Sections): Serving {
  const { callers, traffic } = sections;
  const { tunnels, overload } = traffic;
  const operations = configuration.contracts.operations.map(({ operation }) => operation);
  const checking = createCheckingSteps(configuration, sections);
  const { authenticate, authorize } = checking.steps;
  const replays = replayOf(configuration, sections);
  const openStream = createOpenStream({
    streams: callers.streams,
    overload,
    onSessionEnded: callers.onSessionEnded,
    admitAgain: async (exchange) => authorize(await authenticate(exchange)).caller,
  });
  const { forward, handshake, tlsOf, close } = createToUpstreams(configuration, sections, openStream);
  const requests = createCount();
  const steps = createSteps(configuration, sections, {
    steps: { ...checking.steps, replay: replays.replay, forward, countInProgress: requests.count },
    allowedMethods: checking.allowedMethods,
    deprecations: checking.deprecations,
    tlsOf,
  });
  const { isUpgradable, upgrade } = createUpgrades({ operations, steps, tunnels, openStream, tlsOf, handshake });
  return {
    configuration,
    operations,
    deprecations: checking.deprecations,
    needsNode: createNeedsNode(steps),
    handleRequest: createPipeline(steps),
    isUpgradable,
    upgrade,
    passPlain: createPassPlain(steps),
    async retire() {
      await requests.empty();
      await close();
      await replays.settled();
    },
    async close() {
      await close();
      await replays.close();
    },
  };
}

function createPassPlain(steps: Steps): Serving['passPlain'] {
  return function passPlain(admitted) {
    const sites = steps.sitesFor(admitted);
    const tunnel = sites && steps.tunnelAt(admitted, sites);
    if (tunnel?.rules.plain !== true) return undefined;
    steps.shed(admitted);
    return steps.passThrough(admitted, tunnel);
  };
}

interface StepsOptions extends Pick<Checking, 'allowedMethods' | 'deprecations'> {
  readonly steps: OperationSteps & Pick<Steps, 'sitesFor' | 'tunnelAt' | 'countInProgress'>;
  readonly tlsOf: TlsOf;
}

/** Adds the steps for requests that need no operation: tunnels, preflights, own pages, OPTIONS, and messages of agents. */
function createSteps(
  configuration: Configuration,
  { options, upstreams, certificates, traffic }: Sections,
  { steps, allowedMethods, deprecations, tlsOf }: StepsOptions,
): Steps {
  const { tunnels, overload, beginInternal } = traffic;
  const { refuse } = traffic.refusals;
  const { admit, throttle } = steps;
  const { jwks } = upstreams.assertions;
  const ownAnswers = createOwnAnswers(configuration, { admit, throttle, allowedMethods, deprecations, jwks, refuse });
  const agents = createAgentSteps(configuration, {
    steps,
    deprecations,
    trusts: ownAnswers.trusts,
    refuse,
    begin: beginInternal,
    hold: overload.hold,
    now: options.now,
  });
  const answerChallenge = createAnswerChallenge(certificates.ordered?.findKeyAuthorization);
  return {
    ...steps,
    ...ownAnswers,
    ...agents,
    async refuseMisdirected(arrived) {
      admit(arrived);
      throw misdirectedError(configuration.config.gateway);
    },
    async passThrough(admitted, tunnel) {
      const answering = answerChallenge(admitted);
      if (answering === false || !(await answering))
        await tunnels.handle(admitted, { tunnel, tls: tlsOf(tunnel.upstream) });
    },
  };
}

function replayOf({ config }: Configuration, { options, stores }: Sections): Replay {
  const { gateway, upstreams } = config;
  return createReplay({
    store: stores.replayStore,
    timeoutMs: (operation) => operation.timeoutMs ?? upstreams[operation.upstream]?.timeoutMs ?? 0,
    honoursKey: (upstream) => upstreams[upstream]?.honoursIdempotencyKey === true,
    runsUnknown: (upstream) => upstreams[upstream]?.whenOutcomeUnknown === 'run',
    ...gateway.idempotency,
    now: options.now,
  });
}

/** Creates a count of the requests in progress. `retire` waits for their end. */
function createCount() {
  let inProgress = 0;
  let onEmpty: (() => void) | undefined;

  function leave(): void {
    inProgress -= 1;
    if (inProgress === 0) onEmpty?.();
  }

  return {
    count(work: Promise<void>): Promise<void> {
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
