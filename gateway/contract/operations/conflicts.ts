// Finds conflicts between contracts: duplicate operations and names, paths reserved for the gateway, and operation ids that no contract
// declares.

import type { Operation } from '../../exchange/operation.ts';
import { type Mistake, suggestOperation } from '../../shared/mistakes.ts';
import type { ContractOperation } from './operations.ts';
import { shapeOf } from './routes.ts';

/** Paths that the gateway serves itself; they take precedence over all operations. */
const OWN_PATH = /^\/(docs|openapi)(\/|$)|^\/\.well-known\/jwks\.json$/;

type MistakeAtNames = (entry: string, reason: string, remedy: string) => Mistake;

/** A name that an operation of an earlier entry has. */
interface SharedName {
  readonly operation: Operation;
  readonly namesake: Operation;
}

/**
 * Reports operations at the gateway's own paths, operations of any contracts that share a method and path shape or a name in one entry, and
 * entries whose operations share names with others.
 *
 * @param mistakeAtNames creates a mistake about the names of an entry
 */
export function checkConflicts(
  operations: readonly ContractOperation[],
  mistakes: Mistake[],
  mistakeAtNames: MistakeAtNames,
): void {
  const claims = new Map<string, ContractOperation>();
  const names = new Map<string, ContractOperation>();
  const shared = new Map<string, SharedName[]>();
  for (const entry of operations) {
    const { operation } = entry;
    const template = operation.path.slice(operation.publicPrefix.length);
    const place = ['paths', template, operation.method.toLowerCase()];
    if (OWN_PATH.test(operation.path)) {
      const reason = `${operation.path} is one of the gateway's own paths.`;
      const remedy = 'Set another basePath in its entry of upstreams.yaml.';
      mistakes.push(entry.document.position().mistakeAtKey(['paths', template], reason, remedy));
    }
    const claim = `${operation.method} ${shapeOf(operation.path, operation.restOfPath)}`;
    const first = claims.get(claim);
    if (first) {
      const [reason, remedy] = first.document === entry.document ? sameTemplate(first, entry) : sameClaim(first, entry);
      mistakes.push(entry.document.position().mistakeAtKey(place, reason, remedy));
      continue;
    }
    claims.set(claim, entry);
    const namesake = names.get(operation.id);
    if (namesake === undefined) names.set(operation.id, entry);
    else if (namesake.operation.entry === operation.entry) {
      const { contract, method, path } = namesake.operation;
      const reason = `the operationId "${operation.id}" is taken by ${contract} (${method} ${path}).`;
      const remedy = 'Give one of them another operationId.';
      mistakes.push(entry.document.position().mistakeAt([...place, 'operationId'], reason, remedy));
    } else {
      const known = shared.get(operation.entry) ?? [];
      known.push({ operation, namesake: namesake.operation });
      shared.set(operation.entry, known);
    }
  }
  for (const names of shared.values()) mistakes.push(sharedNames(names, mistakeAtNames));
}

/** Returns one mistake for all names of an entry. The earlier entry keeps its names, because metrics, logs and rules already use them. */
function sharedNames(names: readonly SharedName[], mistakeAtNames: MistakeAtNames): Mistake {
  const [{ operation, namesake }] = names as [SharedName];
  const others = names.length === 1 ? '' : ` and ${names.length - 1} more`;
  const reason = `"${namesake.entry}" has operations of the same names already: ${operation.id}${others}.`;
  const remedy = `Add "operationNames: qualified" to this entry: its operations are then called ${operation.qualifiedId} and so on.`;
  return mistakeAtNames(operation.entry, reason, remedy);
}

function sameClaim({ operation: first }: ContractOperation, { operation }: ContractOperation): [string, string] {
  const reason = `${operation.method} ${operation.path} is claimed by ${first.contract} already (${first.id}).`;
  const { entry, publicPrefix, qualifiedId } = operation;
  const name = qualifiedId.slice(entry.length + 1);
  if (entry === first.entry) return [reason, 'Leave it in one contract only.'];
  return [
    reason,
    `In the entry "${entry}", leave it out by "operations: { ${JSON.stringify(name)}: { serve: false } }", or set another basePath, such as "basePath: /${entry}${publicPrefix}".`,
  ];
}

/**
 * Returns a mistake about two equal templates. Templates that differ only in parameter names match the same requests (OpenAPI 3.1.1,
 * section 4.8.8.2).
 */
function sameTemplate({ operation: first }: ContractOperation, { operation }: ContractOperation): [string, string] {
  const reason = `${operation.method} ${operation.path} matches the same requests as ${first.path} (${first.id}): only the names of parameters differ.`;
  return [reason, `Remove one of the two, and let the schema of ${first.path} admit the values of both.`];
}

/** Returns the operation ids in limits.yaml that no contract declares, each with a suggestion. `others` are also treated as declared. */
export function unknownOperations(
  named: Iterable<string>,
  operations: readonly ContractOperation[],
  others: readonly string[] = [],
): { id: string; remedy: string }[] {
  const known = new Set([...operations.flatMap(({ operation: { id, qualifiedId } }) => [id, qualifiedId]), ...others]);
  // The others have no full names, because their operations were not made.
  const isKnown = (id: string) => known.has(id) || others.includes(id.slice(id.indexOf('.') + 1));
  const meant = operations.map(({ operation }) => ({ ...operation, name: operation.id }));
  return [...named].filter((id) => !isKnown(id)).map((id) => ({ id, remedy: suggestOperation(id, meant) }));
}
