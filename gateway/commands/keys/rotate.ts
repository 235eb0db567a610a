// `gateway keys rotate`: creates a successor for a key; both work until the overlap ends.

import type { Command } from 'commander';
import { type RotatedKey, rotateKey } from '../../administration/keys.ts';
import { keyState, keyToJson } from '../../auth/key-json.ts';
import type { KeyStore } from '../../auth/store/key-store.ts';
import { actionDepsOf, actorOf, orFail } from '../acting.ts';
import { addChangeOptions, type ChangeFlags, requireTimeout, tellChange } from '../confirmations.ts';
import type { CommandContext } from '../context.ts';
import { printLine, shortTime } from '../print.ts';
import { parseDurationMs } from '../read.ts';
import { tellInForce, waitSecondsOf } from '../server/in-force.ts';
import { requireRemoteFor } from '../server/organization-option.ts';
import type { Remote } from '../server/remote.ts';
import { requireSecret } from '../server/secret.ts';
import { requireExpiry } from './create.ts';
import { printKeys, printNewKey } from './print.ts';

interface RotateFlags extends ChangeFlags {
  readonly overlap: string;
  readonly expires?: string;
  readonly org?: string;
}

export function addRotate(keys: Command, context: CommandContext): void {
  const command = keys
    .command('rotate')
    .description('replace a key by a new one with the same rights; both work until the overlap ends')
    .argument('<key>', 'id of the key to replace, key_…')
    .option('--overlap <duration>', 'how long the old key keeps working: 0s, 90s, 15m, 24h, 30d', '24h')
    .option('--expires <when>', 'when the new key expires; if absent, after the same lifetime as the old key')
    .option('--org <organization>', 'with --server: its organization, for operators; default: that of your key');
  addChangeOptions(command)
    .addHelpText(
      'after',
      '\nExample:\n  gateway keys rotate key_4fGh… --overlap 7d\n  gateway keys rotate key_4fGh… --overlap 0s --wait   (the key has leaked)',
    )
    .action(async (id: string, flags: RotateFlags) => {
      const { overlap, expires } = flags;
      const timeoutMs = requireTimeout(context, flags);
      requireRemoteFor(context, { '--org': flags.org });
      const overlapMs = parseDurationMs(overlap);
      if (overlapMs === undefined) context.usage(`--overlap "${overlap}" is not a duration such as 0s, 15m, 24h, 30d.`);
      const expiresAtMs = expires === undefined ? undefined : requireExpiry(context, expires);
      if (context.remote !== undefined) {
        await rotateRemotely(context, context.remote, id, { ...flags, overlapMs, expiresAtMs, timeoutMs });
        return;
      }
      const deps = await actionDepsOf(context);
      const rotating = rotateKey(deps)(actorOf(context), { id, organization: undefined, overlapMs, expiresAtMs });
      const rotation = await orFail(context, rotating, {
        resource_missing: () => `There is no key ${id}.`,
        invalid_transition: () => whyNot(deps.store, id, context.now()),
      });
      // Before the wait: a key that is not printed is lost.
      if (!flags.json) printRotation(context, rotation);
      const object = toJson(rotation, context.now());
      await tellChange(context, deps.store, flags, timeoutMs, { object, sentence: sentenceOf(context, rotation) });
    });
}

interface RemoteInput extends RotateFlags {
  readonly overlapMs: number;
  readonly expiresAtMs: number | undefined;
  readonly timeoutMs: number;
}

/** The answer that has the key comes after the wait. */
async function rotateRemotely(
  context: CommandContext,
  { actions }: Remote,
  id: string,
  input: RemoteInput,
): Promise<void> {
  const waitSeconds = waitSecondsOf(context, input, input.timeoutMs);
  const { keys } = await actions();
  const rotation = requireSecret(context, await keys.rotate({ id, organization: input.org }, input, waitSeconds));
  if (!input.json) printRotation(context, rotation);
  const object = toJson(rotation, context.now());
  tellInForce(context, input, rotation.inForce, { object, sentence: sentenceOf(context, rotation) });
}

/** The reason for a failed rotation; reads the key again, because another command may have changed it meanwhile. */
async function whyNot({ keys }: KeyStore, id: string, nowMs: number): Promise<string> {
  const key = await keys.get(id);
  if (key === undefined) return `There is no key ${id}.`;
  const state = keyState(key, nowMs);
  if (state === 'revoked') {
    return `The key ${id} is revoked since ${shortTime(key.revokedAtMs)}: create a new one instead.`;
  }
  if (key.replacedBy !== undefined) {
    return `The key ${id} was rotated already: its successor is ${key.replacedBy}, which can be rotated in turn.`;
  }
  return `The key ${id} expired on ${shortTime(key.expiresAtMs)}: create a new one instead.`;
}

function printRotation(context: CommandContext, { key = '', record, previous }: RotatedKey): void {
  printNewKey(context, key);
  printKeys(context, [previous, record]);
  printLine(context, '');
}

function sentenceOf(context: CommandContext, { record, previous }: RotatedKey): string {
  const since = shortTime(previous.expiresAtMs);
  const end =
    keyState(previous, context.now()) === 'expired'
      ? `ends at ${since}: running gateways refuse it within a second`
      : `works until ${since}`;
  return `The key ${previous.id} ${end}; ${record.id} works from now on.`;
}

function toJson({ key, record, previous }: RotatedKey, nowMs: number) {
  return { ...keyToJson(record, nowMs, key), replaces: previous.id, previous: keyToJson(previous, nowMs) };
}
