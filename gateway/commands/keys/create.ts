// `gateway keys create`: creates a key for an organization.

import { type Command, Option } from 'commander';
import { scopeMistakeOf } from '../../administration/grants.ts';
import { createKey, type MadeKey } from '../../administration/keys.ts';
import { isAddressRange } from '../../auth/address-ranges.ts';
import type { KeyRequest } from '../../auth/issue-key.ts';
import { keyToJson } from '../../auth/key-json.ts';
import type { Mode, Organization } from '../../caller.ts';
import { scopeRulesOf } from '../../configuration.ts';
import { actionDepsOf, actorOf } from '../acting.ts';
import type { CommandContext } from '../context.ts';
import { printJson } from '../print.ts';
import { isName, parseMoment, splitList, unknownName } from '../read.ts';
import { addOrganizationOption } from '../server/organization-option.ts';
import { requireSecret } from '../server/secret.ts';
import { printKeys, printNewKey } from './print.ts';

interface CreateFlags {
  /** Undefined at a remote gateway only: the organization of the key that acts. */
  readonly org?: string;
  readonly mode: Mode;
  readonly scopes: readonly string[];
  readonly name: string;
  readonly expires?: string;
  readonly allow?: readonly string[];
  readonly json?: true;
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
    .addHelpText('after', "\nExample:\n  gateway keys create --org org_acme --mode live --scopes '*' --expires 30d")
    .action(async (flags: CreateFlags) => {
      const request = requestOf(context, flags);
      const { key = '', record } = await issue(context, request, flags.org);
      if (flags.json) return printJson(context, keyToJson(record, context.now(), key));
      printNewKey(context, key);
      printKeys(context, [record]);
    });
}

async function issue(
  context: CommandContext,
  request: Omit<KeyRequest, 'by'>,
  owner: string | undefined,
): Promise<MadeKey> {
  if (context.remote !== undefined) {
    const { keys } = await context.remote.actions();
    return requireSecret(context, await keys.create(owner, request));
  }
  const deps = await actionDepsOf(context);
  const organization = await deps.store.organizations.get(request.organization);
  if (organization === undefined) context.fail(`There is no organization ${request.organization}.`);
  await requireScopes(context, request.scopes, organization);
  return createKey(deps)(actorOf(context), request);
}

/** Ends the command unless each scope exists and this organization may hold it. */
export async function requireScopes(
  context: CommandContext,
  scopes: readonly string[],
  organization: Pick<Organization, 'id' | 'operator'>,
): Promise<void> {
  if (scopes.length === 0) context.usage("--scopes is empty; '*' means every scope but the operator scopes.");
  const configuration = await context.configuration();
  const known = configuration.contracts.scopes;
  const mistake = scopeMistakeOf(scopes, organization, known, scopeRulesOf(configuration));
  if (mistake?.kind === 'unknown') context.fail(unknownName('scope', mistake.scope, ['*', ...known]));
  if (mistake?.kind === 'operators_only') {
    context.fail(
      `The scope ${mistake.scope} is granted to operator organizations only, and ${organization.id} is none.`,
    );
  }
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

function requestOf(context: CommandContext, flags: CreateFlags): Omit<KeyRequest, 'by'> {
  const { org: organization = '', mode, name, expires } = flags;
  if (!isName(name)) context.usage('--name is not one line of up to 200 characters.');
  const allowedCidrs = splitList(flags.allow ?? []);
  const misspelled = allowedCidrs.find((range) => !isAddressRange(range));
  if (misspelled !== undefined) context.usage(`--allow "${misspelled}" is neither an address nor a CIDR range.`);
  const expiresAtMs = expires === undefined ? undefined : requireExpiry(context, expires);
  return { organization, mode, name, scopes: splitList(flags.scopes), allowedCidrs, expiresAtMs };
}
