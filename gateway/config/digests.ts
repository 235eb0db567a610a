// Computes digests of files, which show whether two configurations are the same, and which files differ. Also reads the optional list of
// digests beside the configuration, in the format of `sha256sum`. With such a list, the gateway never puts files in force that are still
// being written or that belong to different releases, even if each file is valid.

import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { READ_BYTES_MAX, shownPath } from '../shared/file-text.ts';
import { ConfigError, type Mistake } from '../shared/mistakes.ts';
import { isOutOfFiles } from './free-files.ts';

/**
 * Returns the digest of each file; `absent` for a file that cannot be read, is too large, or may never end, such as a pipe. Streams the
 * files, because reading them at once would block requests.
 */
export async function digestsOf(files: Iterable<string>): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  for (const file of files) digests.set(file, await digestOf(file));
  return digests;
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    const stats = await stat(file);
    if (!stats.isFile() || stats.size > READ_BYTES_MAX) return 'absent';
    for await (const chunk of createReadStream(file)) hash.update(chunk);
  } catch (error) {
    if (isOutOfFiles(error)) throw error;
    return 'absent';
  }
  return hash.digest('hex');
}

/** Returns a short version, which is equal for equal contents, so that instances with the same version serve the same configuration. */
export function versionOf(digests: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  // Paths are left out, because they differ between machines.
  for (const digest of [...digests.values()].sort()) hash.update(digest);
  return hash.digest('hex').slice(0, 12);
}

/** Returns the files that exist only on one side or have different content. */
export function changedFiles(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all].filter((file) => before.get(file) !== after.get(file));
}

/** The name of the list in the configuration directory. Paths in the list are relative to this directory. */
export const MANIFEST_FILE = 'manifest.sha256';

/** File → digest. */
type Manifest = ReadonlyMap<string, string>;

const REMEDY = 'Wait until every file is written, or write a new list with "bin/gateway check --write-manifest".';
/** A star stands before names of binary files. */
const LINE = /^([0-9a-f]{64}) [ *](.+)$/;

/** Reads the list, and compares the files with it. Returns undefined without a list. Rejects with ConfigError if a file differs. */
export async function completeManifest(directory: string): Promise<Manifest | undefined> {
  const file = join(directory, MANIFEST_FILE);
  const mistakes: Mistake[] = [];
  const manifest = readManifest(file, directory, mistakes);
  if (manifest === undefined) return undefined;
  mistakes.push(...differences(manifest, await digestsOf(manifest.keys())));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return manifest;
}

/** Throws ConfigError unless every file that was read is listed, and is as listed. */
export function requireListed(manifest: Manifest | undefined, read: ReadonlyMap<string, string>): void {
  if (manifest === undefined) return;
  const reason = `the file is not listed in ${MANIFEST_FILE}.`;
  const unlisted = [...read.keys()].filter((file) => !manifest.has(resolve(file)));
  const mistakes = unlisted.map((file) => ({ file: shownPath(file), reason, remedy: REMEDY }));
  const listed = new Map([...read].map(([file, digest]) => [resolve(file), digest]));
  mistakes.push(...differences(new Map([...manifest].filter(([file]) => listed.has(file))), listed));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
}

/** Returns the list of these files, sorted. */
export function manifestOf(directory: string, read: ReadonlyMap<string, string>): string {
  const lines = [...read].map(([file, digest]) => `${digest}  ${relative(directory, file)}\n`);
  return lines.sort((one, other) => (one.slice(66) < other.slice(66) ? -1 : 1)).join('');
}

function readManifest(file: string, directory: string, mistakes: Mistake[]): Map<string, string> | undefined {
  const shownAs = shownPath(file);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // There is no list, or no directory. A missing directory is reported where its files are read.
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new ConfigError([{ file: shownAs, reason: `the file cannot be read (${code}).`, remedy: REMEDY }]);
  }
  const manifest = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    const [, digest, path] = LINE.exec(line) ?? [];
    if (digest !== undefined && path !== undefined) manifest.set(resolve(directory, path), digest);
    else if (line !== '') {
      const reason = 'this is no line of sha256sum: a digest, two spaces and a path.';
      mistakes.push({ file: shownAs, line: index + 1, reason, remedy: REMEDY });
    }
  }
  // A list that was cut off at the end of a line would be valid, so the last line has to end with a line break.
  if (!text.endsWith('\n')) mistakes.push({ file: shownAs, reason: 'the last line has no end.', remedy: REMEDY });
  return manifest;
}

function differences(manifest: Manifest, digests: ReadonlyMap<string, string>): Mistake[] {
  return [...manifest].flatMap(([file, digest]) => {
    const found = digests.get(file);
    if (found === digest) return [];
    const is = found === 'absent' ? 'is listed in' : 'has other content than in';
    const but = found === 'absent' ? ', but missing' : '';
    return [{ file: shownPath(file), reason: `the file ${is} ${MANIFEST_FILE}${but}.`, remedy: REMEDY }];
  });
}
