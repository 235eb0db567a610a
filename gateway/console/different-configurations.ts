// Pure: whether instances go by different configurations, which none of them can tell of itself.

import { type Cause, warningCause } from './cause.ts';

export interface ConfigurationInForce {
  readonly version?: string;
  /** ISO 8601. */
  readonly loaded_at?: string;
}

interface Instance {
  readonly name: string;
  /** Absent from an instance of an earlier version. */
  readonly configuration?: ConfigurationInForce | undefined;
}

/** A change reaches the instances one after another. */
const CHANGE_MS = 60_000;
const NAMED_MAX = 5;

export function differentConfigurations(instances: readonly Instance[], nowMs: number): Cause[] {
  const known = instances.flatMap(({ name, configuration: { version, loaded_at: at } = {} }) =>
    version === undefined || at === undefined ? [] : [{ name, version, at }],
  );
  const versions = Map.groupBy(known, ({ version }) => version);
  const since = known
    .map(({ at }) => at)
    .sort()
    .at(-1);
  if (versions.size < 2 || since === undefined || nowMs - Date.parse(since) < CHANGE_MS) return [];
  const groups = [...versions].map(([version, same]) => `${version} on ${namesOf(same)}`);
  return [
    warningCause(
      'configuration differs',
      `The instances have different configurations: ${groups.join('; ')}.`,
      'The same request may be decided by other rules on another instance.',
      { since, details: '#/system' },
    ),
  ];
}

function namesOf(instances: readonly { readonly name: string }[]): string {
  const named = instances.slice(0, NAMED_MAX).map(({ name }) => name);
  const more = instances.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}
