// The action that resets the limit counters of an organization. `deps.limitUsage.show` reads them.

import type { LimitUsageReport, LimitUse, ResetReport } from '../limits/limit-usage.ts';
import type { Actor } from './actor.ts';
import { readAuthority } from './authority.ts';
import type { AdministrationDeps } from './deps.ts';

type LimitDeps = Pick<AdministrationDeps, 'store' | 'limitUsage' | 'now'>;

interface LimitsReset {
  readonly organization: string;
  readonly dryRun?: boolean;
}

/**
 * Resets the counters, and then writes a note with the former use to the audit log. The order matters, because the counters must be reset
 * already when a running gateway reads the note. If the note fails, the reset can be repeated. Resolves with undefined for an unknown
 * organization.
 */
export async function resetLimits(
  deps: LimitDeps,
  actor: Actor,
  { organization, dryRun = false }: LimitsReset,
): Promise<ResetReport | undefined> {
  const { store, limitUsage } = deps;
  const { author } = await readAuthority(deps, actor);
  const before = await limitUsage.show(organization);
  const report = before && (await limitUsage.reset(organization, dryRun));
  if (before === undefined || report === undefined) return undefined;
  if (!dryRun) await store.audit.append('limits.reset', author, detailsOf(before), organization);
  return report;
}

/** Maximum number of limits in one note. An organization may have a thousand keys with limits. */
const NOTED_MAX = 100;

function detailsOf({ limits }: LimitUsageReport) {
  const used = limits.filter((limit) => limit.used > 0).slice(0, NOTED_MAX);
  const notedUse = (usedOf: (limit: LimitUse) => number) =>
    used.map((limit) => ({ policy: limit.policy, key_id: limit.key_id, used: usedOf(limit) }));
  return { before: { limits: notedUse((limit) => limit.used) }, after: { limits: notedUse(() => 0) } };
}
