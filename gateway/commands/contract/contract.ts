// `gateway contract …`: what contract owners do before their contract is served.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { addDiff } from './diff.ts';

export function addContractCommands(program: Command, context: CommandContext): void {
  const contract = program.command('contract').description('compare, check and publish contracts');
  addDiff(contract, context);
}
