// The life of one request, from top to bottom. Start reading here; app.ts is the life of the process. Requests for a WebSocket run the same
// stages: serving/upgrades.ts replaces only `forward` and `passThrough`. A call of an agent's tool runs all stages as a separate exchange.
// Three files have shorter sequences, in which a new stage does not run: serving/agents.ts for the messages of agents,
// edge/own-answers/options.ts for OPTIONS, and tunnel/tunnels.ts for what follows `admit` in a tunnel.

import type { Site } from './edge/admission/sites.ts';
import type {
  Admitted,
  Arrived,
  Checked,
  Counted,
  Forwardable,
  Identified,
  Matched,
  Permitted,
} from './exchange/exchange.ts';
import type { Awaitable } from './shared/awaitable.ts';
import type { StageName } from './stages.ts';
import type { Tunnel } from './tunnel/table.ts';

type Sites = ReadonlySet<Site>;

/** Handles a request. Rejects with the error of a step; `trail.stage` then names its stage. */
type Pipeline = (arrived: Arrived) => Promise<void>;

/**
 * The steps of an operation, in order, with their files. Some steps are not stages and stand between the stages. Each step throws a
 * GatewayError; most stages return the exchange with their findings added. For each configuration, serving/checking-steps.ts makes the
 * steps before `replay`, and wiring/serving.ts the last two.
 */
export interface OperationSteps extends Readonly<Record<StageName, unknown>> {
  /** edge/admission/admit.ts */
  admit(arrived: Arrived): Admitted;
  /** Throws gateway_overloaded while the process is overloaded. overload/overload.ts */
  shed(admitted: Admitted): void;
  /** limits/addresses/throttle.ts */
  throttle(admitted: Admitted): void;
  /** contract/match.ts */
  match(admitted: Admitted): Matched;
  /** Adds the deprecation headers of the operation; throws version_sunset after its end. versions/sunset.ts */
  sunset(matched: Matched): void;
  /** auth/authenticate.ts */
  authenticate(matched: Matched): Awaitable<Identified>;
  /** auth/authorize.ts */
  authorize(identified: Identified): Permitted;
  /** Notes that an organization still calls a deprecated operation. versions/deprecated-calls.ts */
  noteUse(permitted: Permitted): void;
  /** limits/limit.ts */
  limit(permitted: Permitted): Awaitable<Counted>;
  /** Counts the request against the share of its organization; throws gateway_overloaded beyond it. overload/overload.ts */
  reserve(permitted: Permitted): void;
  /** contract/validate.ts */
  validate(counted: Counted): Awaitable<Checked>;
  /** replay/replay.ts. Returns undefined if the stage has answered with the stored answer. */
  replay(checked: Checked): Awaitable<Forwardable | undefined>;
  /** upstream/forward.ts. Ends the exchange. */
  forward(forwardable: Forwardable): Promise<void>;
}

/**
 * Every step that can refuse, answer or change a request: the steps of an operation, and the steps that choose what handles the request.
 */
export interface Steps extends OperationSteps {
  /** Returns the sites of the host name that the request is for; undefined if the host name is not served here. edge/admission/sites.ts */
  sitesFor(arrived: Pick<Arrived, 'request'>): Sites | undefined;
  /** Throws misdirected_request, or a code of admit. edge/admission/sites.ts */
  refuseMisdirected(arrived: Arrived): Promise<void>;
  /** Returns the tunnel of this path; undefined if the path has no tunnel. tunnel/table.ts */
  tunnelAt(arrived: Pick<Arrived, 'request'>, sites: Sites): Tunnel | undefined;
  /** Sends the request to the service of the tunnel. tunnel/tunnels.ts */
  passThrough(admitted: Admitted, tunnel: Tunnel): Promise<void>;
  /** Counts the request as in flight under this configuration until it has ended. wiring/serving.ts */
  countInProgress(work: Promise<void>): Promise<void>;
  /** Lets browsers of trusted origins read the answer, refusals included. edge/own-answers/cors.ts */
  allowOrigin(arrived: Arrived): void;
  /** Whether the request is the preflight of a browser. edge/own-answers/cors.ts */
  isPreflight(arrived: Arrived): boolean;
  /** Answers the preflight. edge/own-answers/cors.ts */
  answerPreflight(arrived: Arrived): Promise<void>;
  /** Whether the path belongs to the documentation, the published contracts or the published keys. edge/own-answers/own-paths.ts */
  isOwnPath(arrived: Pick<Arrived, 'request'>, sites: Sites): boolean;
  answerOwnPath(arrived: Arrived): Promise<void>;
  /** Answers OPTIONS. edge/own-answers/options.ts */
  answerOptions(arrived: Arrived): Promise<void>;
  /** Whether the path leads to the endpoint for agents. serving/agents.ts */
  isAgentsPath(arrived: Pick<Arrived, 'request'>, sites: Sites): boolean;
  /** Answers a message of an agent. A call of a tool goes through the pipeline of operations as a separate exchange. */
  answerAgent(arrived: Arrived): Promise<void>;
}

/** Returns the function that handles a request: as a tunnel, by the gateway itself, or as the operation of a contract. */
export function createPipeline(steps: Steps): Pipeline {
  const operation = createOperationPipeline(steps);
  const tunnelled = createTunnelPipeline(steps);

  function answer(arrived: Arrived, sites: Sites): Promise<void> {
    steps.allowOrigin(arrived);
    if (steps.isPreflight(arrived)) return steps.answerPreflight(arrived);
    if (steps.isOwnPath(arrived, sites)) return steps.answerOwnPath(arrived);
    if (steps.isAgentsPath(arrived, sites)) return steps.answerAgent(arrived);
    if (arrived.request.method === 'OPTIONS') return steps.answerOptions(arrived);
    return operation(arrived);
  }

  return function handleRequest(arrived) {
    const sites = steps.sitesFor(arrived);
    if (sites === undefined) return steps.refuseMisdirected(arrived);
    const tunnel = steps.tunnelAt(arrived, sites);
    // A tunnel is not counted, because it may stay open for days and uses nothing of this configuration.
    if (tunnel !== undefined) return tunnelled(arrived, tunnel);
    return steps.countInProgress(answer(arrived, sites));
  };
}

/**
 * Returns whether a request needs the classes of node:http, because a tunnel or a path of the gateway itself handles it. It chooses as
 * `createPipeline` does.
 */
export function createNeedsNode(
  steps: Pick<Steps, 'sitesFor' | 'tunnelAt' | 'isOwnPath'>,
): (request: Arrived['request']) => boolean {
  return function needsNode(request) {
    const sites = steps.sitesFor({ request });
    if (sites === undefined) return false;
    return steps.tunnelAt({ request }, sites) !== undefined || steps.isOwnPath({ request }, sites);
  };
}

/**
 * The order is a security property: cheap checks that need no body come first, no limit is spent before the caller is known, and nothing
 * reaches an upstream unchecked.
 *
 * - The trail notes a stage before it runs, so that a refusal names its stage. A step between two stages has the name of the stage before
 *   it, except `reserve`, which has the name `validate`.
 * - A stage needs the type that an earlier stage returns, so the code does not compile without the earlier stage. `throttle` and the steps
 *   between the stages return nothing, so a pinned test checks their places.
 * - No step may stand between `replay` and `forward`, because only `forward` ends the recording that `replay` begins. A refusal between the
 *   two would leave the Idempotency-Key in use.
 */
export function createOperationPipeline(steps: OperationSteps): Pipeline {
  return async function handleOperation(arrived) {
    const { trail } = arrived;

    trail.stage = 'admit';
    const admitted = steps.admit(arrived);
    steps.shed(admitted);

    trail.stage = 'throttle';
    steps.throttle(admitted);

    trail.stage = 'match';
    const matched = steps.match(admitted);
    steps.sunset(matched);

    trail.stage = 'authenticate';
    const identified = await steps.authenticate(matched);
    trail.noteEnd('authenticate');

    trail.stage = 'authorize';
    const permitted = steps.authorize(identified);
    steps.noteUse(permitted);

    trail.stage = 'limit';
    const counted = await steps.limit(permitted);
    trail.noteEnd('limit');

    trail.stage = 'validate';
    steps.reserve(counted);
    const checked = await steps.validate(counted);
    trail.noteEnd('validate');

    trail.stage = 'replay';
    const forwardable = await steps.replay(checked);
    if (forwardable === undefined) return;

    trail.stage = 'forward';
    await steps.forward(forwardable);
  };
}

/** A tunnel has no contract. The gateway checks the form, path and address limits (`tunnel/tunnels.ts`); the upstream checks the rest. */
export function createTunnelPipeline(
  steps: Pick<Steps, 'admit' | 'shed' | 'passThrough'>,
): (arrived: Arrived, tunnel: Tunnel) => Promise<void> {
  return async function handleTunnel(arrived, tunnel) {
    arrived.trail.stage = 'admit';
    const admitted = steps.admit(arrived);
    steps.shed(admitted);
    await steps.passThrough(admitted, tunnel);
  };
}
