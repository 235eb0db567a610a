// The stages that depend on the configuration alone: they read the request and neither send, spend nor store anything, except that
// `validate` counts the bytes that it buffers. The pipeline that serves requests uses them, and so do rehearsals.

import { createAuthorize, createMayUse } from '../auth/authorize.ts';
import { type Configuration, scopeRulesOf } from '../configuration.ts';
import { createMatchBySites } from '../contract/match.ts';
import { createMatrixPaths } from '../contract/parameters/path-styles.ts';
import { createValidate } from '../contract/validate.ts';
import { createAdmit } from '../edge/admission/admit.ts';
import { authorityOf, createSites, type Site } from '../edge/admission/sites.ts';
import type { Reservation } from '../exchange/exchange.ts';
import type { Stages, Steps } from '../pipeline.ts';
import type { StatelessStage } from '../stages.ts';
import { createTunnelTable, type Tunnel } from '../tunnel/table.ts';
import { type Deprecations, deprecationsOf } from '../versions/deprecation.ts';
import { createSunset, type Sunset } from '../versions/sunset.ts';

export interface StatelessStages
  extends Pick<Stages, StatelessStage>,
    Pick<Sunset, 'sunset'>,
    Pick<Steps<ReadonlySet<Site>, Tunnel>, 'sitesFor' | 'tunnelAt'> {
  readonly allowedMethods: ReturnType<typeof createMatchBySites>['allowedMethods'];
  /** Whether a caller in good order may use an operation. */
  readonly mayUse: ReturnType<typeof createMayUse>;
  /** Deprecated and ended versions and operations. */
  readonly deprecations: Deprecations;
}

interface StatelessStagesOptions {
  isDraining(): boolean;
  /** Counts more buffered bytes of a body. Throws if the buffer is full. */
  hold(reservation: Reservation, bytes: number): void;
  now(): number;
  readonly onUnreadableForward?: ((entry: string, proxy: string) => void) | undefined;
}

const nowhere: ReadonlySet<Site> = new Set();

export function createStatelessStages(
  configuration: Configuration,
  { isDraining, hold, now, onUnreadableForward }: StatelessStagesOptions,
): StatelessStages {
  const { config, contracts } = configuration;
  const { gateway, upstreams } = config;
  const scheme = gateway.tls === undefined ? 'http' : 'https';
  const operations = contracts.operations.map(({ operation }) => operation);
  const sitesOf = createSites(gateway.hosts, gateway.publicUrl);
  const table = createTunnelTable(upstreams);
  const deprecations = deprecationsOf(operations, gateway, gateway.publicUrl);
  const { sunset, endOfVersion } = createSunset(deprecations, now);
  const { match, allowedMethods } = createMatchBySites(
    operations,
    ({ headers }) => sitesOf(headers.get('host')) ?? nowhere,
    ({ upstream }, sites) => upstreams[upstream]?.hosts.some((site) => sites.has(site)) === true,
    endOfVersion,
  );
  const rights = {
    scopeRules: scopeRulesOf(configuration),
    hasTestTarget: (upstream: string) => upstreams[upstream]?.test !== undefined,
  };
  return {
    deprecations,
    admit: createAdmit({
      ...gateway.limits,
      trustedProxies: gateway.trustedProxies,
      notesTraces: gateway.tracing !== undefined,
      scheme,
      isDraining,
      isMatrixPath: createMatrixPaths(operations),
      onUnreadableForward,
    }),
    match,
    sunset,
    allowedMethods,
    authorize: createAuthorize({ ...rights, now }),
    mayUse: createMayUse(rights),
    validate: createValidate({ ...contracts, ...gateway.limits, hold }),
    sitesFor: ({ request }) => sitesOf(authorityOf(request)),
    tunnelAt: ({ request }, sites) => table.find(sites, request.url as string),
  };
}
