// Returns which needs of error codes (`CodeNeed`) a configuration meets.

import type { CodeNeed } from '../catalogue/catalogue-entry.ts';
import type { Configuration } from '../configuration.ts';
import type { Operation } from '../exchange/operation.ts';
import type { Deprecations } from '../versions/deprecation.ts';
import { createTakesTestKeys } from './rights.ts';

export function metNeeds(
  { config, contracts }: Configuration,
  { ofOperations, ofVersions }: Deprecations,
): ReadonlySet<CodeNeed> {
  const { gateway, upstreams } = config;
  const takesTestKeys = createTakesTestKeys(upstreams);
  const hasSessions = gateway.sessions !== undefined;
  const any = (isSuch: (operation: Operation) => boolean) =>
    contracts.operations.some(({ operation }) => isSuch(operation));
  const takes = (operation: Operation, scheme: string) => operation.security.some((one) => one.scheme === scheme);
  const met: Readonly<Record<CodeNeed, boolean>> = {
    callers: any(({ security }) => security.length > 0),
    tokens: Object.keys(gateway.issuers).length > 0,
    basic: any((operation) => takes(operation, 'basic')),
    sessions: hasSessions,
    administration: Object.values(upstreams).some(({ live }) => live.includes('gateway:')),
    'live only': any((one) => takes(one, 'apiKey') && !takesTestKeys(one)),
    repeats: any(({ idempotency }) => idempotency !== 'off'),
    'required repeats': any(({ idempotency }) => idempotency === 'required'),
    hosts: hasSessions || Object.values(gateway.hosts).some((name) => name !== undefined),
    'plain listener': gateway.tls?.plain !== undefined,
    versions: any(({ version }) => version !== undefined),
    sunset: ofVersions.size > 0 || [...ofOperations.values()].some(({ sunset }) => sunset !== undefined),
    agents: gateway.mcp !== undefined,
  };
  return new Set((Object.keys(met) as CodeNeed[]).filter((need) => met[need]));
}
