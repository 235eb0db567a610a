// The steps of a rehearsal: the steps of serving/checking-steps.ts, and a stand-in for each part and each step that sends, spends or stores
// something, or that needs a running gateway.

import type { CredentialReaders } from '../../auth/authenticate.ts';
import type { Configuration } from '../../configuration.ts';
import { misdirectedError } from '../../edge/admission/sites.ts';
import type { Caller } from '../../exchange/caller.ts';
import type { Arrived } from '../../exchange/exchange.ts';
import type { LimitUsageReport } from '../../limits/limit-usage.ts';
import type { Steps } from '../../pipeline.ts';
import { createCheckingSteps } from '../checking-steps.ts';
import { createReadOnlyStore } from './read-only-store.ts';

export interface RehearsalParts {
  readonly configuration: Configuration;
  /** The readers of credentials; the result of `readersOf`, if the caller is known. */
  readonly readers: CredentialReaders;
  /** The use of the organization's limits; undefined if unknown, which is treated as unused. */
  readonly limitUse: LimitUsageReport | undefined;
  now(): number;
}

const nothing = () => undefined;
const no = () => false;

/**
 * Returns readers that know one caller.
 *
 * @param named the caller of every request, whatever its credentials; undefined if a request without credentials is refused
 * @param keyed the caller of every API key
 */
export function readersOf(named: Caller | undefined, keyed?: Caller): CredentialReaders {
  return {
    directory: { callerOf: () => keyed },
    readToken: () => named,
    matchesBasic: () => false,
    readSession: () => named,
  };
}

/** @param clientAddress undefined if unknown */
export function createRehearsedSteps(
  clientAddress: string | undefined,
  { configuration, readers, limitUse, now }: RehearsalParts,
): Steps {
  const { upstreams, gateway } = configuration.config;
  const { steps: checks } = createCheckingSteps(configuration, {
    options: { now },
    base: { isDraining: no },
    observation: {},
    counters: { requests: createReadOnlyStore(limitUse, now) },
    callers: { identity: { readers } },
    stores: { throttle: { throttle: nothing }, deprecatedCalls: { note: nothing } },
    traffic: { overload: { shed: nothing, reserve: nothing, hold: nothing } },
  });

  function admit(arrived: Arrived) {
    const admitted = checks.admit(arrived);
    arrived.trail.clientAddress = clientAddress;
    return { ...admitted, clientAddress: clientAddress ?? admitted.clientAddress };
  }

  const answer = async (arrived: Arrived) => succeed(admit(arrived));
  return {
    ...checks,
    admit,
    // Pages, preflights and messages of agents are not rehearsed. OPTIONS is admitted only.
    allowOrigin: nothing,
    isPreflight: no,
    isOwnPath: no,
    isAgentsPath: no,
    answerPreflight: answer,
    answerOwnPath: answer,
    answerAgent: answer,
    answerOptions: answer,
    countInProgress: (work) => work,
    async refuseMisdirected(arrived) {
      admit(arrived);
      throw misdirectedError(gateway);
    },
    async passThrough(admitted, { name }) {
      admitted.trail.note('tunnel', name);
      succeed(admitted);
    },
    replay: (checked) => ({ ...checked, recording: undefined }),
    async forward(forwardable) {
      const { caller, operation, trail } = forwardable;
      const entry = upstreams[operation.upstream];
      const addresses = caller.mode === 'test' ? (entry?.test ?? entry?.live) : entry?.live;
      trail.target = addresses?.join(' or ');
      succeed(forwardable);
    },
  };
}

function succeed({ response, trail }: Arrived): void {
  trail.status = 204;
  response.writeHead(204);
  response.end();
}
