// Conflicts between contracts: duplicate operations and names, paths reserved for the gateway, and operation ids that no contract
// declares.

import { type Mistake, suggest } from '../config-errors.ts';
import type { ContractOperation } from './operations.ts';
import { shapeOf } from './routes.ts';

/** Paths that the gateway serves itself; they take precedence over all operations. */
const ownPaths = /^\/(docs|openapi)(\/|$)|^\/\.well-known\/jwks\.json$/;

/** Reports operations at the gateway's own paths, and operations of any contracts that share a method and path shape or an operationId. */
export function checkConflicts(operations: readonly ContractOperation[], mistakes: Mistake[]): void {
  const claims = new Map<string, ContractOperation>();
  const names = new Map<string, ContractOperation>();
  for (const entry of operations) {
    const { operation } = entry;
    const template = operation.path.slice(operation.publicPrefix.length);
    const place = ['paths', template, operation.method.toLowerCase()];
    if (ownPaths.test(operation.path)) {
      const reason = `${operation.path} is one of the gateway's own paths.`;
      const remedy = 'Set another basePath in its entry of upstreams.yaml.';
      mistakes.push(entry.document.position().mistakeAtKey(['paths', template], reason, remedy));
    }
    const claim = `${operation.method} ${shapeOf(operation.path, operation.restOfPath)}`;
    const first = claims.get(claim);
    if (first) {
      const reason = `${operation.method} ${operation.path} is claimed by ${first.operation.contract} already (${first.operation.id}).`;
      mistakes.push(
        entry.document
          .position()
          .mistakeAtKey(place, reason, 'Leave it in one contract only, or set another basePath.'),
      );
      continue;
    }
    claims.set(claim, entry);
    const namesake = names.get(operation.id);
    if (namesake) {
      const reason = `the operationId "${operation.id}" is taken by ${namesake.operation.contract} (${namesake.operation.method} ${namesake.operation.path}).`;
      mistakes.push(
        entry.document.position().mistakeAt([...place, 'operationId'], reason, 'Give one of them another operationId.'),
      );
    } else names.set(operation.id, entry);
  }
}

/** Returns the operation ids in limits.yaml that no contract declares, each with a suggestion. */
export function unknownOperations(
  named: Iterable<string>,
  operations: readonly ContractOperation[],
): { id: string; remedy: string }[] {
  const known = new Set(operations.map(({ operation }) => operation.id));
  return [...named].filter((id) => !known.has(id)).map((id) => ({ id, remedy: suggest(id, known) }));
}
