// Determines the usable entries of an upstreams.yaml that has mistakes.

import { closest } from '../config-errors.ts';
import type { Source } from '../shared/yaml-source.ts';
import { type UpstreamEntry, upstreamEntry } from './schema.ts';

/** Returns the entries whose settings that contracts depend on are correct, so that their contracts can still be checked. */
export function usableEntries(source: Source): Record<string, UpstreamEntry> {
  const entries = Object.keys(blockIn(source.value, 'upstreams')).flatMap((name) => {
    const written = blockIn(blockIn(source.value, 'upstreams'), name);
    const parsed = Object.entries(upstreamEntry.shape).map(
      ([key, schema]) => [key, schema.safeParse(written[key])] as const,
    );
    const known = parsed.map(([key]) => key);
    const failed = parsed.flatMap(([key, { success }]) => (success ? [] : [key]));
    const misspelt = Object.keys(written).filter((key) => !known.includes(key));
    const doubtful = [...failed, ...misspelt.map((key) => closest(key, known))];
    if (doubtful.some((key) => /^(contracts|basePath|basicForClients|security|public)$/.test(key ?? ''))) return [];
    return [[name, Object.fromEntries(parsed.map(([key, { data }]) => [key, data])) as UpstreamEntry] as const];
  });
  return Object.fromEntries(entries);
}

export function blockIn(value: unknown, key: string): Record<string, unknown> {
  const block = (value as Record<string, unknown> | null | undefined)?.[key];
  return typeof block === 'object' && block !== null ? (block as Record<string, unknown>) : {};
}
