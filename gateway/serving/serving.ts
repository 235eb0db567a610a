// The pipeline of one configuration. Each new configuration gets its own; parts that outlive a configuration are passed in.

import type { Assertions } from '../auth/assertions/assertions.ts';
import { type CredentialReaders, createAuthenticate } from '../auth/authenticate.ts';
import type { Caller } from '../caller.ts';
import type { Configuration } from '../configuration.ts';
import { delimiterOfForm } from '../contract/forms/multipart.ts';
import { parseIdempotencyKey } from '../contract/idempotency-key.ts';
import type { Site } from '../edge/admission/sites.ts';
import type { BeginInternal } from '../edge/internal-exchanges.ts';
import { createAnswerChallenge, type OwnChallenge } from '../edge/own-answers/acme-challenge.ts';
import type { Refuse } from '../edge/refusal/refuse.ts';
import type { RequestHandlers } from '../edge/server.ts';
import { GatewayError } from '../errors.ts';
import type { Admitted, Fresh } from '../exchange.ts';
import type { StreamEnd, StreamKind } from '../findings.ts';
import { createIdempotency, type Idempotency } from '../idempotency/idempotency.ts';
import type { AnswerStore } from '../idempotency/store.ts';
import type { Throttle } from '../limits/addresses/throttle.ts';
import type { CounterStore } from '../limits/counters/counter-store.ts';
import { createLimit } from '../limits/limit.ts';
import type { Operation } from '../operation.ts';
import type { Overload } from '../overload/overload.ts';
import { createNeedsNode, createPipeline, type OperationSteps, type Steps } from '../pipeline.ts';
import type { OpenStreams } from '../streams/open-streams.ts';
import type { Tunnel } from '../tunnel/table.ts';
import type { Tunnels } from '../tunnel/tunnels.ts';
import type { Deprecations } from '../versions/deprecation.ts';
import { createNoteUse } from '../versions/uses.ts';
import { createAgentSteps } from './agents.ts';
import { createOwnAnswers } from './own-answers.ts';
import { createStatelessStages } from './stateless-stages.ts';
import { createToUpstreams, type UpstreamParts } from './to-upstreams.ts';
import { createUpgrades } from './upgrades.ts';

/** Parts that live from start to end of the process. */
export interface Shared extends UpstreamParts {
  readonly credentialReaders: CredentialReaders;
  readonly assertions: Pick<Assertions, 'jwks' | 'assertionFor'>;
  readonly counters: CounterStore;
  readonly answerStore: AnswerStore;
  readonly overload: Overload;
  readonly throttle: Throttle;
  readonly tunnels: Tunnels;
  readonly streams: OpenStreams;
  readonly refuse: Refuse;
  /** Begins an exchange that no connection carries. */
  readonly beginInternal: BeginInternal;
  /** Notes that an organization has called a deprecated operation. */
  noteUse(organization: string, operation: string): void;
  /** Calls back when the session of a caller ends, on whichever instance, unless the returned function is called before. */
  onSessionEnded(caller: Caller, listener: () => void): () => void;
  isDraining(): boolean;
  readonly ownChallenge: OwnChallenge | undefined;
  /** Called when the X-Forwarded-For of a trusted proxy cannot be parsed. */
  onUnreadableForward(entry: string, proxy: string): void;
}

export interface Serving extends RequestHandlers {
  readonly configuration: Configuration;
  readonly operations: readonly Operation[];
  /** Deprecated operations, and versions that have ended. */
  readonly deprecations: Deprecations;
  /** Forwards a request of the plain listener; undefined: no tunnel there has its path. */
  passPlain(admitted: Admitted): Promise<void> | undefined;
  /** Called when no further request will come. Resolves when all requests have ended and every answer is stored. */
  retire(): Promise<void>;
  /** Called at shutdown: gives up answers that are not stored yet. */
  close(): Promise<void>;
}

/** Builds every stage from its part of the configuration. Requests under other configurations go on. */
export function createServing(configuration: Configuration, shared: Shared): Serving {
  const { config, contracts } = configuration;
  const { refuse, overload, tunnels, now } = shared;
  const operations = contracts.operations.map(({ operation }) => operation);
  const authenticate = createAuthenticate(shared.credentialReaders);
  const stateless = createStatelessStages(configuration, { ...shared, hold: overload.hold });
  const { admit, match, sunset, authorize, validate, sitesFor, tunnelAt, deprecations } = stateless;
  const idempotency = openIdempotency(configuration, shared);
  const { tlsOf, forward, handshake, close } = createToUpstreams(configuration, shared, openStream);
  const answerChallenge = createAnswerChallenge(shared.ownChallenge);
  const { track, empty } = createCount();

  function openStream(fresh: Fresh, kind: StreamKind, end: (why: StreamEnd) => void): () => void {
    const { caller, clientAddress, operation } = fresh;
    async function admitAgain() {
      return authorize(await authenticate(fresh)).caller;
    }
    const close = shared.streams.open({ kind, caller, clientAddress, operation, admitAgain, end });
    // It counts among the open streams instead.
    overload.ended(fresh.reservation);
    return caller.session === undefined ? close : closeWithSession(caller, caller.session, close);
  }

  function closeWithSession(caller: Caller, session: string, close: () => void): () => void {
    const unfollow = shared.onSessionEnded(caller, () => shared.streams.sessionEnded(session));
    return () => {
      unfollow();
      close();
    };
  }

  const own = createOwnAnswers(configuration, {
    stages: stateless,
    throttle: shared.throttle.throttle,
    jwks: shared.assertions.jwks,
    refuse: refuse.refuse,
  });
  const operationSteps: OperationSteps = {
    admit,
    match,
    sunset,
    authorize,
    validate,
    shed: overload.shed,
    throttle: shared.throttle.throttle,
    authenticate,
    noteUse: createNoteUse(deprecations, shared.noteUse),
    limit: createLimit({ store: shared.counters, rules: config.limits, now }),
    reserve: overload.reserve,
    replay: idempotency.replay,
    forward,
  };
  const steps: Steps<ReadonlySet<Site>, Tunnel> = {
    ...operationSteps,
    sitesFor,
    tunnelAt,
    ...own,
    ...createAgentSteps(configuration, {
      stages: stateless,
      steps: operationSteps,
      trusts: own.trusts,
      begin: shared.beginInternal,
      refuse: refuse.refuse,
      hold: overload.hold,
      now,
    }),
    async refuseMisdirected(arrived) {
      admit(arrived);
      throw new GatewayError('misdirected_request');
    },
    async passThrough(admitted, tunnel) {
      const answering = answerChallenge(admitted);
      if (answering === false || !(await answering))
        await tunnels.handle(admitted, { tunnel, tls: tlsOf(tunnel.upstream) });
    },
    track,
  };
  return {
    configuration,
    operations,
    deprecations,
    needsNode: createNeedsNode(steps),
    handle: createPipeline(steps),
    ...createUpgrades({ operations, steps, tunnels, tlsOf, handshake, openStream }),
    passPlain(admitted) {
      const sites = steps.sitesFor(admitted);
      const tunnel = sites && steps.tunnelAt(admitted, sites);
      if (tunnel?.rules.plain !== true) return undefined;
      steps.shed(admitted);
      return steps.passThrough(admitted, tunnel);
    },
    async retire() {
      await empty();
      await close();
      await idempotency.settled();
    },
    async close() {
      await close();
      await idempotency.close();
    },
  };
}

function openIdempotency({ config }: Configuration, { answerStore, refuse, now }: Shared): Idempotency {
  const { gateway, upstreams } = config;
  return createIdempotency({
    store: answerStore,
    keyOf: parseIdempotencyKey,
    delimiterOf: delimiterOfForm,
    timeoutMs: (operation) => operation.timeoutMs ?? upstreams[operation.upstream]?.timeoutMs ?? 0,
    honoursKey: (upstream) => upstreams[upstream]?.honoursIdempotencyKey === true,
    runsUnknown: (upstream) => upstreams[upstream]?.whenOutcomeUnknown === 'run',
    ...gateway.idempotency,
    onUnprotected: refuse.ignoreKey,
    now,
  });
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
