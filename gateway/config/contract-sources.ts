// Collects the input of the contract loader from a configuration: the files of the contracts, and the settings that apply to them.

import { isRecord, objectAt } from '../shared/is-record.ts';
import type { Mistake } from '../shared/mistakes.ts';
import type { ConfigDraft } from './load.ts';
import { serversOf } from './upstreams/servers.ts';

interface Places {
  /** @param index of the glob in `contracts` */
  mistakeAtGlob(index: number, reason: string, remedy: string): Mistake;
  mistakeAtEntry(reason: string, remedy: string): Mistake;
}

/** Returns the input of the contract loader. `isComplete` means that no entry of upstreams.yaml has a mistake. */
export function contractsOf(draft: ConfigDraft) {
  const { upstreams, sources, names } = draft;
  const isComplete = hasEntries(sources.upstreams) && names.upstreams.length === Object.keys(upstreams).length;
  return {
    isComplete,
    sources: contractSources(draft),
    known: {
      upstreams: [...names.upstreams, ...serverUpstreamsOf(draft)],
      ownUpstreams: Object.keys(upstreams).filter((name) => isOwn(upstreams[name]) || isSessions(upstreams[name])),
      limits: sources.limits.value === undefined ? undefined : names.limits,
      addressPaths: addressPathsOf(draft),
    },
    namedOperations: isComplete ? names.operations : [],
    mistakeAtOperation: (id: string, reason: string, remedy: string) =>
      sources.limits.mistakeAtKey(['operations', id], reason, remedy),
  };
}

/**
 * Whether upstreams.yaml has entries; false if the file cannot be read, or if its entries are below a wrong key, so that an operation that
 * is not found may still exist.
 */
function hasEntries({ value }: ConfigDraft['sources']['upstreams']): boolean {
  const entries = (value as { upstreams?: unknown } | null | undefined)?.upstreams;
  return isRecord(entries);
}

/** Whether the gateway itself executes the operations of an entry. */
function isOwn(entry: { readonly live?: readonly string[] } | undefined): boolean {
  return entry?.live?.includes('gateway:') === true;
}

/** Whether the entry is for browser sessions, whose operations the gateway itself executes. */
function isSessions(entry: { readonly live?: readonly string[] } | undefined): boolean {
  return entry?.live?.includes('session:') === true;
}

/**
 * Returns the entries with their contracts. Entries with mistakes are included, because `check` also reports the mistakes of their
 * contracts.
 */
function contractSources({ upstreams, names, sources }: ConfigDraft) {
  const hasOwn = Object.values(upstreams).some(isOwn);
  const ownContractOf = (name: string) => {
    // The address has a mistake, and may be meant as the address of the gateway itself.
    if (upstreams[name]?.live === undefined) return 'unknown' as const;
    return isOwn(upstreams[name]) ? ('here' as const) : hasOwn ? ('elsewhere' as const) : undefined;
  };
  const source = sources.upstreams;
  const placesOf = (name: string): Places => ({
    mistakeAtGlob: (index, reason, remedy) => source.mistakeAt(['upstreams', name, 'contracts', index], reason, remedy),
    mistakeAtEntry: (reason, remedy) => source.mistakeAtKey(['upstreams', name], reason, remedy),
  });
  const usable = Object.entries(upstreams).map(([name, entry]) => ({
    ...entry,
    upstream: name,
    serverMappings: serversOf(name, entry).map(({ server, upstream, path }) => ({ server, upstream, path })),
    acceptsBasic: entry.basicForClients ?? entry.credential?.kind === 'basic',
    ownContract: ownContractOf(name),
    ...placesOf(name),
  }));
  const written = objectAt(source.value, 'upstreams');
  const others = names.upstreams.flatMap((name) => {
    const { contracts, basePath } = Object.hasOwn(upstreams, name) ? {} : objectAt(written, name);
    if (!Array.isArray(contracts) || !contracts.every((glob) => typeof glob === 'string')) return [];
    const path = typeof basePath === 'string' ? { basePath } : {};
    // The mistake may be in `security`, so the contracts are read as public. Nothing is served while there is a mistake.
    return [{ upstream: name, contracts, public: true, ...path, ...placesOf(name) }];
  });
  return [...usable, ...others];
}

/** Returns the names of the upstreams from `servers` of the entries. */
function serverUpstreamsOf({ upstreams }: ConfigDraft): string[] {
  return Object.entries(upstreams).flatMap(([name, entry]) => serversOf(name, entry).map(({ upstream }) => upstream));
}

/** Returns the paths of upstream addresses, for upstreams whose addresses have a path. */
function addressPathsOf({ upstreams }: ConfigDraft): Record<string, string> {
  const paths = Object.entries(upstreams).map(([name, { addressPath }]) => [name, addressPath] as const);
  return Object.fromEntries(paths.flatMap(([name, path]) => (path === undefined ? [] : [[name, path]])));
}
