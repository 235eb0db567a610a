// `gateway versions usage`: lists organizations that still call deprecated operations, and writes notices for them as mail.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { CallerOfDeprecated } from '../../administration/actions.ts';
import { isAddress, mailboxOf, messageOf, type Sender } from '../../versions/mail.ts';
import type { Notice } from '../../versions/notices.ts';
import type { CommandContext } from '../context.ts';
import { countText, printJson, printLine, printTable, shortTime } from '../print.ts';
import { parseMoment } from '../read.ts';
import { requireNoRemoteFor } from '../server/options.ts';

interface UsageFlags {
  readonly since: string;
  readonly json?: true;
  readonly notices?: string;
  readonly mbox?: string;
  readonly from?: string;
}

export function addUsage(versions: Command, context: CommandContext): void {
  versions
    .command('usage')
    .description('list the organizations that call deprecated operations, and write notices for them')
    .option('--since <when>', 'calls of the last 24h, 30d, or since an ISO time; whole days, UTC', '90d')
    .option('--json', 'print one JSON array')
    .option('--notices <directory>', 'directory for the messages, one (.eml) for each organization')
    .option('--mbox <file>', 'file for all messages, as one mailbox')
    .option('--from <address>', 'sender address; default: noreply at the host of publicUrl')
    .addHelpText(
      'after',
      '\nExample:\n  gateway versions usage --since 30d --notices out/notices --from api@example.com',
    )
    .action((flags: UsageFlags) => usage(context, flags));
}

function requireSince(context: CommandContext, { since }: UsageFlags): number {
  const sinceMs = parseMoment(since, context.now(), -1);
  if (sinceMs !== undefined) return sinceMs;
  return context.usage(`--since "${since}" is neither a duration such as 24h, 30d nor an ISO time.`);
}

async function usage(context: CommandContext, flags: UsageFlags): Promise<void> {
  const { notices, mbox, from } = flags;
  requireNoRemoteFor(
    context,
    { '--notices': notices, '--mbox': mbox, '--from': from },
    'The contract does not tell the contacts of organizations: write notices on the machine of the gateway.',
  );
  const sinceMs = requireSince(context, flags);
  const writesNotices = (notices ?? mbox) !== undefined;
  const sender =
    writesNotices || from !== undefined ? { from: await senderOf(context, from), atMs: context.now() } : undefined;
  const deprecations = await context.actions('deprecations');
  const callers = await deprecations.uses(sinceMs);
  if (flags.json) printJson(context, callers);
  else
    printTable(
      context,
      ['organization', 'name', 'operation', 'sunset', 'calls', 'last call', 'contacts'],
      callers.flatMap(rowsOf),
    );
  if (sender !== undefined && writesNotices) writeNotices(context, await deprecations.notices(sinceMs), sender, flags);
}

/** Ends the command unless the sender is an address. Default: noreply at the host of publicUrl. */
async function senderOf(context: CommandContext, from: string | undefined): Promise<string> {
  const { config } = await context.configuration();
  const address = from ?? `noreply@${new URL(config.gateway.publicUrl).hostname}`;
  return isAddress(address) ? address : context.usage(`--from "${address}" is not an address.`);
}

function rowsOf({ organization, name, contacts, operations }: CallerOfDeprecated): string[][] {
  return operations.map(({ operation, sunset, calls, last_call_at: at }) => [
    organization,
    name ?? '',
    operation,
    sunset ?? '',
    String(calls ?? ''),
    at === null ? '' : shortTime(Date.parse(at)),
    contacts.join(', '),
  ]);
}

/** Writes the notices, and complains about organizations without usable contacts. */
function writeNotices(
  context: CommandContext,
  notices: readonly Notice[],
  sender: Sender,
  { notices: directory, mbox, json }: UsageFlags,
): void {
  const written = notices.flatMap((notice) => {
    const message = messageOf(notice, sender);
    return message === undefined ? [] : { ...notice, message };
  });
  if (directory !== undefined) {
    mkdirSync(directory, { recursive: true });
    for (const { organization, message } of written)
      writeFileSync(join(directory, `${organization.replace(/[^\w-]/g, '_')}.eml`), message);
  }
  if (mbox !== undefined)
    writeFileSync(
      mbox,
      mailboxOf(
        written.map(({ message }) => message),
        sender,
      ),
    );
  if (json !== true) printLine(context, `Wrote ${countText(written.length, 'notice')}.`);
  for (const { organization, contacts } of notices) {
    const unusable = contacts.filter((contact) => !isAddress(contact));
    if (contacts.length === 0) context.complain(`${organization} has no contacts: tell it in another way.\n`);
    else if (unusable.length > 0)
      context.complain(`${organization}: left out ${JSON.stringify(unusable)}, which is no address.\n`);
  }
}
