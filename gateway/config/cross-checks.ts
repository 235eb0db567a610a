// Checks the parts of a configuration that name operations, paths and scopes of the contracts.

import type { Operation } from '../exchange/operation.ts';
import { type Mistake, suggest } from '../shared/mistakes.ts';
import { checkShownTiers } from './gateway/portal.ts';
import { checkSessionScopes } from './gateway/session-checks.ts';
import { checkDeprecations } from './gateway/versions.ts';
import type { ConfigDraft } from './load.ts';
import { checkNamedOnce } from './operation-names.ts';
import { checkOperationSettings, type LeftOut } from './upstreams/operation-settings.ts';
import { checkRecordRules, checkRuleNames } from './upstreams/rule-checks.ts';
import { checkServersUsed } from './upstreams/servers.ts';
import { checkTunnels } from './upstreams/tunnel-paths.ts';

interface Contracts {
  readonly operations: readonly { readonly operation: Operation }[];
  readonly leftOut: readonly LeftOut[];
  readonly scopes: Iterable<string>;
}

/** Adds a mistake for each name that the contracts do not contain. */
export function crossCheck(draft: ConfigDraft, contracts: Contracts, mistakes: Mistake[]): void {
  checkScopes(draft, contracts, mistakes);
  checkPlaces(draft, contracts, mistakes);
}

function checkPlaces(
  { gateway, upstreams, limits, sources, names }: ConfigDraft,
  contracts: Contracts,
  mistakes: Mistake[],
): void {
  if (gateway === undefined) return;
  const { hosts, publicUrl } = gateway;
  const operations = contracts.operations.map(({ operation }) => operation);
  checkOperationSettings(upstreams, operations, contracts.leftOut, sources.upstreams, mistakes);
  checkServersUsed(upstreams, operations, sources.upstreams, mistakes);
  checkRuleNames(upstreams, operations, sources.upstreams, mistakes);
  checkRecordRules(upstreams, operations, sources.upstreams, mistakes);
  checkTunnels({ upstreams, hosts, publicUrl, operations, source: sources.upstreams }, mistakes);
  checkDeprecations(gateway, operations, sources.gateway, mistakes);
  if (limits) checkShownTiers(gateway.portal, Object.keys(limits.tiers), sources.gateway, mistakes);
  checkNamedOnce(Object.keys(gateway.operations), operations, sources.gateway, mistakes);
  checkNamedOnce(names.operations, operations, sources.limits, mistakes);
}

/** Rejects unknown scopes in `scopesMax`, because a misspelt scope would silently grant nothing. */
function checkScopes(draft: ConfigDraft, { scopes, operations }: Contracts, mistakes: Mistake[]): void {
  const { gateway, sources } = draft;
  const known = new Set([...scopes, ...(gateway?.operatorScopes ?? [])]);
  checkSessionScopes(
    draft,
    operations.map(({ operation }) => operation),
    known,
    mistakes,
  );
  for (const [name, { scopesMax }] of Object.entries(gateway?.issuers ?? {})) {
    for (const [index, scope] of scopesMax.entries()) {
      if (scope === '*' || known.has(scope)) continue;
      const reason = `the scope "${scope}" is unknown.`;
      mistakes.push(sources.gateway.mistakeAt(['issuers', name, 'scopesMax', index], reason, suggest(scope, known)));
    }
  }
}
