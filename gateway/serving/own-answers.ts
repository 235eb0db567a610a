// Handles the requests that the gateway itself answers, for documentation and published keys, preflights of browsers, and OPTIONS.

import { type Configuration, scopeRulesOf } from '../configuration.ts';
import { type PublishedContext, publishedContracts } from '../contract/merged/groups.ts';
import { follow } from '../contract/pointer.ts';
import { samplesOf } from '../contract/samples/sample.ts';
import { addressOfSite } from '../edge/admission/sites.ts';
import { createCors } from '../edge/own-answers/cors.ts';
import { type AnswerOptionsOptions, createAnswerOptions } from '../edge/own-answers/options.ts';
import { createOwnPaths, type OwnPathsOptions } from '../edge/own-answers/own-paths.ts';
import type { Arrived } from '../exchange/exchange.ts';
import { ANONYMOUS_TIER } from '../limits/limit-rules.ts';
import type { Steps } from '../pipeline.ts';
import { createPortal } from '../portal/portal.ts';
import type { PortalOptions } from '../portal/site.ts';
import { answersFromContract, isGatewayItself } from '../upstream/targets/addresses.ts';
import type { Deprecations } from '../versions/deprecation.ts';
import { metNeeds } from './met-needs.ts';
import { publicLimits } from './public-limits.ts';
import { createTakesTestKeys } from './rights.ts';

interface OwnAnswersOptions extends Pick<OwnPathsOptions, 'jwks' | 'refuse'>, AnswerOptionsOptions {
  readonly deprecations: Deprecations;
}

interface OwnAnswers
  extends Pick<
    Steps,
    'allowOrigin' | 'isPreflight' | 'answerPreflight' | 'isOwnPath' | 'answerOwnPath' | 'answerOptions'
  > {
  /** Whether the request is from a page that `cors` trusts. */
  trusts(arrived: Arrived): boolean;
}

/** Headers by which clients of the endpoint for agents say what a message is. */
const AGENTS_HEADERS = ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name', 'Mcp-Session-Id'];

export function createOwnAnswers(
  configuration: Configuration,
  { admit, throttle, allowedMethods, deprecations, jwks, refuse }: OwnAnswersOptions,
): OwnAnswers {
  const { gateway, upstreams } = configuration.config;
  const operations = configuration.contracts.operations.map(({ operation }) => operation);
  const addressOf = addressOfSite(gateway.hosts, gateway.publicUrl);
  const portal = createPortal(
    portalOptions(configuration, {
      serverOf: (upstream) => addressOf(upstreams[upstream]?.hosts[0] ?? 'api'),
      isDeprecated: (operation) => deprecations.ofOperations.has(operation),
      metNeeds: metNeeds(configuration, deprecations),
    }),
  );
  const ownPaths = createOwnPaths({
    admit,
    jwks,
    portal,
    refuse,
    isRootFree: operations.every(({ path }) => path !== '/'),
  });
  const ofAgents = gateway.mcp === undefined ? [] : AGENTS_HEADERS;
  const cors = createCors({
    hosts: gateway.cors,
    declaredRequestHeaders: [...operations.flatMap(({ requestHeaders }) => requestHeaders), ...ofAgents],
    declaredResponseHeaders: [...operations.flatMap(({ responseHeaders }) => [...responseHeaders]), ...ofAgents],
    admit,
  });
  return {
    trusts: cors.trusts,
    allowOrigin: cors.allow,
    isPreflight: cors.isPreflight,
    answerPreflight: cors.answerPreflight,
    isOwnPath: ({ request }, sites) => ownPaths.owns(request, sites.has('api')),
    answerOwnPath: ownPaths.handle,
    answerOptions: createAnswerOptions({ admit, throttle, allowedMethods }),
  };
}

type Entry = Configuration['config']['upstreams'][string];

/** A page of the documentation may send requests only to the host that serves the page, which is `api`. */
function isOwnContract(entry: Entry | undefined): boolean {
  return entry?.live.includes('gateway:') === true && entry.hosts.includes('api');
}

function isOfGateway(entry: Entry | undefined): boolean {
  return entry?.live.some(isGatewayItself) === true;
}

interface PortalContext extends Pick<PublishedContext, 'serverOf' | 'isDeprecated'>, Pick<PortalOptions, 'metNeeds'> {}

/** Returns the sources of the documentation: the served contracts, the limits, and the section `portal` of the configuration. */
function portalOptions(configuration: Configuration, { metNeeds: met, ...context }: PortalContext): PortalOptions {
  const { config, contracts, breakingChanges, portalFiles } = configuration;
  const { gateway, upstreams, limits } = config;
  const { portal } = gateway;
  const { operatorScopes } = scopeRulesOf(configuration);
  const takesTestKeys = createTakesTestKeys(upstreams);
  // If no service has test data, the documentation does not mention test keys.
  const hasTests = Object.values(upstreams).some(({ test }) => test !== undefined);
  const versions = contracts.operations.flatMap(({ operation: { version } }) => version ?? []);
  return {
    publicUrl: gateway.publicUrl,
    title: portal.title,
    description: portal.description,
    help: { contact: portal.contact, status: portal.status },
    limits: publicLimits(config, contracts),
    publications: breakingChanges.publications,
    look: { logo: portalFiles.logo, colours: portal.colours },
    guides: portalFiles.guides,
    builtInGuides: portal.builtInGuides,
    sampleOperation: portal.sampleOperation,
    agentsPath: gateway.mcp?.path,
    metNeeds: met,
    operatorScopes,
    hasAccount: contracts.operations.some(
      ({ operation }) => operation.path === '/gateway/v1/organization' && isOwnContract(upstreams[operation.upstream]),
    ),
    tiers: Object.entries(limits.tiers).flatMap(([name, tier]) => (name === ANONYMOUS_TIER ? [] : [tier])),
    hasLimitsPage: portal.tiers !== false,
    countPer: limits.countPer,
    retainSeconds: gateway.idempotency.retainSeconds,
    versions: [...new Set(versions)].sort(),
    tools: {
      resolve: (root, value) => follow(root, { value, pointer: '' }).value,
      samplesOf: (root, value, of) => samplesOf(root, { value, pointer: '' }, { of }),
    },
    contracts: () =>
      publishedContracts(contracts.operations, { ...context, title: portal.title })
        .map((contract) => ({
          ...contract,
          isOfGateway: contract.operations.every(({ upstream }) => isOfGateway(upstreams[upstream])),
          operations: contract.operations.map((operation) => ({
            ...operation,
            hasTestMode: hasTests && takesTestKeys(operation),
            hasExamplesForTests: upstreams[operation.upstream]?.test?.some(answersFromContract) === true,
          })),
        }))
        .sort((one, other) => Number(one.isOfGateway) - Number(other.isOfGateway)),
  };
}
