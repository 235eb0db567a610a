// Pure: what needs an operator's attention, from the status of one gateway and its last minute. One entry for one cause. Refusals that
// clients cause are none, unless they are a great part of what one organization sends.

import { type Cause, failureCause, type StatusForCauses, type UpstreamReport, warningCause } from './cause.ts';
import { type CauseMemory, isCulprit } from './cause-memory.ts';
import { organizationsInTrouble } from './organization-causes.ts';
import { redisCause } from './redis-cause.ts';
import { serviceTimes } from './service-times.ts';
import { failingOperations, isOver, type Present, recoveryOf, slowOperations, symptomsOf } from './traffic-causes.ts';
import { unknownCallers } from './unknown-callers.ts';
import { upstreamCauses } from './upstream-causes.ts';

/** The last minute: requests, those with 5xx, and the code that most of these have. */
export interface LastMinute {
  readonly requests: number;
  /** 5xx of services. */
  readonly failed: number;
  /** 5xx of the gateway itself. */
  readonly refused: number;
  readonly mostOften?: string | undefined;
}

/** The latest counts are of at most so long: what they show began after a failure that was over before. */
const LATEST_MS = 30_000;
/** As the alert GatewayCertificateOrderFails. */
const FAILURES_WARNED = 3;

/**
 * Failures come before warnings. Null: no process reports its state.
 *
 * @param present the counts of operations and organizations; absent if nothing is told about them
 * @param memory of earlier looks; without it each cause may be one that lasts
 */
export function causesOf(
  status: StatusForCauses | null,
  minute: LastMinute,
  nowMs: number,
  present?: Present,
  memory?: CauseMemory,
): Cause[] {
  if (status === null)
    return [
      failureCause('silent', 'No worker reports its state.', 'Requests may get no answer.', { runbook: 'GatewayDown' }),
    ];
  const found = [
    ...ofLifecycle(status),
    ...ofConfiguration(status),
    ...redisCause(status, nowMs),
    ...Object.entries(status.upstreams ?? {}).flatMap((one) => ofUpstream(one, present)),
    ...ofIssuers(status),
    ...ofOverload(status),
    ...(status.workers ?? []).flatMap(ofWorker),
    ...(status.certificates ?? []).flatMap(ofCertificate),
    ...ofReceivers(status),
  ];
  const failures = found.filter(({ kind }) => kind === 'bad').map(({ id }) => id);
  const past = (memory?.culprits(nowMs) ?? []).filter(
    (id) => present === undefined || !failsOn(id, status, present, memory?.agoMs(id, nowMs) ?? 0),
  );
  if (present !== undefined) found.push(...recovering(status, found, present, past));
  // The gateway's own failures and those of an upstream are the cause of errors, which are not told a second time. They stay the cause of
  // what was counted in their time.
  const culprits = [...failures.filter(isCulprit), ...past];
  const isOwn = culprits.some((id) => /^(redis|stores|loop|shedding)/.test(id));
  const isTold = (upstream: string | undefined) =>
    isOwn || culprits.some((id) => upstream !== undefined && id.startsWith(`upstream ${upstream} `));
  const mayBegin = (id: string) => memory === undefined || memory.lasts(id);
  const failing = present === undefined ? [] : failingOperations(present, isTold, mayBegin);
  if (failing.length > 0) found.push(...failing);
  else if (!culprits.some((id) => /^(upstream|redis|stores)/.test(id)) && !(present !== undefined && isOver(present)))
    found.push(...ofErrors(isOwn ? { ...minute, refused: 0 } : minute));
  if (present !== undefined && !isOwn)
    found.push(...unknownCallers(present, memory?.lasts('unknown callers') ?? false));
  if (present !== undefined)
    found.push(
      ...slowOperations(present, isTold, (upstream) => status.upstreams?.[upstream]?.waiting ?? 0),
      ...organizationsInTrouble(
        present,
        nowMs,
        culprits.length > 0,
        status.limits?.state === 'away' && status.limits.policyInForce === 'local',
      ),
    );
  return [...found.filter(({ kind }) => kind === 'bad'), ...found.filter(({ kind }) => kind !== 'bad')];
}

/** Upstreams that work again, while the figures of the last minute still show their failure. */
function recovering(
  { upstreams = {} }: StatusForCauses,
  found: readonly Cause[],
  present: Present,
  culprits: readonly string[],
): Cause[] {
  return Object.keys(upstreams).flatMap((name) => {
    const id = culprits.find((one) => one.startsWith(`upstream ${name} `));
    const now = id === undefined ? undefined : recoveryOf(present, name);
    if (id === undefined || now === undefined || found.some((one) => one.id.startsWith(`upstream ${name} `))) return [];
    const { requests, failed, isRecovering } = now;
    const counted = `${failed} of ${requests} requests failed in the last minute`;
    const cause = isRecovering
      ? `is recovering: ${counted}, none in the last 15 seconds.`
      : `answers again: ${counted}.`;
    const figures = { requests, failed };
    const details = `#/upstreams/${encodeURIComponent(name)}`;
    const more = { title: `Upstream ${name} fails.`, runbook: 'GatewayTargetDown', details, figures };
    return [warningCause(id, `Upstream ${name} ${cause}`, '', more)];
  });
}

/** Whether the failures of an upstream go on although nothing is wrong with its targets: its operations then tell them. */
function failsOn(id: string, { upstreams = {} }: StatusForCauses, present: Present, agoMs: number): boolean {
  const name = Object.keys(upstreams).find((one) => id.startsWith(`upstream ${one} `));
  return agoMs >= LATEST_MS && name !== undefined && recoveryOf(present, name)?.isRecovering === false;
}

/** The failure of an upstream, with what its operations show of it. */
function ofUpstream(one: readonly [string, UpstreamReport], present: Present | undefined): Cause[] {
  const [name] = one;
  const causes = upstreamCauses(one, present && serviceTimes(present, name));
  const symptoms = present === undefined ? '' : symptomsOf(present, name);
  const [first] = causes.filter(({ kind }) => kind === 'bad');
  return causes.map((cause) => (cause === first ? { ...cause, consequence: cause.consequence + symptoms } : cause));
}

function ofLifecycle({ lifecycle }: StatusForCauses): Cause[] {
  if (lifecycle === undefined || lifecycle === 'serving') return [];
  const consequence = lifecycle === 'starting' ? 'It is not ready yet.' : 'It accepts no new requests soon.';
  return [warningCause('lifecycle', `The gateway is ${lifecycle}.`, consequence)];
}

function ofConfiguration({ configuration }: StatusForCauses): Cause[] {
  const failure = configuration?.last_failure;
  if (!failure) return [];
  const [first = '', ...others] = failure.mistakes;
  const more = others.length > 0 ? `, and ${others.length} more` : '';
  const which = `${shortened(first)}${more}`;
  const links = { since: failure.at, runbook: 'GatewayConfigurationRefused', details: '#/system' };
  const stays = 'The previous configuration stays in force';
  return [
    failure.needs_restart === true
      ? warningCause(
          'configuration restart',
          `The configuration files wait for a restart: ${which}.`,
          `${stays}, also for their other changes.`,
          links,
        )
      : failureCause(
          'configuration',
          `The configuration files have mistakes: ${which}.`,
          `${stays}; the next start fails.`,
          links,
        ),
  ];
}

/** The first sentence, with the name of the file alone: the details have the rest. */
function shortened(mistake: string): string {
  const [first = ''] = mistake.split(/\.(?:\s|$)/);
  return first.replace(/^\S*\//, '');
}

function ofIssuers({ issuers = {} }: StatusForCauses): Cause[] {
  return Object.entries(issuers).flatMap(([name, { failure, read_at: since }]) =>
    failure === undefined
      ? []
      : [
          warningCause(
            `issuer ${name}`,
            `The keys of the issuer ${name} cannot be read: ${failure}.`,
            'Tokens are checked with the keys that were read last.',
            { since, details: '#/system' },
          ),
        ],
  );
}

function ofOverload({ overload }: StatusForCauses): Cause[] {
  if (overload?.loop_overloaded)
    return [
      failureCause('loop', 'The event loop is overloaded.', 'Requests of unknown callers get 503 gateway_overloaded.', {
        runbook: 'GatewayEventLoopLate',
        details: '#/requests?code=gateway_overloaded',
      }),
    ];
  if (!overload?.shedding) return [];
  return [
    failureCause('shedding', 'The gateway is overloaded.', 'A part of the requests gets 503 gateway_overloaded.', {
      runbook: 'GatewayShedding',
      details: '#/requests?code=gateway_overloaded',
    }),
  ];
}

function ofWorker({
  worker,
  state,
  starts_at: until,
  since,
}: NonNullable<StatusForCauses['workers']>[number]): Cause[] {
  const more = { since, until: until ?? undefined, runbook: 'GatewayWorkerRestarts', details: '#/system' };
  const others = 'The other workers take its requests.';
  if (state === 'waiting')
    return [failureCause(`worker ${worker}`, `Worker ${worker} died and waits for its next start.`, others, more)];
  return state === 'silent'
    ? [failureCause(`worker ${worker}`, `Worker ${worker} does not answer.`, others, more)]
    : [];
}

function ofCertificate({
  names = [],
  state,
  days_left: days,
  expires_at: until,
  last_failure: failure,
}: NonNullable<StatusForCauses['certificates']>[number]): Cause[] {
  const name = names[0] ?? '?';
  const id = `certificate ${name}`;
  const more = { until: until ?? undefined, details: '#/system' };
  const why = failure ? ` ${failure.reason}` : '';
  if (state === 'missing') {
    const consequence = `Clients cannot connect.${why}`;
    const runbook = 'GatewayCertificateMissing';
    return [failureCause(id, `There is no certificate for ${name} yet.`, consequence, { ...more, runbook })];
  }
  const runbook = 'GatewayCertificateExpires';
  const consequence = 'Clients refuse the connection.';
  if (state === 'expired')
    return [failureCause(id, `The certificate for ${name} has expired.`, `${consequence}${why}`, { ...more, runbook })];
  if (state === 'expiring') {
    const left = !days ? 'within a day' : days === 1 ? 'in one day' : `in ${days} days`;
    const then = `Clients then refuse the connection.${why}`;
    return [warningCause(id, `The certificate for ${name} expires ${left}.`, then, { ...more, runbook })];
  }
  if ((failure?.failures ?? 0) < FAILURES_WARNED) return [];
  const orderFails = { ...more, runbook: 'GatewayCertificateOrderFails' };
  return [warningCause(id, `The certificate for ${name} is not renewed.`, failure?.reason ?? '', orderFails)];
}

/** Tells the other receivers, too. */
function ofReceivers({ alerts }: StatusForCauses): Cause[] {
  return Object.entries(alerts?.receivers ?? {}).flatMap(([name, { state, reason, failing_since: since }]) =>
    state !== 'failing'
      ? []
      : [
          warningCause(
            `receiver ${name}`,
            `Alerts do not reach the receiver ${name}: ${reason}.`,
            'They are sent again until they do.',
            { since: since ?? undefined, details: '#/alerts' },
          ),
        ],
  );
}

/** Warns from three errors on that are at least one percent of the requests. */
function ofErrors({ requests, failed, refused, mostOften }: LastMinute): Cause[] {
  const errors = failed + refused;
  if (errors < 3 || errors * 100 < requests) return [];
  const what = failed === 0 ? 'The gateway refuses requests with 5xx' : 'Requests fail with 5xx';
  const share = `(${((100 * errors) / requests).toFixed(0)} %)`;
  const both = failed > 0 && refused > 0 ? `, ${failed} failed and ${refused} were refused by the gateway` : '';
  const code = mostOften === undefined ? '' : `, most of them with ${mostOften}`;
  return [
    failureCause('errors', `${what}: ${errors} of ${requests} in the last minute ${share}${both}${code}.`, '', {
      title: 'Responses with 5xx.',
      runbook: 'GatewayServerErrors',
      details: '#/requests?status=5xx',
      figures: { requests, failed, refused },
    }),
  ];
}
