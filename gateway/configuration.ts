// Everything that is decided before the first request: configuration files and contracts, checked together. Used alike by start, check
// and the commands, so that what `check` accepts is what starts.

import { type Config, loadConfig, type Settings } from './config/load.ts';
import { type Contracts, compileAll, loadContracts } from './contract/load.ts';
import { ConfigError, type Mistake } from './mistakes.ts';

export interface Configuration {
  readonly config: Config;
  readonly contracts: Contracts;
}

/** Above this many operations schemas are compiled on first use, so that the boot stays quick: 100 take about 0.3 s. */
const COMPILED_AT_BOOT_MAX = 300;

/** Loads and checks everything. Throws ConfigError with every mistake there is. */
export async function loadConfiguration(
  settings: Settings,
  environment: Readonly<Record<string, string | undefined>>,
  compile: 'all' | 'few' = 'few',
): Promise<Configuration> {
  const mistakes: Mistake[] = [];
  const config = loadConfig(settings.configDirectory, environment, mistakes);
  if (!config) throw new ConfigError(mistakes);
  const { upstreams, limits } = config.sources;
  const contracts = await loadContracts(
    {
      directory: settings.contractsDirectory,
      sources: Object.entries(config.upstreams).map(([name, entry]) => ({
        ...entry,
        upstream: name,
        mistakeAtGlob: (index, reason, remedy) =>
          upstreams.mistakeAt(['upstreams', name, 'contracts', index], reason, remedy),
      })),
      known: { upstreams: Object.keys(config.upstreams), limits: Object.keys(config.limits.extra) },
      namedOperations: Object.keys(config.limits.operations),
      mistakeAtOperation: (id, reason, remedy) => limits.mistakeAtKey(['operations', id], reason, remedy),
    },
    mistakes,
  );
  if (mistakes.length === 0 && (compile === 'all' || contracts.operations.length <= COMPILED_AT_BOOT_MAX)) {
    compileAll(contracts, mistakes);
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return { config, contracts };
}
