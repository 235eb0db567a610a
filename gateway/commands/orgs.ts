// `gateway orgs …`: creates, lists and changes organizations.

import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { OrganizationChange } from '../administration/actions.ts';
import { newOrganizationId, ORGANIZATION_ID } from '../auth/issue-key.ts';
import type { Organization } from '../exchange/caller.ts';
import { addChangeOptions, type ChangeFlags, tellChange, waitOf } from './confirmations.ts';
import type { CommandContext } from './context.ts';
import { addPartOptions, firstOf, limitIn, type PartFlags, printNextPart } from './part.ts';
import { printJson, printLine, printTable } from './print.ts';
import { isName, splitList } from './read.ts';
import { requireNoRemoteFor } from './server/options.ts';

const E_MAIL = /^[^\s@,]+@[^\s@,]+$/;

interface CreateFlags {
  readonly id?: string;
  readonly name: string;
  readonly tier: string;
  readonly operator?: true;
  readonly contact?: readonly string[];
  readonly json?: true;
}

interface ListFlags extends PartFlags {
  readonly json?: true;
}

export function addOrgsCommands(program: Command, context: CommandContext): void {
  const orgs = program.command('orgs').description('create, list and change organizations');
  addCreate(orgs, context);
  addList(orgs, context);
  const setTier = orgs
    .command('set-tier')
    .description('change the tier of an organization, for all its keys at once')
    .argument('<organization>', 'id of the organization')
    .argument('<tier>', 'a tier of limits.yaml');
  addChangeOptions(setTier)
    .addHelpText('after', '\nExample:\n  gateway orgs set-tier org_acme premium')
    .action((id: string, tier: string, flags: ChangeFlags) => change(context, id, flags, { tier }));
  const suspend = orgs
    .command('suspend')
    .description('refuse every request of an organization until it is resumed')
    .argument('<organization>', 'id of the organization');
  addChangeOptions(suspend)
    .addHelpText('after', '\nExample:\n  gateway orgs suspend org_acme --wait')
    .action((id: string, flags: ChangeFlags) => change(context, id, flags, 'suspend'));
  const resume = orgs
    .command('resume')
    .description('resume a suspended organization')
    .argument('<organization>', 'id of the organization');
  addChangeOptions(resume)
    .addHelpText('after', '\nExample:\n  gateway orgs resume org_acme')
    .action((id: string, flags: ChangeFlags) => change(context, id, flags, 'resume'));
}

function addCreate(orgs: Command, context: CommandContext): void {
  orgs
    .command('create')
    .description('create an organization')
    .option('--id <id>', 'org_ and up to 64 letters, digits, "_" or "-"; generated if absent')
    .requiredOption('--name <name>', 'display name')
    .requiredOption('--tier <tier>', 'a tier of limits.yaml')
    .option('--operator', "an organization of the platform's own staff, which may hold operator scopes")
    .option('--contact <email...>', 'e-mail addresses for notices')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway orgs create --id org_acme --name Acme --tier premium')
    .action(async (flags: CreateFlags) => {
      const id = flags.id ?? newOrganizationId(randomBytes);
      const contacts = splitList(flags.contact ?? []);
      if (!ORGANIZATION_ID.test(id)) {
        context.usage(`--id "${id}" is not of the form org_ and 1 to 64 letters, digits, "_" or "-".`);
      }
      if (flags.name.trim() === '') context.usage('--name is empty.');
      if (!isName(flags.name)) context.usage('--name is not one line of up to 200 characters.');
      const misspelled = contacts.find((contact) => !E_MAIL.test(contact));
      if (misspelled !== undefined) context.usage(`--contact "${misspelled}" is not an e-mail address.`);
      const { name, tier, operator = false } = flags;
      requireNoRemoteFor(
        context,
        { '--operator': flags.operator },
        'The contract makes no operator organizations: give this command on its machine.',
      );
      const organizations = await context.actions('organizations');
      const organization = await organizations.create({ id, name, tier, contacts, operator });
      if (flags.json) printJson(context, jsonOf(organization));
      else printLine(context, `Created the organization ${id} ("${name}") on tier ${tier}.`);
    });
}

function addList(orgs: Command, context: CommandContext): void {
  const list = orgs.command('list').description('list organizations, sorted by id');
  addPartOptions(list, 'organization')
    .option('--json', 'print one JSON array')
    .addHelpText('after', '\nExample:\n  gateway orgs list')
    .action((flags: ListFlags) => listOrganizations(context, flags));
}

async function listOrganizations(context: CommandContext, flags: ListFlags): Promise<void> {
  const { after, json } = flags;
  const limit = limitIn(context, flags, json === undefined);
  const organizations = await context.actions('organizations');
  const { items, hasMore } = await firstOf(organizations.list(after), limit);
  if (json) return printJson(context, items.map(jsonOf));
  const rows = items.map(({ id, name, tier, state, operator, contacts }) => {
    return [id, name, tier, state, operator ? 'yes' : '', contacts.join(', ')];
  });
  printTable(context, ['id', 'name', 'tier', 'state', 'operator', 'contacts'], rows);
  const { id: lastId } = items.at(-1) ?? {};
  const size = flags.limit === undefined ? [] : [`--limit ${flags.limit}`];
  if (hasMore && lastId !== undefined) printNextPart(context, ['orgs list', ...size], lastId);
}

async function change(
  context: CommandContext,
  id: string,
  flags: ChangeFlags,
  change: OrganizationChange,
): Promise<void> {
  const waitMs = waitOf(context, flags);
  const organizations = await context.actions('organizations');
  const made = await organizations.change(id, change, waitMs);
  const { state, tier } = made.result;
  const sentence = `The organization ${id} is ${state}, on tier ${tier}.`;
  await tellChange(context, flags, made, { object: jsonOf(made.result), sentence });
}

function jsonOf({ id, name, tier, state, operator, contacts }: Organization) {
  return { id, name, tier, state, operator, contacts };
}
