// `gateway limits …`: shows, resets and simulates limits.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { addReset } from './reset.ts';
import { addShow } from './show.ts';
import { addSimulate } from './simulate/simulate.ts';

export function addLimitsCommands(program: Command, context: CommandContext): void {
  const limits = program
    .command('limits')
    .description('show and reset the use of limits, simulate limits on recorded requests');
  addShow(limits, context);
  addReset(limits, context);
  addSimulate(limits, context);
}
