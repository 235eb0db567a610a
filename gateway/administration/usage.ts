// The action that reads the usage of an organization, in pages. Throws validation_failed, resource_missing.

import { GatewayError } from '../catalogue/errors.ts';
import { isoTime } from '../shared/text.ts';
import { type PeriodUnit, periodsBefore } from '../usage/periods.ts';
import type { UsageGroup, UsagePosition, UsageSum } from '../usage/report.ts';
import type { AdministrationDeps } from './deps.ts';

/** The number of periods that are shown if the request names no first time. */
const DEFAULT_PERIODS = { hour: 24, day: 30, month: 12 } as const;

export interface UsageInput {
  readonly organization: string;
  readonly by: PeriodUnit;
  /** Epoch milliseconds. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly groups: readonly UsageGroup[];
  readonly operation?: string | undefined;
  readonly key?: string | undefined;
  readonly limit: number;
  readonly position?: UsagePosition | undefined;
}

interface UsageAnswer {
  readonly data: readonly object[];
  readonly complete_until: string;
  readonly next: UsagePosition | undefined;
}

type UsageDeps = Pick<AdministrationDeps, 'now' | 'usage'> & {
  readonly store: Pick<AdministrationDeps['store'], 'organizations'>;
};

export async function listUsage(
  { store, usage, now }: UsageDeps,
  { organization, by: unit, limit, ...input }: UsageInput,
): Promise<UsageAnswer> {
  const nowMs = now();
  const { toMs = nowMs, fromMs = periodsBefore(unit, toMs, DEFAULT_PERIODS[unit]), ...filter } = input;
  if (fromMs > toMs) throw laterThanTo(toMs);
  if ((await store.organizations.get(organization)) === undefined) throw new GatewayError('resource_missing');
  const page = await usage.page({ organization, unit, fromMs, toMs, limit, ...filter });
  return {
    data: page.sums.map(sumJson),
    complete_until: isoTime(page.completeUntilMs),
    next: page.next,
  };
}

function laterThanTo(toMs: number): GatewayError {
  const message = 'Must not be later than "to".';
  const violation = { in: 'query', param: 'from', code: 'too_large', message, constraint: { maximum: isoTime(toMs) } };
  return new GatewayError('validation_failed', { fields: { param: 'from', errors: [violation] } });
}

function sumJson({ fromMs, toMs, operation, key, statusClass, requests }: UsageSum): object {
  return {
    from: isoTime(fromMs),
    to: isoTime(toMs),
    ...(operation !== undefined && { operation_id: operation }),
    ...(key !== undefined && { key_id: key }),
    ...(statusClass !== undefined && { status_class: statusClass }),
    requests,
  };
}
