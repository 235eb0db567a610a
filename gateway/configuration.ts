// Everything that is decided before the first request: configuration files and contracts, checked together. Used alike by start, check
// and the commands, so that what `check` accepts is what starts.

import { type Config, type ConfigDraft, completed, loadConfig, type Settings } from './config/load.ts';
import { type Contracts, compileAll, loadContracts } from './contract/load.ts';
import { ConfigError, condensed, type Mistake, suggest } from './mistakes.ts';

export interface Configuration {
  readonly config: Config;
  readonly contracts: Contracts;
}

/** Above this many operations schemas are compiled on first use, so that the boot stays quick: 100 take about 0.3 s. */
const COMPILED_AT_BOOT_MAX = 300;

/** Loads and checks everything. Throws ConfigError with every mistake there is, in files and contracts together. */
export async function loadConfiguration(
  settings: Settings,
  environment: Readonly<Record<string, string | undefined>>,
  compile: 'all' | 'few' = 'few',
): Promise<Configuration> {
  const mistakes: Mistake[] = [];
  const draft = loadConfig(settings.configDirectory, environment, mistakes);
  const { sources, names } = draft;
  const complete =
    sources.upstreams.value !== undefined && names.upstreams.length === Object.keys(draft.upstreams).length;
  const contracts = await loadContracts(
    {
      directory: settings.contractsDirectory,
      sources: Object.entries(draft.upstreams).map(([name, entry]) => ({
        ...entry,
        upstream: name,
        mistakeAtGlob: (index, reason, remedy) =>
          sources.upstreams.mistakeAt(['upstreams', name, 'contracts', index], reason, remedy),
      })),
      known: { upstreams: names.upstreams, limits: sources.limits.value === undefined ? undefined : names.limits },
      namedOperations: complete ? Object.keys(draft.limits?.operations ?? {}) : [],
      mistakeAtOperation: (id, reason, remedy) => sources.limits.mistakeAtKey(['operations', id], reason, remedy),
    },
    mistakes,
  );
  if (mistakes.length === 0) checkScopes(draft, contracts, mistakes);
  if (mistakes.length === 0 && (compile === 'all' || contracts.operations.length <= COMPILED_AT_BOOT_MAX)) {
    compileAll(contracts, mistakes);
  }
  const config = completed(draft);
  if (mistakes.length > 0 || !config) throw new ConfigError(condensed(mistakes));
  return { config, contracts };
}

/** A misspelt scope would grant nothing, in silence. */
function checkScopes({ gateway, sources }: ConfigDraft, { scopes }: Contracts, mistakes: Mistake[]): void {
  const known = new Set([...scopes, ...(gateway?.operatorScopes ?? [])]);
  for (const [name, { scopesMax }] of Object.entries(gateway?.issuers ?? {})) {
    for (const [index, scope] of scopesMax.entries()) {
      if (scope === '*' || known.has(scope)) continue;
      const reason = `the scope "${scope}" is unknown.`;
      mistakes.push(sources.gateway.mistakeAt(['issuers', name, 'scopesMax', index], reason, suggest(scope, known)));
    }
  }
}
