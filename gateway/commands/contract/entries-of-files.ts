// What the entries of upstreams.yaml say about contract files that are checked alone.

import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { contractsOf } from '../../config/contract-sources.ts';
import { loadConfig } from '../../config/load.ts';
import type { KnownNames } from '../../contract/operations/extensions.ts';
import type { DocumentDefaults } from '../../contract/operations/operations.ts';
import type { CommandContext } from '../context.ts';

export interface FileEntry {
  readonly defaults: DocumentDefaults;
  readonly known: KnownNames;
}

/** Returns what finds the entry of a file; undefined for a file that no entry lists. Mistakes of the configuration are the matter of `check`. */
export function entriesOfFiles({ settings, environment }: CommandContext): (file: string) => FileEntry | undefined {
  const { configDirectory, contractsDirectory } = settings();
  const { sources, known } = contractsOf(loadConfig(configDirectory, environment, []));
  const entries = new Map<string, FileEntry>();
  for (const { contracts, ...defaults } of sources)
    for (const file of globSync(contracts, { cwd: contractsDirectory }))
      entries.set(resolve(contractsDirectory, file), { defaults, known });
  return (file) => entries.get(resolve(file));
}
