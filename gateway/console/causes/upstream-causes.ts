// Pure: finds the causes of an upstream. Failing targets and the circuit breaker that they open are one cause.

import type { CredentialFault } from '../../shared/contracts/upstreams.ts';
import { type FoundCause, failureCause, SILENT, type UpstreamReport, warningCause } from './cause.ts';
import { estimateText, type ServiceTimes } from './service-times.ts';
import { count, type Telling, telling } from './telling.ts';

type Target = NonNullable<UpstreamReport['targets']>[number];

/** The states of targets that requests avoid, or that fail. */
export const OUT = ['ejected', 'unhealthy', 'failing'];

/** The error of a target that had the request and did not begin to answer in time. */
const LATE = 'http_response_timeout';

interface Suspension {
  readonly cause: string;
  readonly ends: string;
  readonly runbook: string;
}

const WITHOUT_SECRET = 'GatewayCredentialMissing';

/** Returns why no request is sent to an upstream, and what ends this. */
function suspensionOf(upstream: string, { reason, secret, detail }: CredentialFault): Suspension {
  const without = `The gateway has no credential for upstream ${upstream}: the secret ${secret}`;
  const file = `the file SECRETS_DIR/${secret}`;
  const orAnew = `, or the gateway is started with the variable ${secret.toUpperCase()}`;
  switch (reason) {
    case 'refused':
      return {
        cause: `Upstream ${upstream} refused the credential of the gateway, the secret ${secret}.`,
        ends: `${file} changes${orAnew}, or its addresses change`,
        runbook: 'GatewayCredentialLatched',
      };
    case 'absent':
      return { cause: `${without} is missing.`, ends: `the secret is in ${file}${orAnew}`, runbook: WITHOUT_SECRET };
    case 'unusable': {
      const what = detail === undefined ? 'is not in the form of its kind.' : `cannot be used. ${detail}`;
      return { cause: `${without} ${what}`, ends: `${file} has the right secret${orAnew}`, runbook: WITHOUT_SECRET };
    }
    default:
      return reason satisfies never;
  }
}

function suspensionCause(
  name: string,
  fault: NonNullable<UpstreamReport['credential_fault']>,
  details: string,
): FoundCause {
  const { cause, ends, runbook } = suspensionOf(name, fault);
  const consequence = `Nothing is sent to it until ${ends}; its requests get 502 upstream_auth_failed.`;
  const about = { topic: 'upstream', name, detail: 'credential' } as const;
  return failureCause(about, cause, consequence, { since: fault.began_at, runbook, details });
}

/** @param times how long the service takes, if that is known */
export function upstreamCauses(
  [name, upstream]: readonly [string, UpstreamReport],
  times?: ServiceTimes,
): FoundCause[] {
  const { targets = [], breaker = {}, credential_fault: fault, shedding, isolated_until: until } = upstream;
  const details = `#/upstreams/${encodeURIComponent(name)}`;
  const modes = new Set([...targets.map(({ mode }) => mode), ...Object.keys(breaker)]);
  const found = [...modes].flatMap((mode) =>
    modeCauses({
      name,
      mode,
      details,
      breaker: breaker[mode],
      targets: targets.filter((target) => target.mode === mode),
    }),
  );
  if (fault !== undefined) found.push(suspensionCause(name, fault, details));
  // An open breaker refuses requests before they queue, so an overload beside it is the same cause.
  if (shedding === true && !found.some(({ kind }) => kind === 'bad'))
    found.push(
      failureCause(
        { topic: 'upstream', name, detail: 'shedding' },
        telling`Upstream ${name} is overloaded${loadOf(upstream, times)}.`,
        'A part of its requests gets 503 upstream_overloaded.',
        {
          title: `Upstream ${name} is overloaded.`,
          runbook: 'GatewayShedding',
          details,
          figures: figuresIn(upstream, times),
        },
      ),
    );
  if (typeof until === 'string')
    found.push(
      warningCause(
        { topic: 'upstream', name, detail: 'unasked' },
        `Upstream ${name} sent bytes that no request asked for.`,
        'Each of its requests gets a connection of its own, as with isolate: true, so that no client gets the answer of another one.',
        { until, details },
      ),
    );
  return found;
}

function loadOf({ places }: UpstreamReport, times: ServiceTimes | undefined): Telling {
  const load =
    places === undefined
      ? []
      : [telling`${count('in_flight')} of ${count('places')} places taken, ${count('waiting')} waiting`];
  const before = times?.beforeMs === undefined ? '' : `, ${estimateText(times.beforeMs)} before`;
  const took = times === undefined ? [] : [telling`the service takes ${estimateText(times.nowMs)}${before}`];
  return [...load, ...took].flatMap((part, index) => [index === 0 ? ': ' : '; ', ...part]);
}

function figuresIn({ in_flight: inFlight = 0, places, waiting = 0 }: UpstreamReport, times: ServiceTimes | undefined) {
  const figures = { in_flight: inFlight, places, waiting, p50_ms: times?.nowMs, p50_before_ms: times?.beforeMs };
  const known = Object.entries(figures).filter((one): one is [string, number] => one[1] !== undefined);
  return Object.fromEntries(known.map(([key, value]) => [key, Math.round(value)]));
}

interface UpstreamMode {
  readonly name: string;
  readonly mode: string;
  readonly breaker: string | undefined;
  readonly targets: readonly Target[];
  readonly details: string;
}

function modeCauses({ name, mode, breaker, targets, details }: UpstreamMode): FoundCause[] {
  const about = { topic: 'upstream', name, detail: mode } as const;
  const out = targets.filter(({ state }) => OUT.includes(state));
  const since = outSince(out);
  const fault = faultOf(out);
  const reason = [...new Set(out.map(({ last_error: error }) => error ?? ''))].sort().join(', ');
  if (breaker === 'open' || breaker === 'half_open') {
    const what = out.length > 0 ? faultsOf(out, targets.length) : 'its requests failed';
    return [
      failureCause(
        about,
        `Upstream ${name} (${mode}): ${what}.`,
        breaker === 'open'
          ? 'The circuit breaker is open: its requests get 503.'
          : 'The circuit breaker is half open: only trials are sent, other requests get 503.',
        { since, runbook: 'GatewayBreakerOpen', reason, details, fault },
      ),
    ];
  }
  const trial = targets.filter(({ state }) => state === 'trial');
  if (out.length === 0 && trial.length > 0)
    return [
      warningCause(about, `Upstream ${name} (${mode}): ${faultsOf(trial)}.`, 'It gets one request at a time.', {
        since: outSince(trial),
        runbook: runbookOf(trial),
        details,
        fault: faultOf(trial),
      }),
    ];
  if (out.length === 0) return [];
  const more = { since, runbook: runbookOf(out), reason, details, fault };
  const again =
    out.length === 1 && out[0]?.ejected_until ? ` A request tries it again at ${out[0].ejected_until}.` : '';
  const unanswered = fault === SILENT ? '504 upstream_timeout' : '502 or 504';
  const fails = `Its requests fail with ${refusalsOf(out) ?? unanswered}.${again}`;
  return out.length === targets.length
    ? [failureCause(about, `Upstream ${name} (${mode}): ${faultsOf(out, targets.length)}.`, fails, more)]
    : [
        warningCause(
          about,
          `Upstream ${name} (${mode}): ${faultsOf(out)}.`,
          `The other targets get its share.${again}`,
          more,
        ),
      ];
}

/** The responses that clients get for the statuses of a service; `OTHER_ERROR` for other statuses. */
const ERROR_OF_STATUS: Readonly<Record<string, string>> = {
  500: '500 upstream_error',
  503: '503 upstream_unavailable',
  504: '504 upstream_timeout',
};
const OTHER_ERROR = '502 upstream_bad_response';

/** Returns the refusals; undefined if one of the targets gave no answer. */
function refusalsOf(targets: readonly Target[]): string | undefined {
  const statuses = targets.map(({ last_error: error }) => /^status (\d+)$/.exec(error ?? '')?.[1]);
  const refusals = statuses.map((status) => status && (ERROR_OF_STATUS[status] ?? OTHER_ERROR));
  return refusals.includes(undefined) ? undefined : [...new Set(refusals)].join(' or ');
}

/** A service that answers is not down. Its own log says why it fails. */
function runbookOf(targets: readonly Target[]): string {
  return refusalsOf(targets) === undefined ? 'GatewayTargetDown' : 'GatewayUpstreamErrors';
}

function outSince(targets: readonly Target[]): string | undefined {
  return targets
    .map(({ failing_since: at }) => at)
    .filter((at) => typeof at === 'string')
    .sort()[0];
}

/** A service that is down and a service that is slow are separate incidents, even if one follows the other. */
function faultOf(targets: readonly Target[]): string {
  return targets.length > 0 && targets.every(({ last_error: error }) => error === LATE) ? SILENT : 'down';
}

/** @param of the number of all targets */
function faultsOf(targets: readonly Target[], of = Number.POSITIVE_INFINITY): string {
  const [first] = targets;
  if (first === undefined) return '';
  const words: Readonly<Record<string, string>> = {
    ejected: 'is ejected, because requests to it failed',
    unhealthy: 'fails its health checks',
    failing: 'is failing',
    trial: 'failed and is being tried again',
  };
  const error = first.last_error ? ` (${first.last_error === LATE ? 'no answer in time' : first.last_error})` : '';
  const others = targets.length > 1 ? `, and ${targets.length - 1} more` : '';
  const fault = `${first.address} ${words[first.state] ?? first.state}${error}${others}`;
  return of > 1 && targets.length === of ? `all its ${of} targets fail: ${fault}` : `target ${fault}`;
}
