// The path that an upstream is asked for: the client's, or one filled in anew from the values of its parameters.

import type { Operation } from '../../exchange.ts';

/** The parameters of a path template, in its order. */
export function pathParameterNames(template: string): string[] {
  return [...template.matchAll(/\{([^}]*)\}/g)].map((match) => match[1] as string);
}

/** The path as the client wrote it, below the upstream's own prefix. */
export function samePath({ publicPrefix, upstreamPrefix }: Operation, path: string): string {
  return publicPrefix === upstreamPrefix ? path : upstreamPrefix + path.slice(publicPrefix.length);
}

/** The template with a value for each parameter, each within one segment whatever characters it has. */
export function filledPath({ path, publicPrefix, upstreamPrefix }: Operation, values: readonly string[]): string {
  let index = 0;
  const filled = path
    .slice(publicPrefix.length)
    .replace(/\{[^}]*\}/g, () => encodeURIComponent(values[index++] as string));
  return upstreamPrefix + filled;
}
