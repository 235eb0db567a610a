// Computes the version of a set of files. The version is a part of their addresses, so that browsers may cache the files forever.

import { createHash } from 'node:crypto';

export const LASTING = 'public, max-age=31536000, immutable';

/** Returns sixteen characters that change with any byte of the files. */
export function contentVersionOf(files: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(createHash('sha256').update(file).digest());
  return hash.digest('base64url').slice(0, 16);
}

/** Returns the version in a path below `folder`; undefined if the path contains none. */
export function contentVersionIn(
  path: string,
  folder: string,
): { readonly version: string; readonly path: string } | undefined {
  const below = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : '';
  const [, version, name] = /^([\w-]{16})\/(.+)$/.exec(below) ?? [];
  return version === undefined ? undefined : { version, path: `${folder}/${name}` };
}
