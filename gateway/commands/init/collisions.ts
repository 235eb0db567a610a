// Finds the operations of a document whose paths are taken at the gateway. Because of them, `gateway init --from` gives all paths a prefix.
// Pure.

import { shapeOf } from '../../contract/operations/routes.ts';
import { serverPathsOf } from '../../contract/operations/servers.ts';
import type { Operation } from '../../exchange/operation.ts';
import type { FetchedDocument } from './fetch-document.ts';
import { documentPart, OWN_PATH } from './propose-entry.ts';

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']);

/** An operation whose path is taken, so that clients could not reach it without a prefix. */
interface Collision {
  /** The name for upstreams.yaml: the operationId, or method and path. */
  readonly name: string;
  /** The method and the path. */
  readonly taken: string;
  /** The entry that already serves this path; undefined if the gateway itself answers it. */
  readonly by: string | undefined;
}

/** Returns the operations to leave out, if the paths shall have no prefix; empty if all operations would be left out. */
export function collisionsOf(
  { root }: Pick<FetchedDocument, 'root'>,
  served: readonly Pick<Operation, 'method' | 'path' | 'entry'>[],
): Collision[] {
  const entries = new Map(served.map(({ method, path, entry }) => [`${method} ${shapeOf(path)}`, entry]));
  const all = operationsOf(root);
  const collisions = all.flatMap(({ name, method, path }): Collision[] => {
    const by = entries.get(`${method} ${shapeOf(path)}`);
    return by === undefined && !OWN_PATH.test(path) ? [] : [{ name, taken: `${method} ${path}`, by }];
  });
  return collisions.length === all.length ? [] : collisions;
}

function operationsOf(root: FetchedDocument['root']) {
  const prefix = serverPathsOf(root).used;
  return Object.entries(documentPart(root.paths)).flatMap(([path, item]) =>
    Object.entries(documentPart(item))
      .filter(([method]) => METHODS.has(method))
      .map(([lower, operation]) => {
        const method = lower.toUpperCase();
        const { operationId } = documentPart(operation);
        const name = typeof operationId === 'string' ? operationId : `${method} ${path}`;
        return { name, method, path: prefix + path };
      }),
  );
}

/** Says why the paths have a prefix, and how to avoid it, because often only a health check collides, which clients do not need. */
export function prefixLines(basePath: string, collisions: readonly Collision[]): string[] {
  const [first] = collisions;
  if (first === undefined) return [];
  const isOne = collisions.length === 1;
  const taken = isOne
    ? `${first.taken} is served by ${first.by ?? 'the gateway itself'}`
    : `${first.taken} and ${collisions.length - 1} more are served`;
  const names = collisions.map(({ name }) => `${JSON.stringify(name)}: { serve: false }`).join(', ');
  return [
    `Its paths begin with ${basePath}, because ${taken} already. To leave ${isOne ? 'it' : 'them'} out and have the others without the prefix, replace`,
    `    basePath: ${basePath}`,
    'in its entry of upstreams.yaml by',
    `    operations: { ${names} }`,
  ];
}
