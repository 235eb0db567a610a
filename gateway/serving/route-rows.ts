// Pure: the operations that are served: one row each, for the command `routes` and the console, and their number.

import { type Configuration, scopeRulesOf } from '../configuration.ts';
import type { Operation } from '../exchange/operation.ts';
import { ANONYMOUS_TIER, extraOf, type LimitRules } from '../limits/limit-rules.ts';
import { needsScopeIn } from '../shared/contracts/scopes.ts';

interface RouteRow {
  readonly method: string;
  readonly path: string;
  readonly operation: string;
  readonly scopes: readonly string[];
  readonly public: boolean;
  readonly limits: readonly string[];
  readonly upstream: string;
  readonly contract: string;
}

export function routeRow(operation: Operation, limits: LimitRules): RouteRow {
  const extra = extraOf(limits, operation);
  const isPublic = operation.security.length === 0;
  const main = isPublic ? ANONYMOUS_TIER : 'tier';
  const isLimited = !isPublic || limits.tiers[ANONYMOUS_TIER] !== undefined;
  return {
    method: operation.method,
    path: operation.path,
    operation: operation.id,
    scopes: [...new Set(operation.security.flatMap(({ scopes }) => scopes))],
    public: isPublic,
    limits: [...(isLimited ? [main] : []), ...(extra === undefined ? [] : [extra])],
    upstream: operation.upstream,
    contract: operation.contract,
  };
}

export interface OperationCount {
  readonly all: number;
  /** Operations that only operators of the API may use. */
  readonly forOperators: number;
}

export function operationCountOf(configuration: Configuration): OperationCount {
  const { operations } = configuration.contracts;
  const { operatorScopes } = scopeRulesOf(configuration);
  const forOperators = operations.filter(({ operation }) => needsScopeIn(operatorScopes, operation)).length;
  return { all: operations.length, forOperators };
}
