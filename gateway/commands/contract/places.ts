// The configuration and directories for the contract commands.

import { join } from 'node:path';
import { loadConfig, loadSettings } from '../../config/load.ts';
import { loadConfiguration } from '../../configuration.ts';
import type { ContractPlaces } from './contract.ts';

export function contractPlaces(environment: Readonly<Record<string, string | undefined>>): ContractPlaces {
  return {
    configuration: () => loadConfiguration(loadSettings(environment), environment, 'all'),
    published() {
      const { configDirectory, contractsDirectory } = loadSettings(environment);
      // Ignores mistakes, because loading the whole configuration reports them.
      const published = loadConfig(configDirectory, environment, []).gateway?.publishedContracts;
      if (published === undefined) return undefined;
      return { contractsDirectory, directory: join(contractsDirectory, published) };
    },
  };
}
