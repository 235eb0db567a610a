// `gateway keys scopes`: adds scopes to a key or takes them away; the key itself stays as its holder has it.

import type { Command } from 'commander';
import { keyToJson } from '../../auth/key-json.ts';
import { addChangeOptions, type ChangeFlags, tellChange, waitOf } from '../confirmations.ts';
import type { CommandContext } from '../context.ts';
import { splitList } from '../read.ts';
import { requireRemoteFor } from '../server/options.ts';

interface ScopesFlags extends ChangeFlags {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
  readonly org?: string;
}

export function addScopes(keys: Command, context: CommandContext): void {
  const command = keys
    .command('scopes')
    .description('add scopes to a key, or take them away; in force within a second')
    .argument('<key>', 'id of the key, key_…')
    .option('--add <scope...>', 'scopes that it gets, such as those of a new service')
    .option('--remove <scope...>', 'scopes that it loses')
    .option('--org <organization>', 'with --server: its organization, for operators; default: that of your key');
  addChangeOptions(command)
    .addHelpText('after', '\nExample:\n  gateway keys scopes key_4fGh… --add orders:read orders:write')
    .action((id: string, flags: ScopesFlags) => changeScopes(context, id, flags));
}

async function changeScopes(context: CommandContext, id: string, flags: ScopesFlags): Promise<void> {
  const waitMs = waitOf(context, flags);
  requireRemoteFor(context, { '--org': flags.org });
  const [add, remove] = [splitList(flags.add ?? []), splitList(flags.remove ?? [])];
  if (add.length + remove.length === 0) return context.usage('Name scopes with --add or --remove.');
  const both = add.find((scope) => remove.includes(scope));
  if (both !== undefined) return context.usage(`The scope ${both} is in --add and in --remove.`);
  const keys = await context.actions('keys');
  const made = await keys.changeScopes({ id, organization: flags.org }, { add, remove }, waitMs);
  const sentence = `The key ${id} has ${made.result.scopes.join(', ')}.`;
  await tellChange(context, flags, made, { object: keyToJson(made.result, context.now()), sentence });
}
