// `gateway keys …`: creates, lists and revokes API keys.

import { type Command, Option } from 'commander';
import { isAddressRange } from '../auth/addresses.ts';
import { createIssueKey, type KeyRequest } from '../auth/issue.ts';
import type { StoredKey } from '../auth/store.ts';
import type { Mode, Organization } from '../exchange.ts';
import { type CommandContext, withStore } from './context.ts';
import { printJson, printLine, printTable, shortTime, timeOrNull } from './print.ts';
import { parseMoment, splitList, unknownName } from './read.ts';

interface CreateFlags {
  readonly org: string;
  readonly mode: Mode;
  readonly scopes: readonly string[];
  readonly name: string;
  readonly expires?: string;
  readonly allow?: readonly string[];
  readonly json?: true;
}

export function addKeysCommands(program: Command, context: CommandContext): void {
  const keys = program.command('keys').description('create, list and revoke API keys');
  addCreate(keys, context);
  addList(keys, context);
  addRevoke(keys, context);
}

/** Ends the command unless each scope exists and an organization of this kind may hold it. */
export async function requireScopes(
  context: CommandContext,
  scopes: readonly string[],
  organization: Pick<Organization, 'id' | 'operator'>,
): Promise<void> {
  if (scopes.length === 0) context.usage("--scopes is empty; '*' means every scope but the operator scopes.");
  const known = await context.knownScopes();
  const unknown = scopes.find((scope) => scope !== '*' && !known.has(scope));
  if (unknown !== undefined) context.fail(unknownName('scope', unknown, ['*', ...known]));
  const reserved = await context.operatorScopes();
  const forbidden = organization.operator ? undefined : scopes.find((scope) => reserved.has(scope));
  if (forbidden !== undefined) {
    context.fail(`The scope ${forbidden} is granted to operator organizations only, and ${organization.id} is none.`);
  }
}

function addCreate(keys: Command, context: CommandContext): void {
  keys
    .command('create')
    .description('create a key and show it, this once')
    .requiredOption('--org <organization>', 'id of the organization it belongs to')
    .addOption(new Option('--mode <mode>', 'what it reaches').choices(['live', 'test']).makeOptionMandatory())
    .requiredOption('--scopes <scope...>', "what it may do; '*' is everything but the operator scopes")
    .option('--name <name>', 'what it is for', '')
    .option('--expires <when>', 'after 90s, 15m, 24h, 30d, or at an ISO time; never if absent')
    .option('--allow <range...>', 'addresses or CIDR ranges it may be used from; any if absent')
    .option('--json', 'print one JSON object')
    .addHelpText('after', "\nExample:\n  gateway keys create --org org_acme --mode live --scopes '*' --expires 30d")
    .action(async (flags: CreateFlags) => {
      const request = requestOf(context, flags);
      const { key, record } = await withStore(context, async ({ store, digestOf }) => {
        const organization = await store.organizations.get(flags.org);
        if (organization === undefined) context.fail(`There is no organization ${flags.org}.`);
        await requireScopes(context, request.scopes, organization);
        const issued = createIssueKey({ digestOf, randomBytes: context.randomBytes, now: context.now })(request);
        await store.keys.create(issued.record);
        return issued;
      });
      if (flags.json) return printJson(context, jsonOf(record, context.now(), key));
      printLine(context, `${key}\n\nThis is the only time the key is shown: keep it where you keep secrets.\n`);
      printKeys(context, [record]);
    });
}

function requestOf(context: CommandContext, flags: CreateFlags): KeyRequest {
  const { org: organization, mode, name, expires } = flags;
  const allowedCidrs = splitList(flags.allow ?? []);
  const misspelled = allowedCidrs.find((range) => !isAddressRange(range));
  if (misspelled !== undefined) context.usage(`--allow "${misspelled}" is neither an address nor a CIDR range.`);
  const expiresAtMs = expires === undefined ? undefined : parseMoment(expires, context.now(), 1);
  if (expires !== undefined && expiresAtMs === undefined) {
    context.usage(`--expires "${expires}" is neither a duration such as 90s, 15m, 24h, 30d nor an ISO time.`);
  }
  if (expiresAtMs !== undefined && expiresAtMs <= context.now())
    context.usage(`--expires "${expires}" is not in the future.`);
  return { organization, mode, name, scopes: splitList(flags.scopes), allowedCidrs, expiresAtMs, by: context.actor };
}

function addList(keys: Command, context: CommandContext): void {
  keys
    .command('list')
    .description('list keys, oldest first')
    .option('--org <organization>', 'only those of one organization')
    .option('--json', 'print one JSON array')
    .addHelpText('after', '\nExample:\n  gateway keys list --org org_acme')
    .action(async ({ org: organization, json }: { readonly org?: string; readonly json?: true }) => {
      const records = await withStore(context, async ({ store }) => {
        if (organization !== undefined && (await store.organizations.get(organization)) === undefined) {
          context.fail(`There is no organization ${organization}.`);
        }
        return store.keys.list({ organization });
      });
      if (json)
        printJson(
          context,
          records.map((record) => jsonOf(record, context.now())),
        );
      else printKeys(context, records);
    });
}

function addRevoke(keys: Command, context: CommandContext): void {
  keys
    .command('revoke')
    .description('end a key for good; running gateways refuse it within a second')
    .argument('<key>', 'its id, key_…')
    .option('--reason <text>', 'why, for the audit log')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway keys revoke key_4fGh… --reason "found in a public repository"')
    .action(async (id: string, { reason, json }: { readonly reason?: string; readonly json?: true }) => {
      const record = await withStore(context, async ({ store }) => store.keys.revoke(id, context.actor, reason));
      if (record === undefined) context.fail(`There is no key ${id}.`);
      if (json) printJson(context, jsonOf(record, context.now()));
      else printLine(context, `The key ${id} is revoked since ${shortTime(record.revokedAtMs)}.`);
    });
}

function printKeys(context: CommandContext, records: readonly StoredKey[]): void {
  const rows = records.map((record) => [
    record.id,
    record.organization,
    record.mode,
    `${record.prefix}…${record.lastFour}`,
    record.name,
    record.scopes.join(','),
    record.allowedCidrs.join(','),
    stateOf(record, context.now()),
    shortTime(record.expiresAtMs),
    shortTime(record.lastUsedAtMs),
  ]);
  const heads = ['id', 'organization', 'mode', 'key', 'name', 'scopes', 'addresses', 'state', 'expires', 'last used'];
  printTable(context, heads, rows);
}

function stateOf({ revokedAtMs, expiresAtMs }: StoredKey, nowMs: number): 'active' | 'revoked' | 'expired' {
  if (revokedAtMs !== undefined) return 'revoked';
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? 'expired' : 'active';
}

/** Never the digest: it is nobody's business outside the store. */
function jsonOf(record: StoredKey, nowMs: number, key?: string) {
  return {
    id: record.id,
    ...(key !== undefined && { key }),
    organization: record.organization,
    mode: record.mode,
    name: record.name,
    state: stateOf(record, nowMs),
    scopes: record.scopes,
    allowed_cidrs: record.allowedCidrs,
    prefix: record.prefix,
    last_four: record.lastFour,
    created_at: timeOrNull(record.createdAtMs),
    created_by: record.createdBy,
    expires_at: timeOrNull(record.expiresAtMs),
    revoked_at: timeOrNull(record.revokedAtMs),
    revoked_by: record.revokedBy ?? null,
    revoked_reason: record.revokedReason ?? null,
    last_used_at: timeOrNull(record.lastUsedAtMs),
  };
}
