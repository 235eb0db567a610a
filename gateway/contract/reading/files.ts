// Finds the files of contracts: files that match the globs of upstreams.yaml, and files to which references lead. A reference may lead only
// to a file of the contracts directory, after symbolic links are followed.

import { globSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { shownPath } from '../../shared/file-text.ts';
import { type Mistake, suggest } from '../../shared/mistakes.ts';

/** The directories of contracts. */
export interface ContractPlaces {
  /** The contracts directory. */
  readonly directory: string;
  /** A directory in which the files may be, if they are not in `directory`. */
  readonly likelyDirectory?: string;
  /** The directory of published contracts, below `directory`. */
  readonly publishedDirectory?: string | undefined;
}

/** The contracts of one entry of upstreams.yaml. */
export interface Listing {
  readonly upstream: string;
  /** Globs below the contracts directory. */
  readonly contracts: readonly string[];
  /** Creates a mistake at the line of a glob. */
  mistakeAtGlob(index: number, reason: string, remedy: string): Mistake;
  /** Creates a mistake at the name of the entry. */
  mistakeAtEntry(reason: string, remedy: string): Mistake;
}

/**
 * Returns the contract files of an entry, each once. `owners` maps each file to the upstream that lists it. A second owner is a mistake.
 *
 * @param places the directories of contracts
 */
export function listedFiles(
  places: ContractPlaces,
  source: Listing,
  owners: Map<string, string>,
  mistakes: Mistake[],
): string[] {
  const listed: string[] = [];
  for (const [index, glob] of source.contracts.entries()) {
    const complain = (reason: string, remedy: string) => mistakes.push(source.mistakeAtGlob(index, reason, remedy));
    const files = contractFiles(places.directory, glob);
    if (files.length === 0) nothingMatches(places, glob, complain);
    for (const file of files) {
      const owner = owners.get(file) ?? source.upstream;
      if (owner !== source.upstream)
        complain(`${shownPath(file)} is listed by the upstream "${owner}" already.`, LISTED_TWICE);
      else if (!owners.has(file)) listed.push(file);
      owners.set(file, owner);
    }
  }
  return listed;
}

const LISTED_TWICE =
  'List it once. To split its operations between two entries, list a copy under another name here, and set serve: false in each entry for the operations of the other.';

function nothingMatches(
  { directory, likelyDirectory: likely, publishedDirectory = '' }: ContractPlaces,
  glob: string,
  complain: (reason: string, remedy: string) => void,
): void {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (!found?.isDirectory()) {
    const reason = `the contracts directory ${directory} ${found === undefined ? 'does not exist' : 'is a file'}.`;
    complain(reason, 'Create it, or correct GATEWAY_CONTRACTS.');
    return;
  }
  const reason = `no contract file matches ${glob} in ${shownPath(directory)}.`;
  if (likely !== undefined && contractFiles(likely, glob).length > 0) {
    complain(reason, `There is one in ${shownPath(likely)}: set GATEWAY_CONTRACTS=${shownPath(likely)}.`);
    return;
  }
  // A published contract is the promise, and served in place of the contract it would never show a break.
  const isPublished = (file: string) => publishedDirectory !== '' && isBelow(join(directory, publishedDirectory), file);
  const there = contractFiles(directory, '**').filter((file) => !isPublished(file));
  const names = there.map((file) => relative(directory, file));
  complain(reason, names.length === 0 ? 'Put the contract there.' : suggest(glob, names));
}

/** Returns the files below a directory that match a glob, sorted. */
export function contractFiles(directory: string, glob: string): string[] {
  return globSync(glob, { cwd: directory })
    .filter((file) => /\.(ya?ml|json)$/.test(file))
    .map((file) => join(directory, file))
    .sort();
}

/** Returns the real path of a file of the directory; undefined if it is elsewhere. Throws if the file does not exist. */
export function realPathWithin(directory: string, file: string): string | undefined {
  const place = realpathSync(directory);
  // A path outside is not looked up, because a look-up may mount a file system there.
  if (!isBelow(directory, file) && !isBelow(place, file)) return undefined;
  const real = realpathSync(file);
  return isBelow(place, real) ? real : undefined;
}

/** Returns whether a file exists in the directory, symbolic links followed. */
export function isWithin(directory: string, file: string): boolean {
  try {
    return realPathWithin(directory, file) !== undefined;
  } catch {
    return false;
  }
}

/** Whether a path is below a directory. Names may begin with two dots, as the names of directories in container volumes do. */
function isBelow(directory: string, file: string): boolean {
  const path = relative(directory, file);
  return path !== '' && path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}
