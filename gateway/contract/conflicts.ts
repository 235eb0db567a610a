// What several contracts together may not say twice, paths that are the gateway's own, and names that none of them says.

import { type Mistake, suggest } from '../config-errors.ts';
import type { ContractOperation } from './operations.ts';
import { shapeOf } from './routes.ts';

/** What the gateway answers by itself, in front of all operations. */
const ownPaths = /^\/(docs|openapi)(\/|$)|^\/\.well-known\/jwks\.json$/;

/** Operations at paths of the gateway itself; two operations that claim the same requests, or the same name, over all contracts together. */
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
    const claim = `${operation.method} ${shapeOf(operation.path)}`;
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

/** Operation ids in limits.yaml that no contract has. */
export function unknownOperations(
  named: Iterable<string>,
  operations: readonly ContractOperation[],
): { id: string; remedy: string }[] {
  const known = new Set(operations.map(({ operation }) => operation.id));
  return [...named].filter((id) => !known.has(id)).map((id) => ({ id, remedy: suggest(id, known) }));
}
