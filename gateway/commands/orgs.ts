// `gateway orgs …`: creates, lists and changes organizations.

import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { Actor } from '../administration/actor.ts';
import type { OrganizationChange } from '../administration/client/remote-organizations.ts';
import {
  changeOrganization,
  createOrganization,
  resumeOrganization,
  suspendOrganization,
} from '../administration/organizations.ts';
import { newOrganizationId, ORGANIZATION_ID } from '../auth/issue-key.ts';
import type { Organization } from '../caller.ts';
import { actionDepsOf, actorOf, orFail } from './acting.ts';
import { addChangeOptions, type ChangeFlags, type ChangeResult, requireTimeout, tellChange } from './confirmations.ts';
import type { CommandContext } from './context.ts';
import { addPartOptions, firstOf, limitIn, type PartFlags, printNextPart } from './part.ts';
import { printJson, printLine, printTable } from './print.ts';
import { isName, splitList, unknownName } from './read.ts';
import { tellInForce, waitSecondsOf } from './server/in-force.ts';

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
    .action(async (id: string, tier: string, flags: ChangeFlags) => {
      await requireTier(context, tier);
      await change(context, id, flags, (deps, actor) => changeOrganization(deps)(actor, { id, patch: { tier } }), {
        tier,
      });
    });
  const suspend = orgs
    .command('suspend')
    .description('refuse every request of an organization until it is resumed')
    .argument('<organization>', 'id of the organization');
  addChangeOptions(suspend)
    .addHelpText('after', '\nExample:\n  gateway orgs suspend org_acme --wait')
    .action((id: string, flags: ChangeFlags) =>
      change(context, id, flags, (deps, actor) => suspendOrganization(deps)(actor, { id }), 'suspend'),
    );
  const resume = orgs
    .command('resume')
    .description('let a suspended organization in again')
    .argument('<organization>', 'id of the organization');
  addChangeOptions(resume)
    .addHelpText('after', '\nExample:\n  gateway orgs resume org_acme')
    .action((id: string, flags: ChangeFlags) =>
      change(context, id, flags, (deps, actor) => resumeOrganization(deps)(actor, { id }), 'resume'),
    );
}

/** Ends the command if the tier does not exist. A remote gateway checks it itself. */
export async function requireTier(context: CommandContext, tier: string): Promise<void> {
  if (context.remote !== undefined) return;
  const { config } = await context.configuration();
  const tiers = Object.keys(config.limits.tiers);
  if (!tiers.includes(tier)) context.fail(unknownName('tier', tier, tiers));
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
      await requireTier(context, flags.tier);
      const { name, tier, operator = false } = flags;
      const organization = await create(context, { id, name, tier, contacts, operator });
      if (flags.json) printJson(context, jsonOf(organization));
      else printLine(context, `Created the organization ${id} ("${name}") on tier ${tier}.`);
    });
}

async function create(context: CommandContext, wanted: Omit<Organization, 'state'>): Promise<Organization> {
  if (context.remote !== undefined) {
    if (wanted.operator)
      context.usage('The contract makes no operator organizations: give this command on its machine.');
    return (await context.remote.actions()).organizations.create(wanted);
  }
  const creating = createOrganization(await actionDepsOf(context, 'begin'));
  return orFail(context, creating(actorOf(context), wanted), {
    already_exists: () => `The organization ${wanted.id} exists already.`,
  });
}

function addList(orgs: Command, context: CommandContext): void {
  const list = orgs.command('list').description('list organizations, by id');
  addPartOptions(list, 'organization')
    .option('--json', 'print one JSON array')
    .addHelpText('after', '\nExample:\n  gateway orgs list')
    .action((flags: ListFlags) => listOrganizations(context, flags));
}

async function listOrganizations(context: CommandContext, flags: ListFlags): Promise<void> {
  const { after, json } = flags;
  const limit = limitIn(context, flags, json === undefined);
  const { items, hasMore } = await firstOf(await pagesOf(context, after, limit), limit);
  if (json) return printJson(context, items.map(jsonOf));
  const rows = items.map(({ id, name, tier, state, operator, contacts }) => {
    return [id, name, tier, state, operator ? 'yes' : '', contacts.join(', ')];
  });
  printTable(context, ['id', 'name', 'tier', 'state', 'operator', 'contacts'], rows);
  const { id: lastId } = items.at(-1) ?? {};
  const size = flags.limit === undefined ? [] : [`--limit ${flags.limit}`];
  if (hasMore && lastId !== undefined) printNextPart(context, ['orgs list', ...size], lastId);
}

async function pagesOf(context: CommandContext, after: string | undefined, limit: number | undefined) {
  if (context.remote !== undefined) return (await context.remote.actions()).organizations.list(after);
  const { store } = await context.keyStore();
  return [await store.organizations.list({ after, ...(limit === undefined ? {} : { limit: limit + 1 }) })];
}

/** @param remotely the same change by the contract of a remote gateway */
async function change(
  context: CommandContext,
  id: string,
  flags: ChangeFlags,
  act: (deps: Awaited<ReturnType<typeof actionDepsOf>>, actor: Actor) => Promise<Organization>,
  remotely: OrganizationChange,
): Promise<void> {
  const timeoutMs = requireTimeout(context, flags);
  if (context.remote !== undefined) {
    const waitSeconds = waitSecondsOf(context, flags, timeoutMs);
    const { organizations } = await context.remote.actions();
    const { organization, inForce } = await organizations.change(id, remotely, waitSeconds);
    return tellInForce(context, flags, inForce, resultOf(organization));
  }
  const deps = await actionDepsOf(context);
  const after = await orFail(context, act(deps, actorOf(context)), {
    resource_missing: () => `There is no organization ${id}.`,
  });
  await tellChange(context, deps.store, flags, timeoutMs, resultOf(after));
}

function resultOf(after: Organization): ChangeResult {
  return { object: jsonOf(after), sentence: `The organization ${after.id} is ${after.state}, on tier ${after.tier}.` };
}

function jsonOf({ id, name, tier, state, operator, contacts }: Organization) {
  return { id, name, tier, state, operator, contacts };
}
