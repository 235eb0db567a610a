// `gateway versions …`: lists deprecations and the callers of deprecated operations.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { addVersionsList } from './list.ts';
import { addUsage } from './usage.ts';

export function addVersionsCommands(program: Command, context: CommandContext): void {
  const versions = program
    .command('versions')
    .description('show deprecations of versions, and the callers of deprecated operations');
  addVersionsList(versions, context);
  addUsage(versions, context);
}
