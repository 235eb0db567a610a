// What `gateway explain` tells about the limits of a recorded exchange.

type Members = Readonly<Record<string, unknown>>;

const sources: Readonly<Record<string, string>> = {
  redis: 'Redis',
  process: 'this process',
  unknown: 'no store',
  known: 'a refusal still in force (no store was asked)',
  local: 'this process, with its share, while Redis was away',
  allow: 'the setting to admit all requests while Redis was away',
  refuse: 'the setting to refuse all requests while Redis was away',
};

/** One line for each limit. */
export function eachLimit(
  limits: readonly Members[],
  { rehearsed, violated_policies, shadow_refused }: Members,
): string[] {
  const isIn = (list: unknown, policy: unknown) => Array.isArray(list) && list.includes(policy);
  return limits.map(({ policy, quota, remaining, wait_ms: waitMs, cost = 1, shadow }) => {
    const isRefused = isIn(violated_policies, policy);
    const kind = shadow === true ? ', a shadow limit' : '';
    if (rehearsed === true)
      return `${policy}: ${remaining} of ${quota} left, this would take ${cost}${isRefused ? `; more in ${waitMs} ms` : ''}${kind}`;
    const outcome = isRefused ? 'refused' : isIn(shadow_refused, policy) ? 'would have refused' : 'admitted';
    return `${policy}: ${outcome} a cost of ${cost}; ${remaining} of ${quota} left, more in ${waitMs} ms${kind}`;
  });
}

/** The tightest limit, if the record does not list all. */
export function tightestLimit({ limits, limit, limit_remaining, limit_quota, rehearsed }: Members): string | undefined {
  const isListed = rehearsed === true || (Array.isArray(limits) && limits.length > 0);
  return isListed ? undefined : `${limit}: admitted; ${limit_remaining} of ${limit_quota} left`;
}

/** Who decided, and when. */
export function decisionIn({ limit_source: source, decided_at: decidedAt, rehearsed }: Members): string {
  const decider = sources[String(source)] ?? `the store ${source}`;
  if (rehearsed === true) return `as ${decider} has counted`;
  return `decided by ${decider} at ${typeof decidedAt === 'number' ? new Date(decidedAt).toISOString() : ''}`;
}
