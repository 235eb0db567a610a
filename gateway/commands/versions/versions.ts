// `gateway versions …`: lists deprecations and the callers of deprecated operations.

import type { Command } from 'commander';
import type { Settings } from '../../config/load.ts';
import type { Configuration } from '../../configuration.ts';
import type { CommandContext } from '../context.ts';
import { addVersionsList } from './list.ts';
import { addUsage } from './usage.ts';

export interface VersionPlaces {
  settings(): Settings;
  configuration(): Promise<Configuration>;
}

export function addVersionsCommands(program: Command, context: CommandContext, places: VersionPlaces): void {
  const versions = program
    .command('versions')
    .description('show deprecations of versions, and the callers of deprecated operations');
  addVersionsList(versions, context, places);
  addUsage(versions, context, places);
}
