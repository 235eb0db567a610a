// `gateway keys revoke`: revokes a key, and can wait until every running gateway refuses it.

import type { Command } from 'commander';
import { keyToJson } from '../../auth/key-json.ts';
import { addChangeOptions, type ChangeFlags, tellChange, waitOf } from '../confirmations.ts';
import type { CommandContext } from '../context.ts';
import { shortTime } from '../print.ts';
import { requireRemoteFor } from '../server/options.ts';

interface RevokeFlags extends ChangeFlags {
  readonly reason?: string;
  readonly org?: string;
  readonly allowLast?: true;
}

export function addRevoke(keys: Command, context: CommandContext): void {
  const command = keys
    .command('revoke')
    .description('revoke a key for good; running gateways refuse it within a second')
    .argument('<key>', 'id of the key, key_…')
    .option('--reason <text>', 'reason for the audit log')
    .option('--org <organization>', 'with --server: its organization, for operators; default: that of your key')
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
