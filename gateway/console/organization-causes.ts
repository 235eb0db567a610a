// Pure: which organizations are refused, or soon will be, from the counts of the last minute and their limits.

import { atMost } from './at-most.ts';
import { type Cause, warningCause } from './cause.ts';
import { figuresOf } from './figures.ts';
import type { Present } from './traffic-causes.ts';

const REFUSED_SHARE = 0.3;
const REFUSED_REQUESTS_MIN = 10;
const NEARLY_USED = 0.9;
const RUNBOOK = 'An organization that is refused';
const MINUTE_MS = 60_000;

/**
 * @param hasCulprit whether the gateway or an upstream is the cause of refusals
 * @param isShare whether each instance decides by its share of the limits, because Redis is away
 */
export function organizationsInTrouble(
  { bounds, organizations, nearLimits }: Present,
  nowMs: number,
  hasCulprit: boolean,
  isShare: boolean,
): Cause[] {
  const lately = nearLimits.filter(({ last_at: at }) => nowMs - Date.parse(at) < MINUTE_MS);
  const share = isShare ? ', the share of one instance while Redis is away' : '';
  const refused = organizations.flatMap(({ name, minute, latest }): Cause[] => {
    const { requests, refused: refusals } = figuresOf(bounds, minute);
    if (requests < REFUSED_REQUESTS_MIN || refusals < REFUSED_SHARE * requests) return [];
    const now = figuresOf(bounds, latest);
    const limit = lately.find((one) => one.organization === name && one.refused > 0);
    if (limit === undefined && hasCulprit) return [];
    const why = limit ? ` for its limit ${limit.policy}, ${limit.limit} in ${limit.window_seconds} s${share}` : '';
    const counted = `${refusals} of ${requests} requests (${Math.round((100 * refusals) / requests)} %)`;
    const details = `#/organizations/${encodeURIComponent(name)}`;
    const isRecovering = now.requests > 0 && now.refused === 0;
    const cause = isRecovering
      ? `${name} is recovering: ${counted} were refused in the last minute, none in the last 15 seconds.`
      : `${name} is refused${why}: ${counted} in the last minute.`;
    const figures = { requests, refused: refusals };
    const consequence = isRecovering
      ? ''
      : limit
        ? 'These requests get 429 rate_limited, with the time to wait; other organizations are not affected.'
        : 'Its page has the codes that these requests get; other organizations are not affected.';
    const more = { runbook: RUNBOOK, details, figures };
    return [warningCause(`organization ${name}`, cause, consequence, more)];
  });
  const told = new Set(refused.map(({ id }) => id));
  // A limit that is not enforced refuses nothing.
  const enforced = lately.filter(({ shadow_refused: shadow }) => shadow === 0);
  const nearlyUsed = enforced.flatMap(
    ({ organization, policy, limit, remaining, window_seconds: seconds, refused: refusals }): Cause[] => {
      const used = limit - remaining;
      if (used < NEARLY_USED * limit || told.has(`organization ${organization}`) || organization === 'anonymous')
        return [];
      const cause = `${organization} has used ${used} of ${limit} in ${seconds} s, its limit ${policy}${share}.`;
      const consequence =
        refusals > 0
          ? `${refusals} of its requests were refused in the last quarter of an hour.`
          : remaining === 0
            ? 'Its next request is refused.'
            : 'Soon its requests are refused.';
      const details = `#/organizations/${encodeURIComponent(organization)}`;
      const figures = { used, limit, window_seconds: seconds };
      return [
        warningCause(`near ${organization} ${policy}`, cause, consequence, { runbook: RUNBOOK, details, figures }),
      ];
    },
  );
  return [
    ...atMost(refused, 'organizations are refused', '#/requests?status=refused'),
    ...atMost(nearlyUsed, 'organizations are near a limit', '#/'),
  ];
}
