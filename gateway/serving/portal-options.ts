// What the documentation is made from: the served contracts, the limits, and the section `portal` of the configuration.

import type { Configuration } from '../configuration.ts';
import { type PublishedContext, publishedContracts } from '../contract/merged/groups.ts';
import { follow } from '../contract/pointer.ts';
import { samplesOf } from '../contract/sample.ts';
import type { PortalOptions } from '../portal/options.ts';

export function portalOptions(
  { config, contracts, portalFiles }: Configuration,
  context: Pick<PublishedContext, 'serverOf' | 'isDeprecated'>,
): PortalOptions {
  const { gateway, upstreams, limits } = config;
  const { portal } = gateway;
  const versions = contracts.operations.flatMap(({ operation: { version } }) => version ?? []);
  return {
    publicUrl: gateway.publicUrl,
    title: portal.title,
    description: portal.description,
    look: { logo: portalFiles.logo, colours: portal.colours },
    guides: portalFiles.guides,
    builtInGuides: portal.builtInGuides,
    sampleOperation: portal.sampleOperation,
    windows: Object.values(limits.tiers).map(({ windowSeconds }) => windowSeconds),
    countPer: limits.countPer,
    retainSeconds: gateway.idempotency.retainSeconds,
    versions: [...new Set(versions)].sort(),
    tools: {
      resolve: (root, value) => follow(root, { value, pointer: '' }).value,
      samplesOf: (root, value, of) => samplesOf(root, { value, pointer: '' }, { of }),
    },
    contracts: () =>
      publishedContracts(contracts.operations, { ...context, title: portal.title }).map((contract) => ({
        ...contract,
        operations: contract.operations.map((operation) => ({
          ...operation,
          hasTestMode: upstreams[operation.upstream]?.test !== undefined,
        })),
      })),
  };
}
