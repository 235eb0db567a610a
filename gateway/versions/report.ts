// Reports deprecated calls by organization, with the replacement and dates of each operation.

import type { Organization } from '../exchange/caller.ts';
import type { Deprecation, Deprecations } from './deprecation.ts';
import { noticesOf } from './notices.ts';
import type { Use } from './store.ts';

export interface UsedOperation {
  readonly deprecation: Deprecation;
  readonly calls: number;
  readonly lastAtMs: number;
}

/** One organization that still calls deprecated operations, with the most frequently called operation first. */
export interface AffectedOrganization {
  readonly id: string;
  /** The organization; undefined if it no longer exists. */
  readonly organization: Organization | undefined;
  readonly operations: readonly UsedOperation[];
  readonly calls: number;
  readonly lastAtMs: number;
}

/** Lists organizations with the most calls first. Leaves out operations that are no longer deprecated. */
export function affectedBy(
  uses: readonly Use[],
  deprecations: Iterable<Deprecation>,
  organizations: readonly Organization[],
): AffectedOrganization[] {
  const byId = new Map([...deprecations].map((deprecation) => [deprecation.operation.id, deprecation]));
  const known = new Map(organizations.map((organization) => [organization.id, organization]));
  const relevant = uses.filter(({ operation }) => byId.has(operation));
  return [...Map.groupBy(relevant, ({ organization }) => organization)]
    .map(([id, own]) => {
      const operations = [...Map.groupBy(own, ({ operation }) => operation)]
        .map(([operation, rows]) => ({ deprecation: byId.get(operation) as Deprecation, ...sumOf(rows) }))
        .sort((a, b) => b.calls - a.calls || a.deprecation.operation.id.localeCompare(b.deprecation.operation.id));
      return { id, organization: known.get(id), operations, ...sumOf(own) };
    })
    .sort((a, b) => b.calls - a.calls || a.id.localeCompare(b.id));
}

function sumOf(uses: readonly Use[]): { readonly calls: number; readonly lastAtMs: number } {
  const calls = uses.reduce((sum, use) => sum + use.calls, 0);
  return { calls, lastAtMs: uses.reduce((last, use) => Math.max(last, use.lastAtMs), 0) };
}

/** Converts an entry to the JSON of commands and the admin listener. */
export function jsonOf({ id, organization, operations, calls, lastAtMs }: AffectedOrganization) {
  return {
    organization: id,
    name: organization?.name ?? null,
    contacts: organization?.contacts ?? [],
    calls,
    last_call_at: new Date(lastAtMs).toISOString(),
    operations: operations.map(({ deprecation, calls, lastAtMs }) => ({
      ...deprecationJson(deprecation),
      calls,
      last_call_at: new Date(lastAtMs).toISOString(),
    })),
  };
}

export function deprecationJson({ operation, deprecated, sunset, successor, guide }: Deprecation) {
  return {
    operation: operation.id,
    method: operation.method,
    path: operation.path,
    version: operation.version ?? null,
    deprecated,
    sunset: sunset ?? null,
    successor: successor ?? null,
    guide: guide ?? null,
  };
}

/** Returns the state: `announced` until the day of the deprecation, then `deprecated`, and `ended` from the sunset on. */
export function deprecationState(
  { deprecated, sunset }: { readonly deprecated?: string | undefined; readonly sunset?: string | undefined },
  nowMs: number,
): string {
  if (sunset !== undefined && Date.parse(sunset) <= nowMs) return 'ended';
  if (deprecated === undefined) return 'current';
  return Date.parse(deprecated) <= nowMs ? 'deprecated' : 'announced';
}

interface ReportParts {
  readonly deprecations: Deprecations;
  readonly uses: readonly Use[];
  readonly organizations: readonly Organization[];
  readonly sinceDay: string;
  readonly publicUrl: string;
  readonly nowMs: number;
}

/** Returns the report for operators on deprecated operations, with their callers and the notices for these. */
export function versionReport({ deprecations, uses, organizations, sinceDay, publicUrl, nowMs }: ReportParts): object {
  const affected = affectedBy(uses, deprecations.ofOperations.values(), organizations);
  return {
    since: sinceDay,
    operations: [...deprecations.ofOperations.values()].map((deprecation) => ({
      ...deprecationJson(deprecation),
      state: deprecationState(deprecation, nowMs),
    })),
    organizations: affected.map(jsonOf),
    notices: noticesOf(affected, sinceDay, publicUrl),
  };
}
