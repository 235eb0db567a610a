// `gateway keys revoke`: revokes a key, and can wait until every running gateway refuses it.

import type { Command } from 'commander';
import { revokeKey } from '../../administration/keys.ts';
import { keyToJson } from '../../auth/key-json.ts';
import { actionDepsOf, actorOf, orFail } from '../acting.ts';
import { addChangeOptions, type ChangeFlags, requireTimeout, tellChange } from '../confirmations.ts';
import type { CommandContext } from '../context.ts';
import { shortTime } from '../print.ts';

interface RevokeFlags extends ChangeFlags {
  readonly reason?: string;
}

export function addRevoke(keys: Command, context: CommandContext): void {
  const revoke = keys
    .command('revoke')
    .description('revoke a key for good; running gateways refuse it within a second')
    .argument('<key>', 'id of the key, key_…')
    .option('--reason <text>', 'reason for the audit log');
  addChangeOptions(revoke)
    .addHelpText('after', '\nExample:\n  gateway keys revoke key_4fGh… --reason "found in a public repository" --wait')
    .action(async (id: string, flags: RevokeFlags) => {
      const timeoutMs = requireTimeout(context, flags);
      const deps = await actionDepsOf(context);
      const revocation = { id, organization: undefined, reason: flags.reason || undefined, allowLast: true };
      const record = await orFail(context, revokeKey(deps)(actorOf(context), revocation), {
        resource_missing: () => `There is no key ${id}.`,
      });
      const sentence = `The key ${id} is revoked since ${shortTime(record.revokedAtMs)}.`;
      await tellChange(context, deps.store, flags, timeoutMs, { object: keyToJson(record, context.now()), sentence });
    });
}
