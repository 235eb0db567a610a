// Pure: turns references in upstream answers into references for clients. Absolute addresses are dropped, because they name internal hosts.

import type { Operation } from '../exchange.ts';

type Prefixes = Pick<Operation, 'publicPrefix' | 'upstreamPrefix'>;

/**
 * The path in `Location`, under the public prefix.
 *
 * @returns undefined unless it is a path below the upstream's prefix. Paths with a tab are rejected: browsers remove tabs and would read
 * `/<tab>/host` as a host.
 */
export function publicPath(
  location: string | undefined,
  { publicPrefix, upstreamPrefix }: Prefixes,
): string | undefined {
  if (location === undefined || !/^\/(?![/\\])[^\t]*$/.test(location)) return undefined;
  if (publicPrefix === upstreamPrefix) return location;
  const isBelow = location === upstreamPrefix || location.startsWith(`${upstreamPrefix}/`);
  return isBelow ? publicPrefix + location.slice(upstreamPrefix.length) : undefined;
}

/** RFC 8288 section 3: a target and its parameters. */
const LINK =
  /^[ \t]*<([^<> \t]*)>((?:[ \t]*;[ \t]*[\w!#$&+\-.^`|~]+\*?(?:[ \t]*=[ \t]*(?:"(?:[^"\\]|\\.)*"|[^ \t",;<>]+))?)*)[ \t]*$/;
/** The gateway's configuration decides deprecations, so upstream links about them are dropped. */
const DEPRECATION_RELATION = /;[ \t]*rel[ \t]*=[ \t]*"?[^";,]*\b(deprecation|sunset|successor-version)\b/i;
const ANCHOR = /;[ \t]*anchor\*?[ \t]*=[ \t]*"?([^";]*)/gi;
/** Relative to the address of the request: contains neither scheme nor host. */
const RELATIVE = /^(?:[?#]|[^/\\?#:]+(?:[/?#]|$)|$)/;

/**
 * A `Link` line without links that name an internal address, concern deprecation, or cannot be parsed.
 *
 * @returns undefined if no link is left
 */
export function publicLinks(line: string, prefixes: Prefixes): string | undefined {
  // A comma followed by `<` starts the next link.
  const kept = line.split(/,[ \t]*(?=<)/).flatMap((link) => {
    const [, target = '', parameters = ''] = LINK.exec(link) ?? [undefined, '//'];
    const reference = publicReference(target, prefixes);
    if (reference === undefined || DEPRECATION_RELATION.test(parameters)) return [];
    const hasForeignAnchor = [...parameters.matchAll(ANCHOR)].some(
      ([, anchor = '']) => publicReference(anchor, prefixes) !== anchor,
    );
    return hasForeignAnchor ? [] : [`<${reference}>${parameters}`];
  });
  return kept.length === 0 ? undefined : kept.join(', ');
}

function publicReference(reference: string, prefixes: Prefixes): string | undefined {
  return RELATIVE.test(reference) ? reference : publicPath(reference, prefixes);
}
