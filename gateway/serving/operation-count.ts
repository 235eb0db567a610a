// How many operations are served, and for whom.

import { type Configuration, scopeRulesOf } from '../configuration.ts';
import { needsScopeIn } from '../shared/contracts/scopes.ts';

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
