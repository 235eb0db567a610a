// `gateway versions usage`: lists organizations that still call deprecated operations, and writes notices for them as mail.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { deprecationsOf } from '../../versions/deprecation.ts';
import { isAddress, mailboxOf, messageOf, type Sender } from '../../versions/mail.ts';
import { type Notice, noticesOf } from '../../versions/notices.ts';
import { openUseStore } from '../../versions/open-store.ts';
import { type Affected, affectedBy, jsonOf } from '../../versions/report.ts';
import { dayOf } from '../../versions/store.ts';
import type { CommandContext } from '../context.ts';
import { counted, printJson, printLine, printTable, shortTime, timeOrNull } from '../print.ts';
import { parseMoment } from '../read.ts';
import type { Remote } from '../server/remote.ts';

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
    .option('--notices <directory>', 'write one message (.eml) per organization there')
    .option('--mbox <file>', 'write all messages into one mailbox')
    .option('--from <address>', 'sender address; default: noreply at the host of publicUrl')
    .addHelpText(
      'after',
      '\nExample:\n  gateway versions usage --since 30d --notices out/notices --from api@example.com',
    )
    .action((flags: UsageFlags) => usage(context, flags));
}

/** What the contract knows: neither names and contacts, nor which operation follows. */
async function usageRemotely(context: CommandContext, { actions }: Remote, flags: UsageFlags): Promise<void> {
  const { notices, mbox, from } = flags;
  if ((notices ?? mbox ?? from) !== undefined)
    context.usage(
      'The contract does not tell the contacts of organizations: write notices on the machine of the gateway.',
    );
  const { records } = await actions();
  const uses = await records.deprecatedUses();
  const sinceMs = requireSince(context, flags);
  const recent = uses.filter(({ lastAtMs }) => lastAtMs === undefined || lastAtMs >= sinceMs);
  if (flags.json) {
    printJson(
      context,
      recent.map(({ lastAtMs, ...use }) => ({ ...use, last_call_at: timeOrNull(lastAtMs) })),
    );
    return;
  }
  const rows = recent.map(({ organization, operation, sunset, calls, lastAtMs }) => {
    return [organization, operation, sunset ?? '', String(calls ?? ''), shortTime(lastAtMs)];
  });
  printTable(context, ['organization', 'operation', 'sunset', 'calls', 'last call'], rows);
}

function requireSince(context: CommandContext, { since }: UsageFlags): number {
  const sinceMs = parseMoment(since, context.now(), -1);
  if (sinceMs !== undefined) return sinceMs;
  return context.usage(`--since "${since}" is neither a duration such as 24h, 30d nor an ISO time.`);
}

async function usage(context: CommandContext, flags: UsageFlags): Promise<void> {
  if (context.remote !== undefined) return usageRemotely(context, context.remote, flags);
  const sinceMs = requireSince(context, flags);
  const { config, contracts } = await context.configuration();
  const { gateway } = config;
  const from = flags.from ?? `noreply@${new URL(gateway.publicUrl).hostname}`;
  if (!isAddress(from)) return context.usage(`--from "${from}" is not an address.`);
  const operations = contracts.operations.map(({ operation }) => operation);
  const deprecations = deprecationsOf(operations, gateway, gateway.publicUrl).ofOperations.values();
  const { store } = await context.keyStore();
  const affected = affectedBy(await usesSince(context, sinceMs), deprecations, await store.organizations.list());
  if (flags.json) printJson(context, affected.map(jsonOf));
  else
    printTable(
      context,
      ['organization', 'name', 'operation', 'sunset', 'calls', 'last call', 'contacts'],
      rowsOf(affected),
    );
  if (flags.notices === undefined && flags.mbox === undefined) return;
  writeNotices(context, noticesOf(affected, dayOf(sinceMs), gateway.publicUrl), { from, atMs: context.now() }, flags);
}

async function usesSince(context: CommandContext, sinceMs: number) {
  const store = await openUseStore({ ...context.settings(), now: context.now });
  try {
    return await store.list(dayOf(sinceMs));
  } catch {
    return context.fail('The store of deprecated calls cannot be reached.');
  } finally {
    await store.close();
  }
}

function rowsOf(affected: readonly Affected[]): string[][] {
  return affected.flatMap(({ id, organization, operations }) =>
    operations.map(({ deprecation, calls, lastAtMs }) => [
      id,
      organization?.name ?? '',
      deprecation.operation.id,
      deprecation.sunset ?? '',
      String(calls),
      shortTime(lastAtMs),
      organization?.contacts.join(', ') ?? '',
    ]),
  );
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
  if (json !== true) printLine(context, `Wrote ${counted(written.length, 'notice')}.`);
  for (const { organization, contacts } of notices) {
    const unusable = contacts.filter((contact) => !isAddress(contact));
    if (contacts.length === 0) context.complain(`${organization} has no contacts: tell it in another way.\n`);
    else if (unusable.length > 0)
      context.complain(`${organization}: left out ${JSON.stringify(unusable)}, which is no address.\n`);
  }
}
