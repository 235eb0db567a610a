// The stages that decide by the configuration alone: they read the request and send, spend and remember nothing. Used by what serves
// requests and by what tells how one would be served.

import { createAuthorize } from '../auth/authorize.ts';
import type { Configuration } from '../configuration.ts';
import { createMatchByPlace } from '../contract/match.ts';
import { createValidate } from '../contract/validate.ts';
import { createAdmit } from '../edge/admit.ts';
import { createSites, type Site, type SitesOf } from '../edge/sites.ts';
import type { Stages, Trail } from '../exchange.ts';
import { createTunnelTable, type TunnelTable } from '../tunnel/table.ts';
import { type Deprecations, deprecationsOf } from '../versions/deprecation.ts';
import { createSunset, type Sunset } from '../versions/sunset.ts';

export interface StatelessStages
  extends Pick<Stages, 'admit' | 'match' | 'authorize' | 'validate'>,
    Pick<Sunset, 'sunset'> {
  readonly allowedMethods: ReturnType<typeof createMatchByPlace>['allowedMethods'];
  /** Which sites a host name stands for. */
  readonly sitesOf: SitesOf;
  /** What is deprecated or has ended. */
  readonly lives: Deprecations;
  /** Which tunnel a path belongs to. */
  readonly table: TunnelTable;
}

export interface StatelessStagesOptions {
  isDraining(): boolean;
  /** Further bytes of a body are held. Throws when that is too much. */
  hold(trail: Trail, bytes: number): void;
  now(): number;
  readonly onUnreadableForward?: ((entry: string, proxy: string) => void) | undefined;
}

const nowhere: ReadonlySet<Site> = new Set();

export function createStatelessStages(
  { config, contracts }: Configuration,
  { isDraining, hold, now, onUnreadableForward }: StatelessStagesOptions,
): StatelessStages {
  const { gateway, upstreams } = config;
  const scheme = gateway.tls === undefined ? 'http' : 'https';
  const operations = contracts.operations.map(({ operation }) => operation);
  const sitesOf = createSites(gateway.hosts, gateway.publicUrl);
  const lives = deprecationsOf(operations, gateway, gateway.publicUrl);
  const { sunset, endOfVersion } = createSunset(lives, now);
  const { match, allowedMethods } = createMatchByPlace(
    operations,
    ({ headers }) => sitesOf(headers.get('host')) ?? nowhere,
    ({ upstream }, sites) => upstreams[upstream]?.hosts.some((site) => sites.has(site)) === true,
    endOfVersion,
  );
  return {
    lives,
    admit: createAdmit({
      ...gateway.limits,
      trustedProxies: gateway.trustedProxies,
      notesTraces: gateway.tracing !== undefined,
      scheme,
      isDraining,
      onUnreadableForward,
    }),
    match,
    sunset,
    allowedMethods,
    authorize: createAuthorize({
      operatorScopes: new Set(gateway.operatorScopes),
      hasTestTarget: (upstream) => upstreams[upstream]?.test !== undefined,
      now,
    }),
    validate: createValidate({ ...contracts, ...gateway.limits, hold }),
    sitesOf,
    table: createTunnelTable(upstreams),
  };
}
