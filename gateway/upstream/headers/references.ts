// Turns references in upstream answers into references for clients. An absolute address of the upstream, or of the host that the client
// called, becomes a path. Addresses of other hosts are dropped, because they name internal hosts. Pure.

import type { Operation } from '../../exchange/operation.ts';

/** The parts of an operation and of its exchange that a reference depends on. */
export interface ReferenceContext extends Pick<Operation, 'publicPrefix' | 'upstreamPrefix'> {
  /** `host:port` of the upstream's targets, as `authorityIn` writes them. */
  readonly authorities: ReadonlySet<string>;
  /** The Host header of the request. */
  readonly host: string | undefined;
  /** Whether addresses of other hosts pass. */
  readonly passesExternal: boolean;
}

/** Matches a reference without scheme and host. It is relative to the address of the request, and needs no change for clients. */
const RELATIVE = /^(?:[?#]|[^/\\?#:]+(?:[/?#]|$)|$)/;
const ABSOLUTE = /^(https?):\/\/([^/?#\\@\s]+)([/?#]?[^\\]*)$/i;

/**
 * Returns a reference as clients can use it; undefined if they cannot reach its target, or must not learn it. A reference with a tab is
 * undefined, too, because browsers remove tabs, and would read `/<tab>/host` as a host.
 */
export function publicReference(reference: string, context: ReferenceContext): string | undefined {
  if (reference === '' || reference.includes('\t')) return undefined;
  if (RELATIVE.test(reference)) return reference;
  if (reference.startsWith('/')) return publicPath(reference, context);
  const [, scheme = '', authority = '', rest = ''] = ABSOLUTE.exec(reference) ?? [];
  if (authority === '') return undefined;
  const own = withoutDefaultPort(scheme, authority);
  const isOwn = context.authorities.has(own) || own === context.host?.toLowerCase();
  if (isOwn) return publicPath(rest.startsWith('/') ? rest : `/${rest}`, context);
  return context.passesExternal ? reference : undefined;
}

/** Returns `host:port` of an address, without the default port of its scheme; undefined for an address that is not http. */
export function authorityIn(address: string): string | undefined {
  const [, scheme = '', authority = ''] = ABSOLUTE.exec(address) ?? [];
  return authority === '' ? undefined : withoutDefaultPort(scheme, authority);
}

function withoutDefaultPort(scheme: string, authority: string): string {
  return authority.toLowerCase().replace(scheme.toLowerCase() === 'https' ? /:443$/ : /:80$/, '');
}

/**
 * Replaces the upstream's prefix of a path by the public prefix. Returns undefined for a path outside the upstream's prefix, and for
 * `//host`.
 */
function publicPath(path: string, { publicPrefix, upstreamPrefix }: ReferenceContext): string | undefined {
  if (!/^\/(?![/\\])/.test(path)) return undefined;
  if (publicPrefix === upstreamPrefix) return path;
  const rest = path.slice(upstreamPrefix.length);
  const isBelow = path.startsWith(upstreamPrefix) && /^(?:[/?#]|$)/.test(rest);
  return isBelow ? publicPrefix + rest : undefined;
}

/** Matches one link: a target and its parameters (RFC 8288 section 3). */
const LINK =
  /^[ \t]*<([^<> \t]*)>((?:[ \t]*;[ \t]*[\w!#$&+\-.^`|~]+\*?(?:[ \t]*=[ \t]*(?:"(?:[^"\\]|\\.)*"|[^ \t",;<>]+))?)*)[ \t]*$/;
/** The gateway's configuration decides deprecations, so upstream links about them are dropped. */
const DEPRECATION_RELATION = /;[ \t]*rel[ \t]*=[ \t]*"?[^";,]*\b(deprecation|sunset|successor-version)\b/i;
const ANCHOR = /;[ \t]*anchor\*?[ \t]*=[ \t]*"?([^";]*)/gi;

/**
 * Returns a `Link` line without links that clients cannot reach, that concern deprecation, or that cannot be parsed. `isWhole` is false if
 * a link is left out, and `text` is undefined if all are.
 */
export function publicLinks(line: string, context: ReferenceContext): { text: string | undefined; isWhole: boolean } {
  // A comma followed by `<` starts the next link.
  const links = line.split(/,[ \t]*(?=<)/);
  const kept = links.flatMap((link) => {
    const [, target, parameters = ''] = LINK.exec(link) ?? [];
    if (target === undefined || DEPRECATION_RELATION.test(parameters)) return [];
    // An empty target is the address of the request.
    const reference = target === '' ? '' : publicReference(target, context);
    if (reference === undefined) return [];
    const hasForeignAnchor = [...parameters.matchAll(ANCHOR)].some(
      ([, anchor = '']) => anchor !== '' && publicReference(anchor, context) !== anchor,
    );
    return hasForeignAnchor ? [] : [`<${reference}>${parameters}`];
  });
  return { text: kept.length === 0 ? undefined : kept.join(', '), isWhole: kept.length === links.length };
}
