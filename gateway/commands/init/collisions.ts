// Pure: the operations of a document for whose sake `gateway init --from` gives all of its paths a prefix, and how to do without it.

import { shapeOf } from '../../contract/operations/routes.ts';
import { serverPathsOf } from '../../contract/operations/servers.ts';
import type { Operation } from '../../exchange/operation.ts';
import type { FetchedDocument } from './fetch-document.ts';
import { documentPart, ownPaths } from './propose-entry.ts';

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']);

/** An operation that clients could not reach without a prefix. */
interface Collision {
  /** By its operationId, or by method and path: as upstreams.yaml names it. */
  readonly name: string;
  /** Method and path that are taken. */
  readonly taken: string;
  /** The entry that serves it; undefined for the gateway itself. */
  readonly by: string | undefined;
}

/** The operations that a document could leave out, to have no prefix; empty if it would have to leave all of them out. */
export function collisionsOf(
  { root }: Pick<FetchedDocument, 'root'>,
  served: readonly Pick<Operation, 'method' | 'path' | 'entry'>[],
): Collision[] {
  const entries = new Map(served.map(({ method, path, entry }) => [`${method} ${shapeOf(path)}`, entry]));
  const all = operationsOf(root);
  const collisions = all.flatMap(({ name, method, path }): Collision[] => {
    const by = entries.get(`${method} ${shapeOf(path)}`);
    return by === undefined && !ownPaths.test(path) ? [] : [{ name, taken: `${method} ${path}`, by }];
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

/** Clients of the other operations may want their usual paths, and seldom the health check that collides. */
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
