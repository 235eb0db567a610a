// Counts calls of deprecated operations while the gateway serves, and reports them to operators with the resulting notices.

import type { KeyStore } from '../auth/store/key-store.ts';
import type { Settings } from '../config/settings.ts';
import type { Organization } from '../exchange.ts';
import type { Log } from '../observe/log.ts';
import type { Deprecations } from '../versions/deprecation.ts';
import { noticesOf } from '../versions/notices.ts';
import { openUseStore } from '../versions/open-store.ts';
import { affectedBy, deprecationJson, deprecationState, jsonOf } from '../versions/report.ts';
import { dayOf, type Use } from '../versions/store.ts';
import { createUses, type UsesStatus } from '../versions/uses.ts';

const FLUSH_MS = 5000;
const REPORTED_DAYS = 90;
const DAY_MS = 86_400_000;

export interface VersionUsesOptions {
  readonly settings: Settings;
  readonly store: Pick<KeyStore, 'organizations'>;
  readonly log: Log;
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
  status(): UsesStatus;
  close(): Promise<void>;
}

export function openVersionUses(options: VersionUsesOptions): VersionUses {
  const { settings, log, now } = options;
  const uses = createUses({
    open: () => openUseStore({ ...settings, now }),
    now,
    flushMs: FLUSH_MS,
    onChange: (state) =>
      log.logger[state.state === 'up' ? 'debug' : 'error'](state, 'the store of deprecated calls changed its state'),
  });

  async function report(deprecations: Deprecations): Promise<object> {
    const sinceDay = dayOf(now() - REPORTED_DAYS * DAY_MS);
    const hasDeprecations = deprecations.ofOperations.size > 0;
    // Without deprecations, the store stays closed.
    const stored = hasDeprecations ? await uses.list(sinceDay) : [];
    const organizations = hasDeprecations ? await options.store.organizations.list() : [];
    return versionReport({
      deprecations,
      uses: stored,
      organizations,
      sinceDay,
      publicUrl: options.publicUrl(),
      nowMs: now(),
    });
  }

  return { note: uses.note, status: uses.status, report, close: uses.close };
}

interface Reported {
  readonly deprecations: Deprecations;
  readonly uses: readonly Use[];
  readonly organizations: readonly Organization[];
  readonly sinceDay: string;
  readonly publicUrl: string;
  readonly nowMs: number;
}

function versionReport({ deprecations, uses, organizations, sinceDay, publicUrl, nowMs }: Reported): object {
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
