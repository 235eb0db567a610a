// The secret of a key that a remote gateway has made.

import type { RemoteNewKey } from '../../administration/client/remote-keys.ts';
import type { CommandContext } from '../context.ts';

/** Ends the command if the secret was in an answer that was lost on its way: no other answer has it. */
export function requireSecret<New extends RemoteNewKey>(
  { fail }: Pick<CommandContext, 'fail'>,
  made: New,
): New & { readonly key: string } {
  const { key, record } = made;
  if (key !== undefined) return { ...made, key };
  return fail(
    `The key ${record.id} was made, but the answer with its secret was lost on its way: revoke it, and create another one.`,
  );
}
