// `gateway upstreams …`: commands for the services behind the gateway.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { addRetry } from './retry.ts';
import { addTry } from './try.ts';

export function addUpstreamsCommands(program: Command, context: CommandContext): void {
  const upstreams = program.command('upstreams').description('test the services behind the gateway');
  addRetry(upstreams, context);
  addTry(upstreams, context);
}
