// `gateway contract …`: commands for contract owners, before a contract is served.

import type { Command } from 'commander';
import type { Configuration } from '../../configuration.ts';
import type { CommandContext } from '../context.ts';
import { addBundle } from './bundle.ts';
import { addDiff } from './diff.ts';
import { addLint } from './lint.ts';
import { addPublish } from './publish.ts';

export interface ContractPlaces {
  /** Loads and checks everything. Rejects with ConfigError. */
  configuration(): Promise<Configuration>;
  /** Directory of the published contracts; undefined if gateway.yaml names none. */
  published(): { readonly contractsDirectory: string; readonly directory: string } | undefined;
}

export function addContractCommands(program: Command, context: CommandContext, places: ContractPlaces): void {
  const contract = program.command('contract').description('compare, check and publish contracts');
  addDiff(contract, context);
  addLint(contract, context, places);
  addBundle(contract, context, places);
  addPublish(contract, context, places);
}
