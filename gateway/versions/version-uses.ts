// Counts calls of deprecated operations while the gateway serves, and reports them to operators with the resulting notices.

import type { Organization } from '../exchange/caller.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { DAY_MS } from '../shared/durations.ts';
import type { Deprecations } from './deprecation.ts';
import { noticesOf } from './notices.ts';
import { type OpenUseStoreOptions, openUseStore } from './open-store.ts';
import { type AffectedOrganization, affectedBy, deprecationJson, deprecationState, jsonOf } from './report.ts';
import { dayOf, type Use } from './store.ts';
import { createUses, type UsesOptions, type UsesStatus } from './uses.ts';

const FLUSH_MS = 5000;
const REPORTED_DAYS = 90;

interface VersionUsesOptions {
  readonly settings: Pick<OpenUseStoreOptions, 'redisUrl' | 'dataDirectory'>;
  organizations(): Awaitable<readonly Organization[]>;
  readonly onChange: UsesOptions['onChange'];
  publicUrl(): string;
  now(): number;
}

export interface VersionUses {
  note(organization: string, operation: string): void;
  /**
   * Reports to operators the deprecated operations, their callers in the last 90 days, and the notices for those callers.
   *
   * @param deprecations the deprecations in force
   */
  report(deprecations: Deprecations): Promise<object>;
  /**
   * Returns the deprecated operations that were called in the last 90 days, by organization.
   *
   * @param organization leaves out other organizations
   */
  affected(deprecations: Deprecations, organization?: string): Promise<readonly AffectedOrganization[]>;
  status(): UsesStatus;
  close(): Promise<void>;
}

export function openVersionUses(options: VersionUsesOptions): VersionUses {
  const { settings, now, onChange } = options;
  const uses = createUses({
    open: () => openUseStore({ ...settings, now }),
    now,
    flushMs: FLUSH_MS,
    onChange,
  });

  async function report(deprecations: Deprecations): Promise<object> {
    const sinceDay = dayOf(now() - REPORTED_DAYS * DAY_MS);
    const hasDeprecations = deprecations.ofOperations.size > 0;
    // Without deprecations, the store stays closed.
    const stored = hasDeprecations ? await uses.list(sinceDay) : [];
    const organizations = hasDeprecations ? await options.organizations() : [];
    return versionReport({
      deprecations,
      uses: stored,
      organizations,
      sinceDay,
      publicUrl: options.publicUrl(),
      nowMs: now(),
    });
  }

  async function affected(
    { ofOperations }: Deprecations,
    organization?: string,
  ): Promise<readonly AffectedOrganization[]> {
    if (ofOperations.size === 0) return [];
    const operations = [...ofOperations.keys()].map(({ id }) => id);
    const of = organization === undefined ? undefined : { organization, operations };
    return affectedBy(await uses.list(dayOf(now() - REPORTED_DAYS * DAY_MS), of), ofOperations.values(), []);
  }

  return { note: uses.note, status: uses.status, report, affected, close: uses.close };
}

interface ReportParts {
  readonly deprecations: Deprecations;
  readonly uses: readonly Use[];
  readonly organizations: readonly Organization[];
  readonly sinceDay: string;
  readonly publicUrl: string;
  readonly nowMs: number;
}

function versionReport({ deprecations, uses, organizations, sinceDay, publicUrl, nowMs }: ReportParts): object {
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
