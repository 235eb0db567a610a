// The names in `portal` of gateway.yaml: tiers of limits.yaml, and the operation that the first page shows.

import { type Mistake, suggest } from '../shared/mistakes.ts';
import type { Source } from '../shared/yaml-source.ts';
import type { PortalSection } from './portal.ts';

/** Pushes a mistake for each tier that limits.yaml lacks: a misspelt one would silently not be shown. */
export function checkShownTiers(
  { tiers }: PortalSection,
  known: readonly string[],
  source: Source,
  mistakes: Mistake[],
): void {
  if (typeof tiers === 'boolean') return;
  for (const [index, name] of tiers.entries()) {
    if (known.includes(name)) continue;
    const reason = `limits.yaml has no tier "${name}".`;
    mistakes.push(source.mistakeAt(['portal', 'tiers', index], reason, suggest(name, known)));
  }
}

interface SampleCandidate {
  readonly id: string;
  readonly method: string;
  readonly path: string;
}

/**
 * Returns what is wrong with the sample operation, which has to work as it stands: a GET without values in its path. A warning: contracts
 * are replaced, and the pages then show the first such operation.
 */
export function sampleWarning(
  { sampleOperation: named }: PortalSection,
  operations: readonly SampleCandidate[],
  source: Source,
): Mistake | undefined {
  if (named === undefined) return undefined;
  const possible = operations.filter(({ method, path }) => method === 'GET' && !path.includes('{'));
  if (possible.some(({ id }) => id === named)) return undefined;
  const isThere = operations.some(({ id }) => id === named);
  const what = isThere ? `"${named}" is no GET, or takes a value in its path` : `there is no operation "${named}"`;
  const ids = possible.map(({ id }) => id);
  return source.mistakeAt(
    ['portal', 'sampleOperation'],
    `${what}, so the pages show the first operation that can be read without values.`,
    ids.length === 0 ? 'Remove the key.' : `${suggest(named, ids)} Without the key, the first one is meant.`,
  );
}
