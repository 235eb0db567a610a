// `gateway contract …`: commands for contract owners, before a contract is served.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { addBundle } from './bundle.ts';
import { addDiff } from './diff.ts';
import { addLint } from './lint.ts';
import { addPublish } from './publish.ts';

export function addContractCommands(program: Command, context: CommandContext): void {
  const contract = program.command('contract').description('compare, check and publish contracts');
  addDiff(contract, context);
  addLint(contract, context);
  addBundle(contract, context);
  addPublish(contract, context);
}
