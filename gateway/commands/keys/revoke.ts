// `gateway keys revoke`: revokes a key, and can wait until every running gateway refuses it.

import type { Command } from 'commander';
import { revokeKey } from '../../administration/keys.ts';
import { keyToJson } from '../../auth/key-json.ts';
import type { StoredKey } from '../../auth/store/key-store.ts';
import { actionDepsOf, actorOf, orFail } from '../acting.ts';
import { addChangeOptions, type ChangeFlags, type ChangeResult, requireTimeout, tellChange } from '../confirmations.ts';
import type { CommandContext } from '../context.ts';
import { shortTime } from '../print.ts';
import { tellInForce, waitSecondsOf } from '../server/in-force.ts';
import { requireRemoteFor } from '../server/organization-option.ts';
import type { Remote } from '../server/remote.ts';

interface RevokeFlags extends ChangeFlags {
  readonly reason?: string;
  readonly org?: string;
  readonly allowLast?: true;
}

export function addRevoke(keys: Command, context: CommandContext): void {
  const revoke = keys
    .command('revoke')
    .description('revoke a key for good; running gateways refuse it within a second')
    .argument('<key>', 'id of the key, key_…')
    .option('--reason <text>', 'reason for the audit log')
    .option('--org <organization>', 'with --server: its organization, for operators; default: that of your key')
    .option('--allow-last', 'with --server: even if it is the last usable key of its organization');
  addChangeOptions(revoke)
    .addHelpText('after', '\nExample:\n  gateway keys revoke key_4fGh… --reason "found in a public repository" --wait')
    .action(async (id: string, flags: RevokeFlags) => {
      const timeoutMs = requireTimeout(context, flags);
      requireRemoteFor(context, { '--org': flags.org, '--allow-last': flags.allowLast });
      if (context.remote !== undefined) return revokeRemotely(context, context.remote, id, flags, timeoutMs);
      const deps = await actionDepsOf(context);
      const revocation = { id, organization: undefined, reason: flags.reason || undefined, allowLast: true };
      const record = await orFail(context, revokeKey(deps)(actorOf(context), revocation), {
        resource_missing: () => `There is no key ${id}.`,
      });
      await tellChange(context, deps.store, flags, timeoutMs, resultOf(context, record));
    });
}

async function revokeRemotely(
  context: CommandContext,
  { actions }: Remote,
  id: string,
  flags: RevokeFlags,
  timeoutMs: number,
): Promise<void> {
  const { org: organization, reason, allowLast = false } = flags;
  const waitSeconds = waitSecondsOf(context, flags, timeoutMs);
  const { keys } = await actions();
  const what = { reason: reason || undefined, allowLast };
  const { record, inForce } = await keys.revoke({ id, organization }, what, waitSeconds);
  tellInForce(context, flags, inForce, resultOf(context, record));
}

function resultOf({ now }: CommandContext, record: StoredKey): ChangeResult {
  const sentence = `The key ${record.id} is revoked since ${shortTime(record.revokedAtMs)}.`;
  return { object: keyToJson(record, now()), sentence };
}
