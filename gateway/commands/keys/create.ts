// `gateway keys create`: creates a key for an organization.

import { type Command, Option } from 'commander';
import type { NewKeyRequest } from '../../administration/actions.ts';
import { isAddressRange } from '../../auth/address-ranges.ts';
import { keyToJson } from '../../auth/key-json.ts';
import type { Mode } from '../../exchange/caller.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine } from '../print.ts';
import { isName, parseMoment, splitList } from '../read.ts';
import { addOrganizationOption } from '../server/options.ts';
import { printKeys, printNewKey } from './print.ts';

interface CreateFlags {
  /** The organization; at a remote gateway, undefined for the organization of the acting key. */
  readonly org?: string;
  readonly mode: Mode;
  readonly scopes: readonly string[];
  readonly name: string;
  readonly expires?: string;
  readonly allow?: readonly string[];
  readonly json?: true;
  readonly print?: 'key';
}

export function addCreate(keys: Command, context: CommandContext): void {
  const create = keys.command('create').description('create a key and show it once');
  addOrganizationOption(create, context, 'id of the organization that owns the key')
    .addOption(
      new Option('--mode <mode>', 'which targets of the upstreams the key reaches')
        .choices(['live', 'test'])
        .makeOptionMandatory(),
    )
    .requiredOption('--scopes <scope...>', "scopes of the key; '*' is every scope but the operator scopes")
    .option('--name <name>', 'purpose of the key', '')
    .option('--expires <when>', 'when the key expires: after 90s, 15m, 24h, 30d, or at an ISO time; never if absent')
    .option('--allow <range...>', 'client addresses or CIDR ranges that may use the key; any if absent')
    .option('--json', 'print one JSON object')
    .addOption(
      new Option('--print <what>', 'print nothing but the key, for scripts').choices(['key']).conflicts('json'),
    )
    .addHelpText(
      'after',
      "\nExamples:\n  gateway keys create --org org_acme --mode live --scopes '*' --expires 30d\n  KEY=$(gateway keys create --org org_acme --mode live --scopes orders:read --print key)",
    )
    .action(async (flags: CreateFlags) => {
      const request = requestOf(context, flags);
      const ofKeys = await context.actions('keys');
      const { key, record } = await ofKeys.create(request);
      if (flags.print === 'key') return printLine(context, key);
      if (flags.json) return printJson(context, keyToJson(record, context.now(), key));
      printNewKey(context, key);
      printKeys(context, [record]);
    });
}

/** Ends the command if there is no scope. */
export function requireSomeScopes({ usage }: CommandContext, scopes: readonly string[]): void {
  if (scopes.length === 0) usage("--scopes is empty; '*' means every scope but the operator scopes.");
}

/** Parses `--expires` to epoch milliseconds. Ends the command unless it is a time in the future. */
export function requireExpiry(context: CommandContext, expires: string): number {
  const expiresAtMs = parseMoment(expires, context.now(), 1);
  if (expiresAtMs === undefined) {
    context.usage(`--expires "${expires}" is neither a duration such as 90s, 15m, 24h, 30d nor an ISO time.`);
  }
  if (expiresAtMs <= context.now()) context.usage(`--expires "${expires}" is not in the future.`);
  return expiresAtMs;
}

function requestOf(context: CommandContext, flags: CreateFlags): NewKeyRequest {
  const { org: organization, mode, name, expires } = flags;
  if (!isName(name)) context.usage('--name is not one line of up to 200 characters.');
  const allowedCidrs = splitList(flags.allow ?? []);
  const misspelled = allowedCidrs.find((range) => !isAddressRange(range));
  if (misspelled !== undefined) context.usage(`--allow "${misspelled}" is neither an address nor a CIDR range.`);
  const expiresAtMs = expires === undefined ? undefined : requireExpiry(context, expires);
  const scopes = splitList(flags.scopes);
  requireSomeScopes(context, scopes);
  return { organization, mode, name, scopes, allowedCidrs, expiresAtMs };
}
