// Stage: finds the operation of a request. Throws route_not_found, version_unknown, method_not_allowed, method_not_implemented,
// malformed_path.

import { GatewayError } from '../catalogue/errors.ts';
import { type Admitted, extend, type Matched } from '../exchange/exchange.ts';
import type { Operation } from '../exchange/operation.ts';
import { METHODS } from '../shared/http/words.ts';
import { createNearPaths, type NearPath } from './operations/near-paths.ts';
import { createRoutes } from './operations/routes.ts';
import { hasMatrixParameter, semicolonsFit } from './parameters/path-styles.ts';

// Any other method is "not implemented" instead of "not allowed" (RFC 9110 section 15.6.2).
const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);

/** Returns the methods of a path, for OPTIONS requests. Throws like `match` if the path is unknown. */
export type AllowedMethods = (admitted: Admitted) => readonly string[];

interface Match {
  match(admitted: Admitted): Matched;
  readonly allowedMethods: AllowedMethods;
}

/** Returns a more specific error for a path that matches nothing; undefined if there is none. */
type Explain = (admitted: Admitted) => GatewayError | undefined;

export function createMatch(operations: readonly Operation[], explain: Explain = () => undefined): Match {
  const routes = createRoutes(operations);
  const nearPath = createNearPaths(operations, routes);
  const mayHaveSemicolons = operations.some(hasMatrixParameter);
  const versions = [...new Set(operations.flatMap(({ version }) => version ?? []))].sort();

  function match(admitted: Admitted): Matched {
    const { method, segments } = admitted;
    const found = routes.find(method, segments) ?? (method === 'HEAD' ? routes.find('GET', segments) : undefined);
    if (found) {
      if (mayHaveSemicolons && !semicolonsFit(found.operation, admitted.path)) throw new GatewayError('malformed_path');
      admitted.trail.operation = found.operation;
      const matched = extend<Admitted, Pick<Matched, 'operation' | 'pathValues'>>(admitted);
      matched.operation = found.operation;
      matched.pathValues = found.values;
      return matched;
    }
    throw explain(admitted) ?? unmatchedError(admitted);
  }

  function unmatchedError({ method, segments }: Admitted): GatewayError {
    if (!KNOWN_METHODS.has(method)) return new GatewayError('method_not_implemented');
    const allowed = routes.allowedMethods(segments);
    if (allowed.length === 0) return pathUnknown(segments);
    return new GatewayError('method_not_allowed', {
      path: unmatchedPath(segments),
      headers: { Allow: allowed.join(', ') },
      fields: { allowed_methods: allowed },
    });
  }

  function pathUnknown(segments: readonly string[]): GatewayError {
    const hasSlashAtEnd = segments.at(-1) === '' && routes.allowedMethods(segments.slice(0, -1)).length > 0;
    if (!hasSlashAtEnd) return notFound(segments, versions, nearPath);
    return new GatewayError('route_not_found', { hint: 'trailing_slash', path: unmatchedPath(segments) });
  }

  function allowedMethods(admitted: Admitted): readonly string[] {
    const allowed = routes.allowedMethods(admitted.segments);
    if (allowed.length === 0) throw pathUnknown(admitted.segments);
    return allowed;
  }

  return { match, allowedMethods };
}

interface SitesOptions<Sites extends object> {
  readonly operations: readonly Operation[];
  /** Every object that `sitesFor` returns. Their routes are made at once, so that no request waits for them. */
  readonly all: Iterable<Sites>;
  sitesFor(admitted: Admitted): Sites;
  isAt(operation: Operation, sites: Sites): boolean;
  readonly explain?: Explain;
}

/** Creates a Match for operations that are served at some sites only. Each request is matched with the operations of its sites. */
export function createMatchBySites<Sites extends object>(options: SitesOptions<Sites>): Match {
  const { operations, all, sitesFor, isAt, explain } = options;
  const matches = new Map<Sites, Match>();
  for (const sites of new Set(all)) {
    const served = operations.filter((operation) => isAt(operation, sites));
    matches.set(sites, createMatch(served, explain));
  }
  const matchFor = (admitted: Admitted) => matches.get(sitesFor(admitted)) as Match;

  return {
    match: (admitted) => matchFor(admitted).match(admitted),
    allowedMethods: (admitted) => matchFor(admitted).allowedMethods(admitted),
  };
}

function notFound(segments: readonly string[], versions: readonly string[], nearPath: NearPath): GatewayError {
  const [first = '', second = ''] = segments;
  const path = unmatchedPath(segments);
  // The hint is given for any path below /api/<version>, even if no operation has the path, because the client has to correct the order of
  // the segments first.
  if (first === 'api' && versions.includes(second))
    return new GatewayError('route_not_found', { hint: 'version_first', path });
  if (versions.length > 0 && /^v\d+$/.test(first) && !versions.includes(first)) {
    return new GatewayError('version_unknown', { fields: { supported_versions: versions }, path });
  }
  const near = nearPath(segments);
  if (near === undefined) return new GatewayError('route_not_found', { path });
  return new GatewayError('route_not_found', { hint: 'near', fields: { nearest_path: near }, path });
}

const SEGMENTS_MAX = 8;
/** The form of words in paths. Names, identifiers and keys mostly have another form. */
const WORD = /^\.?[a-z][a-z_.-]{0,23}$|^v\d{1,3}$/;

/** Returns the path with `{…}` in the place of each segment that may be a value, because the log contains no values of clients. */
function unmatchedPath(segments: readonly string[]): string {
  const shown = segments
    .slice(0, SEGMENTS_MAX)
    .map((segment) => (WORD.test(segment) || segment === '' ? segment : '{…}'));
  return `/${shown.join('/')}${segments.length > SEGMENTS_MAX ? '/…' : ''}`;
}
