// `gateway limits …`: shows, resets and simulates limits.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { addReset } from './reset.ts';
import { addShow } from './show.ts';
import { addSimulate, type LoadWithLimits } from './simulate.ts';
import type { WithUsage } from './usage.ts';

export interface LimitsTools {
  readonly withUsage: WithUsage;
  readonly load: LoadWithLimits;
}

export function addLimitsCommands(program: Command, context: CommandContext, tools: LimitsTools): void {
  const limits = program
    .command('limits')
    .description('show and reset the use of limits, simulate limits on recorded requests');
  addShow(limits, context, tools.withUsage);
  addReset(limits, context, tools.withUsage);
  addSimulate(limits, context, tools.load);
}
