// Adds lines to all mistakes of a contract in one late step, because parsing a large file for positions takes seconds.

import { shownPath } from '../../shared/file-text.ts';
import type { Mistake } from '../../shared/mistakes.ts';
import type { Path, Position, Spot } from '../../shared/yaml-source.ts';

/** Returns the positions of places in a file. */
export type Locate = (file: string, spots: readonly Spot[]) => Promise<readonly Position[]>;

export interface Positions {
  /** A mistake at the value of `path`, or at the nearest place around it that exists. */
  mistakeAt(path: Path, reason: string, remedy: string): Mistake;
  /** A mistake at the key itself. */
  mistakeAtKey(path: Path, reason: string, remedy: string): Mistake;
  /** Adds lines to the mistakes created so far. */
  locate(locate: Locate): Promise<void>;
}

/**
 * Creates the positions of one document.
 *
 * @param fileOf returns the file in which a place of the document was written
 * @param toSource converts a place in the document to the place in the file from which it was made
 */
export function createPositions(
  fileOf: (path: Path) => string,
  toSource: (path: Path) => Path = (path) => path,
): Positions {
  const awaiting: { readonly file: string; readonly spot: Spot; readonly mistake: Mistake }[] = [];

  function mistake(written: Path, isKey: boolean, reason: string, remedy: string): Mistake {
    const [file, path] = [fileOf(written), toSource(written)];
    const made = { file: shownPath(file), ...(path.length > 0 ? { place: path.join('.') } : {}), reason, remedy };
    awaiting.push({ file, spot: { path, isKey }, mistake: made });
    return made;
  }

  return {
    mistakeAt: (path, reason, remedy) => mistake(path, false, reason, remedy),
    mistakeAtKey: (path, reason, remedy) => mistake(path, true, reason, remedy),
    async locate(locate) {
      for (const [file, unlocated] of Map.groupBy(awaiting.splice(0), (one) => one.file)) {
        const positions = await locate(
          file,
          unlocated.map(({ spot }) => spot),
        );
        for (const [index, { mistake }] of unlocated.entries()) Object.assign(mistake, positions[index]);
      }
    },
  };
}
