// Makes the steps of operations before `replay`, for one configuration. The gateway passes its sections, which contain the parts of these
// steps. A rehearsal passes stand-ins, which neither send, spend nor store anything (serving/rehearsal/rehearse.ts).

import { type CredentialReaders, createAuthenticate } from '../auth/authenticate.ts';
import { createAuthorize } from '../auth/authorize.ts';
import type { Configuration } from '../configuration.ts';
import { type AllowedMethods, createMatchBySites } from '../contract/match.ts';
import { createMatrixPaths } from '../contract/parameters/path-styles.ts';
import { createValidate } from '../contract/validate.ts';
import { type AdmitOptions, createAdmit } from '../edge/admission/admit.ts';
import { authorityOf, createSites, type Site } from '../edge/admission/sites.ts';
import { createLimit, type LimitOptions } from '../limits/limit.ts';
import type { Overload } from '../overload/overload.ts';
import type { OperationSteps, Steps } from '../pipeline.ts';
import { createTunnelTable } from '../tunnel/table.ts';
import { createNoteUse, type DeprecatedCalls } from '../versions/deprecated-calls.ts';
import { type Deprecations, deprecationsOf } from '../versions/deprecation.ts';
import { createSunset } from '../versions/sunset.ts';
import { rightsOf } from './rights.ts';

export interface Checking {
  readonly steps: Omit<OperationSteps, 'replay' | 'forward'> & Pick<Steps, 'sitesFor' | 'tunnelAt'>;
  /** The methods of a path, for OPTIONS. */
  readonly allowedMethods: AllowedMethods;
  /** Deprecated and ended versions and operations. */
  readonly deprecations: Deprecations;
}

/** The parts that the steps use beside the configuration, by section of the gateway (wiring/sections.ts). */
interface CheckingParts {
  readonly options: { now(): number };
  readonly base: Pick<AdmitOptions, 'isDraining'>;
  readonly observation: Pick<AdmitOptions, 'onUnreadableForward'>;
  readonly counters: { readonly requests: LimitOptions['store'] };
  readonly callers: { readonly identity: { readonly readers: CredentialReaders } };
  readonly stores: {
    readonly throttle: Pick<Steps, 'throttle'>;
    readonly deprecatedCalls: Pick<DeprecatedCalls, 'note'>;
  };
  readonly traffic: { readonly overload: Pick<Overload, 'shed' | 'reserve' | 'hold'> };
}

const nowhere: ReadonlySet<Site> = new Set();

export function createCheckingSteps(configuration: Configuration, sections: CheckingParts): Checking {
  const { config, contracts } = configuration;
  const { gateway, upstreams, limits } = config;
  const { base, observation, counters, callers, stores } = sections;
  const { now } = sections.options;
  const { overload } = sections.traffic;
  const operations = contracts.operations.map(({ operation }) => operation);
  const sitesOf = createSites(gateway.hosts, gateway.publicUrl);
  const table = createTunnelTable(upstreams);
  const deprecations = deprecationsOf(operations, gateway, gateway.publicUrl);
  const { sunset, endOfVersion } = createSunset(deprecations, now);
  const hosts = [new URL(gateway.publicUrl).host, ...Object.values(gateway.hosts)];
  const { match, allowedMethods } = createMatchBySites({
    operations,
    all: [nowhere, ...hosts.flatMap((host) => sitesOf(host) ?? [])],
    sitesFor: ({ headers }) => sitesOf(headers.get('host')) ?? nowhere,
    isAt: ({ upstream }, sites) => upstreams[upstream]?.hosts.some((site) => sites.has(site)) === true,
    explain: endOfVersion,
  });
  return {
    steps: {
      sitesFor: ({ request }) => sitesOf(authorityOf(request)),
      tunnelAt: ({ request }, sites) => table.find(sites, request.url as string),
      admit: createAdmit({
        ...gateway.limits,
        trustedProxies: gateway.trustedProxies,
        notesTraces: gateway.tracing !== undefined,
        scheme: gateway.tls === undefined ? 'http' : 'https',
        isDraining: base.isDraining,
        isMatrixPath: createMatrixPaths(operations),
        onUnreadableForward: observation.onUnreadableForward,
      }),
      shed: overload.shed,
      throttle: stores.throttle.throttle,
      match,
      sunset,
      authenticate: createAuthenticate(callers.identity.readers),
      authorize: createAuthorize({ ...rightsOf(configuration), now }),
      noteUse: createNoteUse(deprecations, stores.deprecatedCalls),
      limit: createLimit({ store: counters.requests, rules: limits, now }),
      reserve: overload.reserve,
      validate: createValidate({ ...contracts, ...gateway.limits, hold: overload.hold }),
    },
    allowedMethods,
    deprecations,
  };
}
