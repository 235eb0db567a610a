// Reads the servers of a document, a path or an operation, which say where the paths begin, and on which host (OpenAPI 3.1.1, section
// 4.8.5).

import { isRecord, type JsonObject, objectAt } from '../pointer.ts';

interface DeclaredServer {
  /** Stands before the paths; without a slash at the end. */
  readonly path: string;
  /** The origin; undefined for the host of the document. */
  readonly origin: string | undefined;
}

const NO_SERVER: DeclaredServer = { path: '', origin: undefined };
/** The base of relative addresses, which no address can name. */
const BASE = 'http://relative.invalid';

/** Returns the first server of a document. */
export function serverOfDocument(root: JsonObject): DeclaredServer {
  return serversIn(root)[0] ?? NO_SERVER;
}

/** The place of a server in upstreams.yaml. */
/** The upstream to which a server of a document is mapped. */
export interface MappedServer {
  readonly upstream: string;
  readonly path: string;
}

export interface ServerMapping {
  /** Host and path, without a slash at the end. */
  readonly server: string;
  readonly upstream: string;
  /** Takes the place of the server's path. */
  readonly path: string;
}

/** Returns the upstream of a server and the path below its address, by the longest mapping that the server begins with. */
export function mappedServer(
  { origin, path }: DeclaredServer,
  mappings: readonly ServerMapping[],
): MappedServer | undefined {
  if (origin === undefined || mappings.length === 0) return undefined;
  const address = new URL(origin).host + path;
  const [found] = mappings
    .filter(({ server }) => address === server || address.startsWith(`${server}/`))
    .sort((one, other) => other.server.length - one.server.length);
  return found && { upstream: found.upstream, path: found.path + address.slice(found.server.length) };
}

/**
 * Returns the server of an operation: its own server, the server of its path, or the server of the document. If there are several, returns
 * a server on the document's host, otherwise a mapped server.
 */
export function serverOfOperation(
  root: JsonObject,
  item: unknown,
  operation: unknown,
  mappings: readonly ServerMapping[] = [],
): DeclaredServer {
  const [own = []] = [operation, item].map(serversIn).filter((servers) => servers.length > 0);
  const origins = new Set(serversIn(root).map(({ origin }) => origin));
  const here = own.find(({ origin }) => origin === undefined || origins.has(origin));
  const mapped = own.find((server) => mappedServer(server, mappings) !== undefined);
  return here ?? mapped ?? own[0] ?? serverOfDocument(root);
}

/** Returns the origin of an operation that the document declares on another host than its other operations. */
export function foreignOrigin(root: JsonObject, item: unknown, operation: unknown): string | undefined {
  const { origin } = serverOfOperation(root, item, operation);
  const isOwn = origin === undefined || serversIn(root).some((server) => server.origin === origin);
  return isOwn ? undefined : origin;
}

/** Returns the path of the document's server, and different paths of its other servers or of other values of their variables. */
export function serverPathsOf(root: object): { readonly used: string; readonly others: readonly string[] } {
  const { path: used } = serversIn(root)[0] ?? NO_SERVER;
  const servers = 'servers' in root && Array.isArray(root.servers) ? root.servers : [];
  const paths = servers
    .flatMap((server) => [toServer(server), ...otherwise(server)])
    .map((server) => server?.path ?? used);
  return { used, others: [...new Set(paths)].filter((path) => path !== used) };
}

/** Returns the server with each value of each variable, and the defaults of the other variables. */
function otherwise(server: unknown): (DeclaredServer | undefined)[] {
  if (!isRecord(server) || !isRecord(server.variables)) return [];
  const { variables } = server;
  return Object.entries(variables).flatMap(([name, variable]) => {
    const values = isRecord(variable) && Array.isArray(variable.enum) ? variable.enum : [];
    return values.map((value) => toServer({ ...server, variables: { ...variables, [name]: { default: value } } }));
  });
}

function serversIn(owner: unknown): DeclaredServer[] {
  const { servers } = isRecord(owner) ? owner : {};
  return (Array.isArray(servers) ? servers : []).flatMap((server) => toServer(server) ?? []);
}

function toServer(server: unknown): DeclaredServer | undefined {
  if (!isRecord(server) || typeof server.url !== 'string') return undefined;
  const text = server.url.replace(/\{([^}]*)\}/g, (_, name: string) =>
    String(objectAt(server.variables, name).default ?? ''),
  );
  if (!URL.canParse(text, BASE)) return NO_SERVER;
  const { origin, pathname } = new URL(text, BASE);
  return { path: pathname.replace(/\/+$/, ''), origin: origin === BASE ? undefined : origin };
}
