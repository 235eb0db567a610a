// Determines the usable entries and decisions of an upstreams.yaml that has mistakes.

import { objectAt } from '../../shared/is-record.ts';
import { closest } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';
import { type Breaking, breaking } from './breaking.ts';
import { type UpstreamEntry, upstreamEntry, upstreamsFile } from './upstreams-file.ts';

/** Returns the entries whose contracts can be checked, because the settings that contracts depend on have no mistake. */
export function usableEntries(source: Source): Record<string, UpstreamEntry> {
  const entries = Object.keys(objectAt(source.value, 'upstreams')).flatMap((name) => {
    const written = objectAt(objectAt(source.value, 'upstreams'), name);
    const known = Object.keys(upstreamEntry.shape) as (keyof typeof upstreamEntry.shape)[];
    const parsed = known.map((key) => [key, upstreamEntry.shape[key].safeParse(written[key])] as const);
    const failed = parsed.flatMap(([key, { success }]) => (success ? [] : [key]));
    const misspelt = Object.keys(written).filter((key) => !(known as string[]).includes(key));
    const doubtful = [...failed, ...misspelt.map((key) => closest(key, known))];
    if (doubtful.some((key) => /^(contracts|basePath|basicForClients|security|public)$/.test(key ?? ''))) return [];
    // A member with a mistake gets its default, because later checks rely on the type.
    const entry = parsed.map(([key, { data }]) => [key, data ?? upstreamEntry.shape[key].safeParse(undefined).data]);
    return [[name, Object.fromEntries(entry) as UpstreamEntry] as const];
  });
  return Object.fromEntries(entries);
}

/**
 * Returns the accepted breaking changes. Returns undefined if one of them has a mistake, or if the list may be in the wrong place, because
 * a comparison would report a change that is accepted.
 */
export function usableDecisions({ value }: Source): Breaking | undefined {
  if (value === undefined) return undefined;
  const root = (value ?? {}) as Record<string, unknown>;
  const isMisspelt = (key: string) => closest(key, Object.keys(upstreamsFile.shape)) === 'breaking';
  const entries = objectAt(root, 'upstreams');
  const isMisplaced = Object.keys(entries).some((name) => 'breaking' in objectAt(entries, name));
  if (isMisplaced || Object.keys(root).some((key) => key !== 'breaking' && isMisspelt(key))) return undefined;
  return breaking.safeParse(root.breaking ?? []).data;
}
