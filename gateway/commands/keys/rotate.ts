// `gateway keys rotate`: creates a successor for a key; both work until the overlap ends.

import type { Command } from 'commander';
import type { KeyRotation } from '../../administration/actions.ts';
import { keyState, keyToJson } from '../../auth/key-json.ts';
import { addChangeOptions, type ChangeFlags, tellChange, waitOf } from '../confirmations.ts';
import type { CommandContext } from '../context.ts';
import { printLine, shortTime } from '../print.ts';
import { parseDurationMs } from '../read.ts';
import { requireRemoteFor } from '../server/options.ts';
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
    .description('replace a key with a new one that has the same rights; both work until the overlap ends')
    .argument('<key>', 'id of the key to replace, key_…')
    .option('--overlap <duration>', 'how long the old key keeps working: 0s, 90s, 15m, 24h, 30d', '24h')
    .option('--expires <when>', 'when the new key expires; if absent, after the same lifetime as the old key')
    .option(
      '--org <organization>',
      'with --server: its organization, for operators; default: the organization of your key',
    );
  addChangeOptions(command)
    .addHelpText(
      'after',
      '\nExample:\n  gateway keys rotate key_4fGh… --overlap 7d\n  gateway keys rotate key_4fGh… --overlap 0s --wait   (the key has leaked)',
    )
    .action((id: string, flags: RotateFlags) => rotate(context, id, flags));
}

async function rotate(context: CommandContext, id: string, flags: RotateFlags): Promise<void> {
  const { overlap, expires, org: organization } = flags;
  const waitMs = waitOf(context, flags);
  requireRemoteFor(context, { '--org': organization });
  const overlapMs = parseDurationMs(overlap);
  if (overlapMs === undefined)
    return context.usage(`--overlap "${overlap}" is not a duration such as 0s, 15m, 24h, 30d.`);
  const expiresAtMs = expires === undefined ? undefined : requireExpiry(context, expires);
  const keys = await context.actions('keys');
  const made = await keys.rotate({ id, organization }, { overlapMs, expiresAtMs }, waitMs);
  // This comes before the wait, because a key that is not printed is lost.
  if (!flags.json) printRotation(context, made.result);
  const object = toJson(made.result, context.now());
  await tellChange(context, flags, made, { object, sentence: sentenceOf(context, made.result) });
}

function printRotation(context: CommandContext, { key, record, previous }: KeyRotation): void {
  printNewKey(context, key);
  printKeys(context, [previous, record]);
  printLine(context, '');
}

function sentenceOf(context: CommandContext, { record, previous }: KeyRotation): string {
  const since = shortTime(previous.expiresAtMs);
  const end =
    keyState(previous, context.now()) === 'expired'
      ? `ends at ${since}: running gateways refuse it within a second`
      : `works until ${since}`;
  return `The key ${previous.id} ${end}; ${record.id} works from now on.`;
}

function toJson({ key, record, previous }: KeyRotation, nowMs: number) {
  return { ...keyToJson(record, nowMs, key), replaces: previous.id, previous: keyToJson(previous, nowMs) };
}
