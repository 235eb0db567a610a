// Makes the path for the upstream: the path of the client, or a template filled with decoded parameter values.

import type { Operation } from '../exchange/operation.ts';

/** Returns the parameters of a path template, in its order. */
export function pathParameterNames(template: string): string[] {
  return [...template.matchAll(/\{([^}]*)\}/g)].map((match) => match[1] as string);
}

/** Returns the path as the client wrote it, below the upstream's own prefix. */
export function samePath({ publicPrefix, upstreamPrefix }: Operation, path: string): string {
  return publicPrefix === upstreamPrefix ? path : upstreamPrefix + path.slice(publicPrefix.length);
}

/** Fills the template, below the upstream's own prefix. */
export function filledPath(operation: Operation, values: readonly string[]): string {
  return samePath(operation, filledTemplate(operation, values));
}

/**
 * Fills the template as clients do. Each value is encoded, so that it stays within its segment or segments. The separators of lists and
 * objects stay.
 */
export function filledTemplate(
  { path, restOfPath, pathStyles }: Pick<Operation, 'path' | 'restOfPath' | 'pathStyles'>,
  values: readonly string[],
): string {
  let index = 0;
  return path.replace(/\{([^}]*)\}/g, (_, name) => {
    const encoded = encodeURIComponent(values[index++] ?? '');
    if (pathStyles.has(name)) return encoded.replace(/%(?:2C|3B|3D)/g, decodeURIComponent);
    return name === restOfPath ? encoded.replaceAll('%2F', '/') : encoded;
  });
}
