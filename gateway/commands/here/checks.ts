// Checks names on the command line against the configuration of this machine.

import { scopeMistakeOf } from '../../administration/grants.ts';
import { scopeRulesOf } from '../../configuration.ts';
import type { Organization } from '../../exchange/caller.ts';
import type { MachineContext } from '../context.ts';
import { unknownName } from '../read.ts';
import { knownHere } from './deps.ts';

/** Ends the command if the tier does not exist. */
export async function requireTier(context: MachineContext, tier: string): Promise<void> {
  const { config } = await knownHere(context);
  const tiers = Object.keys(config.limits.tiers);
  if (!tiers.includes(tier)) context.fail(unknownName('tier', tier, tiers));
}

/** Ends the command unless each scope exists and this organization may hold it. */
export async function requireScopes(
  context: MachineContext,
  scopes: readonly string[],
  organization: Pick<Organization, 'id' | 'operator'>,
): Promise<void> {
  const configuration = await knownHere(context);
  const known = configuration.contracts.scopes;
  const mistake = scopeMistakeOf(scopes, organization, known, scopeRulesOf(configuration));
  if (mistake?.kind === 'unknown') context.fail(unknownName('scope', mistake.scope, ['*', ...known]));
  if (mistake?.kind === 'operators_only') {
    context.fail(
      `The scope ${mistake.scope} is granted to operator organizations only, and ${organization.id} is none.`,
    );
  }
}
