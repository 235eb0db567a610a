// Replays recorded requests at their recorded times, once under the current rules and once under candidate rules, with the code that the
// gateway uses.

import type { Caller } from '../../../exchange/caller.ts';
import type { Operation } from '../../../exchange/operation.ts';
import { createChargesOf } from '../../../limits/charges.ts';
import type { LimitDecision } from '../../../limits/counters/counter-store.ts';
import { createProcessStore } from '../../../limits/counters/process-store.ts';
import type { LimitRules } from '../../../limits/limit-rules.ts';
import type { LoggedRequest } from './logged-request.ts';
import { createTallies, type TallyResult } from './tally.ts';

/** Size of the cache of callers, about 20 MB with their counters. */
const CALLERS_MAX = 10_000;
const NO_SCOPES: ReadonlySet<string> = new Set();

interface SimulateOptions {
  /** The operations of the current configuration, by id, with their costs and extra limits. */
  readonly operations: ReadonlyMap<string, Operation>;
  readonly present: LimitRules;
  readonly candidate: LimitRules;
}

export interface SimulationResult extends TallyResult {
  /** Times of the first and the last request, epoch milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The number of requests that were so far out of order that they were replayed later than recorded. */
  readonly late: number;
  /** Operations that are in the log but in no contract. They are replayed with a cost of 1 and no extra limit. */
  readonly unknownOperations: ReadonlyMap<string, number>;
}

interface Simulation {
  /** Call it in the order of the recorded times. */
  replay(recorded: LoggedRequest): void;
  /** Returns undefined if no request was replayed. */
  result(): SimulationResult | undefined;
}

/**
 * Creates a simulation. Requests keep their logged times, although a real client that has to wait would return later. The memory contains
 * the subjects that were active within two windows, and some hundred bytes for each organization.
 */
export function createSimulation({ operations, present, candidate }: SimulateOptions): Simulation {
  let clockMs = Number.NEGATIVE_INFINITY;
  let fromMs: number | undefined;
  let late = 0;
  const now = () => clockMs;
  const decidePresent = createDecide(present, now);
  const decideCandidate = createDecide(candidate, now);
  const operationOf = createOperations(operations);
  const callerOf = createCallers();
  const tallies = createTallies();

  return {
    replay(recorded) {
      const { atMs, client, refused: recordedRefused } = recorded;
      if (atMs < clockMs) late += 1;
      else clockMs = atMs;
      fromMs ??= clockMs;
      const caller = callerOf(recorded);
      const operation = operationOf.find(recorded.operation);
      tallies.add(recorded, {
        atMs: clockMs,
        recordedRefused,
        present: decidePresent(caller, operation, client),
        candidate: decideCandidate(caller, operation, client),
      });
    },
    result() {
      if (fromMs === undefined) return undefined;
      return { ...tallies.result(), fromMs, toMs: clockMs, late, unknownOperations: operationOf.unknown };
    },
  };
}

function createDecide(rules: LimitRules, now: () => number) {
  const chargesOf = createChargesOf(rules);
  const store = createProcessStore({ now });
  return function decide(caller: Caller, operation: Operation, client: string): LimitDecision | undefined {
    const { charges } = chargesOf(caller, operation, client);
    return charges.length === 0 ? undefined : store.decide(charges);
  };
}

function createOperations(operations: ReadonlyMap<string, Operation>) {
  const unknown = new Map<string, number>();
  /** Contains only the members that counting reads. */
  const plain = { id: '', cost: 1, extraLimit: undefined } as Operation;
  return {
    unknown,
    find(id: string): Operation {
      const operation = operations.get(id);
      if (operation !== undefined) return operation;
      unknown.set(id, (unknown.get(id) ?? 0) + 1);
      return plain;
    },
  };
}

/** Returns the same object for the same caller, as the gateway does, because counters are looked up by it. */
function createCallers(): (recorded: LoggedRequest) => Caller {
  const callers = new Map<string, Caller>();
  return function callerOf({ organization, tier, issuer, subject }) {
    const name = `${organization}\n${tier}\n${issuer}\n${subject}`;
    let caller = callers.get(name);
    if (caller === undefined) {
      // Callers can be created again, because their counters are stored elsewhere.
      if (callers.size === CALLERS_MAX) callers.clear();
      caller = toCaller(organization, tier, issuer, subject);
      callers.set(name, caller);
    }
    return caller;
  };
}

function toCaller(
  id: string | undefined,
  tier: string | undefined,
  issuer: string | undefined,
  subject: string,
): Caller {
  const organization =
    id === undefined || tier === undefined
      ? undefined
      : { id, name: id, tier, state: 'active' as const, contacts: [], operator: false };
  return {
    subject,
    scheme: 'apiKey',
    issuer,
    organization,
    mode: 'live',
    scopes: NO_SCOPES,
    revoked: false,
    expiresAtMs: Number.POSITIVE_INFINITY,
    allowsAddress: undefined,
  };
}
