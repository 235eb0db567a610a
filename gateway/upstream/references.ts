// Pure: what upstreams point at, as clients find it. An absolute address would name an internal host, in any of its spellings.

import type { Operation } from '../exchange.ts';

type Prefixes = Pick<Operation, 'publicPrefix' | 'upstreamPrefix'>;

/**
 * The path that `Location` names, under the public prefix.
 *
 * @returns undefined unless it is a path below the prefix of the upstream. A tab is no part of an address: browsers leave it out and would
 * read `/<tab>/host` as a host.
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
/** How long something lives is said by the configuration of the gateway. */
const LIFE_RELATION = /;[ \t]*rel[ \t]*=[ \t]*"?[^";,]*\b(deprecation|sunset|successor-version)\b/i;
const ANCHOR = /;[ \t]*anchor\*?[ \t]*=[ \t]*"?([^";]*)/gi;
/** Relative to the address of the request: neither a scheme nor a host can be in it. */
const RELATIVE = /^(?:[?#]|[^/\\?#:]+(?:[/?#]|$)|$)/;

/**
 * A `Link` line without the links that name an address of the inside, are about the life of an operation, or cannot be read.
 *
 * @returns undefined: no link is left
 */
export function publicLinks(line: string, prefixes: Prefixes): string | undefined {
  // Another link begins where another `<` does.
  const kept = line.split(/,[ \t]*(?=<)/).flatMap((link) => {
    const [, target = '', parameters = ''] = LINK.exec(link) ?? [undefined, '//'];
    const reference = publicReference(target, prefixes);
    if (reference === undefined || LIFE_RELATION.test(parameters)) return [];
    const isOutside = [...parameters.matchAll(ANCHOR)].some(
      ([, anchor = '']) => publicReference(anchor, prefixes) !== anchor,
    );
    return isOutside ? [] : [`<${reference}>${parameters}`];
  });
  return kept.length === 0 ? undefined : kept.join(', ');
}

function publicReference(reference: string, prefixes: Prefixes): string | undefined {
  return RELATIVE.test(reference) ? reference : publicPath(reference, prefixes);
}
