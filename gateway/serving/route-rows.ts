// Pure: lists the operations that are served, in one row each, for the command `routes` and the console, and counts them.

import type { Configuration } from '../configuration.ts';
import type { Operation } from '../exchange/operation.ts';
import { ANONYMOUS_TIER, extraOf, type LimitRules } from '../limits/limit-rules.ts';
import { isGatewayItself } from '../upstream/targets/addresses.ts';

type Upstreams = Configuration['config']['upstreams'];

export interface RouteRow {
  readonly method: string;
  readonly path: string;
  readonly operation: string;
  readonly scopes: readonly string[];
  readonly public: boolean;
  readonly limits: readonly string[];
  readonly upstream: string;
  readonly contract: string;
}

/** Returns the rows of all operations. Those of the gateway itself come last. */
export function routeRows({ config, contracts }: Pick<Configuration, 'config' | 'contracts'>): RouteRow[] {
  const all = contracts.operations.map(({ operation }) => operation);
  const isOwn = (operation: Operation) => isOfGatewayItself(operation, config.upstreams);
  const ordered = [...all.filter((one) => !isOwn(one)), ...all.filter(isOwn)];
  return ordered.map((operation) => routeRow(operation, config.limits));
}

function routeRow(operation: Operation, limits: LimitRules): RouteRow {
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

/** Whether the gateway itself executes the operation. */
function isOfGatewayItself({ upstream }: Operation, upstreams: Upstreams): boolean {
  return upstreams[upstream]?.live.some(isGatewayItself) === true;
}

interface Size {
  readonly operations: number;
  readonly contracts: number;
}

export interface OperationCount extends Size {
  /** The operations among them that the gateway itself executes. */
  readonly ofGateway: Size;
}

export function operationCountOf({ config, contracts }: Pick<Configuration, 'config' | 'contracts'>): OperationCount {
  const { operations, documents } = contracts;
  const own = operations.filter(({ operation }) => isOfGatewayItself(operation, config.upstreams));
  return {
    operations: operations.length,
    contracts: documents.length,
    ofGateway: { operations: own.length, contracts: new Set(own.map(({ document }) => document)).size },
  };
}

/** Returns a text such as `56 operations in 12 contracts (and 37 of the gateway itself)`, for `start` and `check`. */
export function operationCountText({ operations, contracts, ofGateway }: OperationCount): string {
  const countText = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
  const own = ofGateway.operations === 0 ? '' : ` (and ${ofGateway.operations} of the gateway itself)`;
  const ofServices = countText(operations - ofGateway.operations, 'operation');
  return `${ofServices} in ${countText(contracts - ofGateway.contracts, 'contract')}${own}`;
}
