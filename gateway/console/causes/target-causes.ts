// Pure: finds out whether the requests of an upstream fail at the targets that are out. The targets and these requests are then one
// failure, which names the target, because the service behind the other targets is well.

import { type FoundCause, failureCause, type UpstreamReport } from './cause.ts';
import type { PresentTraffic } from './present.ts';
import { count, telling } from './telling.ts';
import { codesIn, failingOf } from './traffic-causes.ts';
import { OUT } from './upstream-causes.ts';

/** The smallest part of the failed requests whose target must be out. The last target of a retried request may be another one. */
const PART = 0.9;

/** Returns the failure if the requests fail at the targets that a warning is about; otherwise returns the cause as it is. */
export function withFailuresAtTargets(
  cause: FoundCause,
  [name, { targets = [] }]: readonly [string, UpstreamReport],
  present: PresentTraffic,
): FoundCause {
  const { kind, about, since, runbook, details, fault } = cause;
  const out = targets.filter(({ mode, state }) => mode === about.detail && [...OUT, 'trial'].includes(state));
  const failing = failingOf(present, name).filter(({ isRecovering }) => !isRecovering);
  const names = failing.map((one) => one.name);
  const failedAt = names.flatMap((operation) => present.failureCodes.get(operation)?.targets ?? []);
  const atThem = failedAt.filter((target) => out.some(({ origin }) => origin === target));
  if (kind === 'bad' || atThem.length === 0 || atThem.length < PART * failedAt.length) return cause;
  const sum = (of: 'requests' | 'failed') => failing.reduce((total, one) => total + one[of], 0);
  const figures = { requests: sum('requests'), failed: sum('failed') };
  const counted = telling`${count('failed')} of ${count('requests')} requests failed in the last minute, at ${out.length > 1 ? 'these targets' : 'this target'}`;
  const addresses = out.map(({ address }) => address).join(' and ');
  const remove = `To remove it, delete ${addresses} from upstreams.${name}.${about.detail} in upstreams.yaml: it is in force once saved.`;
  const consequence = telling`${counted}${codesIn(names, present.failureCodes)}. ${cause.consequence} ${remove}`;
  const extent = { of: 'operations', names, span: 'minute' } as const;
  return failureCause(about, cause.cause, consequence, { since, runbook, details, figures, fault, extent });
}
