// Pairs the operations of two sources, for a comparison. The same operation may be in several files of a source, with different prefixes.
// Such an operation is paired with the operation in the file of the same name.

import { compareContracts, pairingKeyOf } from '../../contract/diff/compare.ts';
import { type Described, titleOf } from '../../contract/diff/described.ts';
import type { DiffFinding } from '../../contract/diff/findings.ts';

interface PlacedOperation {
  readonly described: Described;
  /** The name of its file below the source. */
  readonly name: string;
}

type Side = readonly PlacedOperation[];

/**
 * Compares two sources.
 *
 * @returns `unclear`: a sentence for each operation in several files that cannot be paired with certainty
 */
export function compareSources(old: Side, fresh: Side): { findings: DiffFinding[]; unclear: string[] } {
  const [before, after] = [byKey(old), byKey(fresh)];
  const isShared = (key: string) => [before, after].some((side) => (side.get(key) ?? []).length > 1);
  const others = (side: Side) => side.filter(({ described }) => !isShared(pairingKeyOf(described)));
  const findings = compareSides(others(old), others(fresh));
  const unclear: string[] = [];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    if (!isShared(key)) continue;
    const [was, is] = [byPlace(before.get(key)), byPlace(after.get(key))];
    const gone = [...was.keys()].filter((place) => !is.has(place));
    const come = [...is.keys()].filter((place) => !was.has(place));
    if (gone.length > 0 && come.length > 0) unclear.push(sentenceOf([...was.values()], [...is.values()]));
    else
      for (const place of new Set([...was.keys(), ...is.keys()]))
        findings.push(...compareSides(at(was, place), at(is, place)));
  }
  return { findings, unclear };
}

function compareSides(old: Side, fresh: Side): DiffFinding[] {
  const describedIn = (side: Side) => side.map(({ described }) => described);
  return [...compareContracts(describedIn(old), describedIn(fresh))].flat();
}

function byKey(side: Side): Map<string, PlacedOperation[]> {
  return Map.groupBy(side, ({ described }) => pairingKeyOf(described));
}

/** Groups operations by file and template. A file may contain two templates that differ only in a parameter that accepts slashes. */
function byPlace(side: Side = []): Map<string, PlacedOperation> {
  return new Map(side.map((one) => [`${one.name} ${one.described.path}`, one]));
}

function at(side: ReadonlyMap<string, PlacedOperation>, place: string): PlacedOperation[] {
  const found = side.get(place);
  return found === undefined ? [] : [found];
}

function sentenceOf(old: Side, fresh: Side): string {
  const [{ described }] = [...old, ...fresh] as [PlacedOperation];
  const files = (side: Side) => side.map(({ described }) => described.file).join(' and ');
  return `${titleOf(described)} is in ${files(old)} before and in ${files(fresh)} after: it is not known which replaces which. Compare file with file.`;
}
