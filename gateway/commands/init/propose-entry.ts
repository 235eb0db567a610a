// Proposes the entry of upstreams.yaml for a document, with name, address, base path and scopes. Pure.

import { shapeOf } from '../../contract/operations/routes.ts';
import { serverPathsOf } from '../../contract/operations/servers.ts';
import type { FetchedDocument } from './fetch-document.ts';

/** An entry of upstreams.yaml. */
export interface ProposedEntry {
  readonly contracts: readonly string[];
  readonly live: string;
  /** Test keys get answers from the contract, with which clients can try the service in the documentation. */
  readonly test: 'examples:';
  readonly basePath?: string;
  readonly operationNames?: 'qualified';
  readonly health?: { readonly path: string };
  readonly security: { readonly read: readonly string[]; readonly write: readonly string[] };
}

const NAME_MAX = 32;
/** Matches paths that the gateway answers itself. */
export const OWN_PATH = /^\/(docs|openapi|\.well-known)(\/|$)/;

/** Returns a name for the entry: the first words of the title, without accents. Returns undefined if the title has no Latin letter. */
export function nameOf({ root }: Pick<FetchedDocument, 'root'>): string | undefined {
  const title = String(documentPart(root.info).title ?? '');
  const words = title
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '');
  const whole = words.length <= NAME_MAX ? words : words.slice(0, NAME_MAX + 1).replace(/-[^-]*$/, '');
  return whole.slice(0, NAME_MAX).replace(/-(api|service|server|rest|http)$/, '') || undefined;
}

/**
 * Returns the address of the service, which comes from the document's URL, or from the first absolute server in the document; undefined if
 * there is none.
 */
export function liveOf({ root, url }: Pick<FetchedDocument, 'root' | 'url'>): string | undefined {
  if (url !== undefined) return url.origin;
  const servers = Array.isArray(root.servers) ? root.servers : [];
  const addresses = servers.map((server) => String(documentPart(server).url ?? ''));
  const absolute = addresses
    .map((address) => URL.parse(address))
    .find((address) => /^https?:$/.test(address?.protocol ?? ''));
  return absolute?.origin;
}

/**
 * Returns a prefix for the paths if one of them is taken, because the gateway itself answers it, or another entry has it; undefined
 * otherwise.
 *
 * @param taken paths of the operations of other entries
 */
export function basePathOf(
  name: string,
  { root }: Pick<FetchedDocument, 'root'>,
  taken: readonly string[],
): string | undefined {
  const prefix = serverPathsOf(root).used;
  return takenBelow(prefix, { root }, taken) === undefined ? undefined : `/${name}${prefix}`;
}

/** Returns the first path of the document that is taken below this prefix; undefined if there is none. */
export function takenBelow(
  prefix: string,
  { root }: Pick<FetchedDocument, 'root'>,
  taken: readonly string[],
): string | undefined {
  const known = new Set(taken.map((path) => shapeOf(path)));
  const paths = Object.keys(documentPart(root.paths)).map((path) => prefix + path);
  return paths.find((path) => OWN_PATH.test(path) || known.has(shapeOf(path)));
}

/** Whether an operation of the document has a name that another entry uses. */
export function sharesNames({ root }: Pick<FetchedDocument, 'root'>, taken: readonly string[]): boolean {
  const known = new Set(taken);
  return Object.values(documentPart(root.paths)).some((item) =>
    Object.values(documentPart(item)).some((operation) => known.has(String(documentPart(operation).operationId))),
  );
}

/** Returns the scopes by method, one for reading and one for writing. */
export function securityOf(name: string): ProposedEntry['security'] {
  return { read: [`${name}:read`], write: [`${name}:write`] };
}

export function documentPart(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
