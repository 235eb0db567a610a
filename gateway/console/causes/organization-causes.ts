// Pure: finds organizations that are refused, or soon will be, from the counts of the last minute and their limits.

import { MINUTE_MS } from '../../shared/durations.ts';
import { type Figures, figuresOf } from '../history/figures.ts';
import type { PresentCounts } from '../history/history-counts.ts';
import type { OrganizationNearLimit } from '../history/sample.ts';
import { atMost, type FoundCause, type StatusForCauses, warningCause } from './cause.ts';
import { lowersLimit } from './lowered-limits.ts';
import type { PresentTraffic } from './present.ts';
import { recentChange } from './recent-change.ts';
import { count, percent, telling } from './telling.ts';

const REFUSED_SHARE = 0.3;
const REFUSED_REQUESTS_MIN = 10;
const NEARLY_USED = 0.9;
const RUNBOOK = 'An organization that is refused';

/** @param hasCulprit whether the gateway or an upstream is the cause of refusals */
export function organizationsInTrouble(
  { bounds, organizations, nearLimits }: PresentTraffic,
  status: StatusForCauses,
  nowMs: number,
  hasCulprit: boolean,
): FoundCause[] {
  const { limits } = status;
  const isAway = limits?.state === 'away';
  const isLately = (at: string) => nowMs - Date.parse(at) < MINUTE_MS;
  const lately = nearLimits.filter(({ last_at: at }) => isLately(at));
  const refused = organizations.flatMap((one): FoundCause[] => {
    const counts = refusedCountsOf(bounds, one);
    const limit = lately.find(
      // An earlier refusal by a limit says nothing about the refusals of this minute.
      ({ organization, refused, last_refused: last, last_at: at }) =>
        organization === one.name && refused > 0 && isLately(last?.at ?? at),
    );
    if (counts === undefined || (limit === undefined && hasCulprit)) return [];
    const isSuspect = (change: string) => limit !== undefined && lowersLimit(change, limit);
    const known = nearLimits.find(({ organization }) => organization === one.name);
    const changed = recentChange(status, 'limits.yaml ', nowMs, isSuspect);
    return [refusedCause({ organization: one.name, name: known?.name }, counts, limit, { isAway, changed })];
  });
  const named = new Set(refused.map(({ about }) => about.name));
  // An organization that has stopped after its refusals is not near its limit: its requests leave the window.
  const sends = (name: string) =>
    organizations.some((one) => one.name === name && figuresOf(bounds, one.latest).requests > 0);
  const near = lately.filter(
    (one) =>
      !named.has(one.organization) &&
      isNearlyUsed(one, isAway) &&
      (one.last_refused === undefined || sends(one.organization)),
  );
  return [
    ...atMost(refused, 'organizations are refused', '#/requests?status=refused'),
    ...atMost(
      near.map((one) => nearlyUsedCause(one, shareText(one, isAway))),
      'organizations are near a limit',
      '#/',
    ),
  ];
}

interface RefusedCounts {
  readonly span: 'minute' | 'half minute';
  readonly requests: number;
  readonly refused: number;
  readonly state: 'silent' | 'recovering' | 'refused';
}

/** Returns the counts of an organization that is refused; undefined if it is not refused. */
function refusedCountsOf(bounds: readonly number[], { minute, latest }: PresentCounts): RefusedCounts | undefined {
  const now = figuresOf(bounds, latest);
  // The last seconds are used for an organization that had many requests before it exceeded its limit, because its share of the minute
  // grows slowly.
  const wholeMinute = figuresOf(bounds, minute);
  const [span, counts] = isRefused(wholeMinute) ? (['minute', wholeMinute] as const) : (['half minute', now] as const);
  if (!isRefused(counts)) return undefined;
  const { requests, refused } = counts;
  // The share of a minute without new requests says nothing about the present, and grows, because served requests leave the minute first.
  const state = now.requests === 0 ? 'silent' : now.refused === 0 ? 'recovering' : 'refused';
  return { span, requests, refused, state };
}

interface StatusFacts {
  /** Whether Redis is away, so that the limits are those of one instance. */
  readonly isAway: boolean;
  /** Says what the last reload changed, if that may be the reason. */
  readonly changed: string;
}

function refusedCause(
  organization: Named,
  { span, requests, refused, state }: RefusedCounts,
  limit: OrganizationNearLimit | undefined,
  { isAway, changed }: StatusFacts,
): FoundCause {
  const { organization: id } = organization;
  const name = labelOf(organization);
  const { at, ...bound } = limit?.last_refused ?? { at: undefined, ...limit };
  const why = limit
    ? ` for its limit ${limit.policy}, ${bound.limit} in ${bound.window_seconds} s${shareText(bound, isAway)}`
    : '';
  const counted = telling`${count('refused')} of ${count('requests')} requests (${percent(['refused'], 'requests')} %)`;
  const last = at === undefined ? '' : `: its last refused request was at ${at}`;
  const cause = {
    silent: `${name} was refused${why}, and sends nothing now${last}.`,
    recovering: telling`${name} is recovering: ${counted} were refused in the last ${span}, none in the last 15 seconds.`,
    refused: telling`${name} is refused${why}: ${counted} in the last ${span}.`,
  }[state];
  const about = { topic: 'organization', name: id } as const;
  const more = {
    title: `${name} is refused.`,
    runbook: RUNBOOK,
    details: addressOf(id),
    figures: { requests, refused },
    extent: { of: 'organizations', names: [id], span: span === 'minute' ? 'minute' : 'latest' } as const,
  };
  if (state !== 'refused') return warningCause(about, cause, '', { ...more, hasRecovered: true });
  const consequence = limit
    ? `These requests get 429 rate_limited, with the time to wait; the limit is its own.${changed}`
    : 'Its page has the codes that these requests get.';
  return warningCause(about, cause, consequence, more);
}

/** Says that a limit is not the one of the configuration. */
function shareText({ is_share: isShare }: Pick<OrganizationNearLimit, 'is_share'>, isAway: boolean): string {
  return isShare ? `, the share of one instance while Redis ${isAway ? 'is' : 'was'} away` : '';
}

/** A limit that is not enforced refuses nothing, and the share of one instance ends with the outage of Redis. */
function isNearlyUsed(near: OrganizationNearLimit, isAway: boolean): boolean {
  const { organization, limit, remaining, shadow_refused: shadow, is_share: isShare = false } = near;
  return (
    (isAway || !isShare) && shadow === 0 && organization !== 'anonymous' && limit - remaining >= NEARLY_USED * limit
  );
}

/** @param share a text that says that the limit is the share of one instance */
export function nearlyUsedCause(near: OrganizationNearLimit, share: string): FoundCause {
  const { organization, policy, limit, remaining, window_seconds: seconds, refused } = near;
  const used = limit - remaining;
  const next = remaining === 0 ? 'Its next request is refused.' : 'Soon its requests are refused.';
  return warningCause(
    { topic: 'near', name: organization, detail: policy },
    `${labelOf(near)} has used ${used} of ${limit} in ${seconds} s, its limit ${policy}${share}.`,
    refused > 0 ? `${refusedText(refused)} in the last quarter of an hour.` : next,
    {
      runbook: RUNBOOK,
      details: addressOf(organization),
      figures: { used, limit, window_seconds: seconds },
      extent: { of: 'nearly used', organization, policy, share },
    },
  );
}

function refusedText(refused: number): string {
  return refused === 1 ? '1 of its requests was refused' : `${refused} of its requests were refused`;
}

type Named = Pick<OrganizationNearLimit, 'organization' | 'name'>;

/** Returns the name of an organization, if it is known, and its id. */
function labelOf({ organization, name }: Named): string {
  return name === undefined || name === organization ? organization : `${name} (${organization})`;
}

function addressOf(organization: string): string {
  return `#/organizations/${encodeURIComponent(organization)}`;
}

function isRefused({ requests, refused }: Pick<Figures, 'requests' | 'refused'>): boolean {
  return requests >= REFUSED_REQUESTS_MIN && refused >= REFUSED_SHARE * requests;
}
