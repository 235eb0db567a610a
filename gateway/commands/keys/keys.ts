// `gateway keys …`: manages API keys. `revoke` ends a key, and can wait until every running gateway refuses it; `scopes` adds scopes to a
// key or removes scopes from it, and the text of the key stays the same.

import type { Command } from 'commander';
import { keyToJson } from '../../auth/key-json.ts';
import { addChangeOptions, type ChangeFlags, tellChange, waitOf } from '../confirmations.ts';
import type { CommandContext } from '../context.ts';
import { shortTime } from '../print.ts';
import { splitList } from '../read.ts';
import { requireRemoteFor } from '../server/options.ts';
import { addCreate } from './create.ts';
import { addExport } from './export.ts';
import { addImport } from './import.ts';
import { addKeysList } from './list.ts';
import { addRotate } from './rotate.ts';

export function addKeysCommands(program: Command, context: CommandContext): void {
  const keys = program.command('keys').description('create, list, change, rotate, revoke, export and import API keys');
  addCreate(keys, context);
  addKeysList(keys, context);
  addScopes(keys, context);
  addRotate(keys, context);
  addRevoke(keys, context);
  addExport(keys, context);
  addImport(keys, context);
}

interface RevokeFlags extends ChangeFlags {
  readonly reason?: string;
  readonly org?: string;
  readonly allowLast?: true;
}

function addRevoke(keys: Command, context: CommandContext): void {
  const command = keys
    .command('revoke')
    .description('revoke a key permanently; running gateways refuse it within a second')
    .argument('<key>', 'id of the key, key_…')
    .option('--reason <text>', 'reason for the audit log')
    .option(
      '--org <organization>',
      'with --server: its organization, for operators; default: the organization of your key',
    )
    .option('--allow-last', 'with --server: even if it is the last usable key of its organization');
  addChangeOptions(command)
    .addHelpText('after', '\nExample:\n  gateway keys revoke key_4fGh… --reason "found in a public repository" --wait')
    .action((id: string, flags: RevokeFlags) => revoke(context, id, flags));
}

async function revoke(context: CommandContext, id: string, flags: RevokeFlags): Promise<void> {
  const { org: organization, reason, allowLast } = flags;
  const waitMs = waitOf(context, flags);
  requireRemoteFor(context, { '--org': organization, '--allow-last': allowLast });
  const keys = await context.actions('keys');
  const how = { reason: reason || undefined, allowLast: allowLast === true };
  const made = await keys.revoke({ id, organization }, how, waitMs);
  const sentence = `The key ${id} is revoked since ${shortTime(made.result.revokedAtMs)}.`;
  await tellChange(context, flags, made, { object: keyToJson(made.result, context.now()), sentence });
}

interface ScopesFlags extends ChangeFlags {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
  readonly org?: string;
}

function addScopes(keys: Command, context: CommandContext): void {
  const command = keys
    .command('scopes')
    .description('add scopes to a key, or remove them; takes effect within a second')
    .argument('<key>', 'id of the key, key_…')
    .option('--add <scope...>', 'scopes to add, such as those of a new service')
    .option('--remove <scope...>', 'scopes to remove')
    .option(
      '--org <organization>',
      'with --server: its organization, for operators; default: the organization of your key',
    );
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
