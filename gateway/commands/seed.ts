// `gateway seed`: creates many organizations with one key each, for load tests and demonstrations.

import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import { createIssueKey, type IssuedKey, newOrganizationId } from '../auth/issue-key.ts';
import type { Mode, Organization } from '../exchange/caller.ts';
import type { OpenKeyStore } from '../process/open-key-store.ts';
import type { CommandContext } from './context.ts';
import { requireScopes, requireTier } from './here/checks.ts';
import { requireSomeScopes } from './keys/create.ts';
import { printText } from './print.ts';
import { parseCount, splitList } from './read.ts';

const COUNT_MAX = 1_000_000;
/** The organizations per transaction, for which other writers wait some tens of milliseconds. */
const BATCH = 2000;

interface SeedFlags {
  readonly organizations: string;
  readonly tier: string;
  readonly mode: Mode;
  readonly scopes: readonly string[];
  readonly json?: true;
}

interface Plan {
  readonly tier: string;
  readonly mode: Mode;
  readonly scopes: readonly string[];
}

export function addSeedCommands(program: Command, context: CommandContext): void {
  program
    .command('seed')
    .description('create many organizations with one key each, and print the keys')
    .requiredOption('--organizations <count>', 'number of organizations')
    .requiredOption('--tier <tier>', 'a tier of limits.yaml')
    .addOption(
      new Option('--mode <mode>', 'which targets of the upstreams the keys reach')
        .choices(['live', 'test'])
        .default('live'),
    )
    .option('--scopes <scope...>', 'scopes of the keys', ['*'])
    .option('--json', 'print one JSON object per line: organization id and key')
    .addHelpText('after', '\nExample:\n  gateway seed --organizations 1000 --tier premium --json > keys.jsonl')
    .action(async (flags: SeedFlags) => {
      const count = parseCount(flags.organizations, COUNT_MAX);
      if (count === undefined) {
        context.usage(`--organizations "${flags.organizations}" is not a number from 1 to ${COUNT_MAX}.`);
      }
      const plan = { tier: flags.tier, mode: flags.mode, scopes: splitList(flags.scopes) };
      requireSomeScopes(context, plan.scopes);
      await requireTier(context, plan.tier);
      await requireScopes(context, plan.scopes, { id: 'a seeded organization', operator: false });
      const open = await context.keyStore('begin');
      for (let made = 0; made < count; made += BATCH) {
        const issued = await seedBatch(context, open, plan, Math.min(BATCH, count - made));
        // The keys are printed after they are stored, so that every printed key works.
        printBatch(context, issued, flags.json === true);
      }
      if (!flags.json)
        printText(context, `\n${count} organizations on tier ${plan.tier}; the keys are not shown again.`);
    });
}

async function seedBatch(
  context: CommandContext,
  { store, digestOf }: OpenKeyStore,
  { tier, mode, scopes }: Plan,
  size: number,
): Promise<IssuedKey[]> {
  const issueKey = createIssueKey({ digestOf, randomBytes, now: context.now });
  const organizations = Array.from({ length: size }, (): Organization => {
    const id = newOrganizationId(randomBytes);
    return { id, name: `Seeded ${id.slice(-6)}`, tier, state: 'active', contacts: [], operator: false };
  });
  const issued = organizations.map(({ id: organization }) =>
    issueKey({ organization, mode, name: 'seed', scopes, allowedCidrs: [], expiresAtMs: undefined, by: context.actor }),
  );
  await store.seed(
    organizations,
    issued.map(({ record }) => record),
    context.actor,
  );
  return issued;
}

/** Prints a batch in one write, because a write per line would take longer than the transaction. */
function printBatch({ write }: CommandContext, issued: readonly IssuedKey[], json: boolean): void {
  const lines = issued.map(({ key, record: { organization: id } }) =>
    json ? JSON.stringify({ id, key }) : `${id}  ${key}`,
  );
  write(`${lines.join('\n')}\n`);
}
