// `gateway limits …`: everything about limits that operators ask and do while gateways run.

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
    .description('show and reset what is used of limits, try limits out on recorded requests');
  addShow(limits, context, tools.withUsage);
  addReset(limits, context, tools.withUsage);
  addSimulate(limits, context, tools.load);
}
