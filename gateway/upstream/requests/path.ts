// The path for the upstream: the client's own, or one filled from decoded parameter values.

import type { Operation } from '../../exchange.ts';

/** The parameters of a path template, in its order. */
export function pathParameterNames(template: string): string[] {
  return [...template.matchAll(/\{([^}]*)\}/g)].map((match) => match[1] as string);
}

/** The path as the client wrote it, below the upstream's own prefix. */
export function samePath({ publicPrefix, upstreamPrefix }: Operation, path: string): string {
  return publicPrefix === upstreamPrefix ? path : upstreamPrefix + path.slice(publicPrefix.length);
}

/** Fills the template. Each value is encoded, so that it stays within its segment. */
export function filledPath({ path, publicPrefix, upstreamPrefix }: Operation, values: readonly string[]): string {
  let index = 0;
  const filled = path
    .slice(publicPrefix.length)
    .replace(/\{[^}]*\}/g, () => encodeURIComponent(values[index++] as string));
  return upstreamPrefix + filled;
}
