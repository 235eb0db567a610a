// Pure: what needs an operator's attention, from the status of one gateway and its last minute. Each cause has one entry. Refusals for
// mistakes of clients are no cause, unless they are a large part of the requests of one organization.

import {
  type About,
  type FoundCause,
  failureCause,
  SILENT,
  type StatusForCauses,
  toldIn,
  type UpstreamReport,
} from './cause.ts';
import { type CauseMemory, isCulprit } from './cause-memory.ts';
import { brokenContracts } from './contract-causes.ts';
import { organizationsInTrouble } from './organization-causes.ts';
import { ownCauses } from './own-causes.ts';
import type { PresentTraffic } from './present.ts';
import { recentChange } from './recent-change.ts';
import { serviceTimes } from './service-times.ts';
import { slowOperations } from './slow-causes.ts';
import { storeCauses } from './store-causes.ts';
import { withFailuresAtTargets } from './target-causes.ts';
import { count, percent, SYMPTOMS, telling } from './telling.ts';
import { failingOperations, isOver, namesOfFailing, symptomsOf, timeoutIn } from './traffic-causes.ts';
import { unansweredCause, unansweredIn } from './unanswered-causes.ts';
import { unknownCallers } from './unknown-callers.ts';
import { upstreamCauses } from './upstream-causes.ts';
import { failsOn, isOfUpstream, recoveringUpstreams } from './upstream-recovery.ts';

/** The last minute: the requests, the requests with 5xx, and the most frequent code among these. */
export interface LastMinute {
  readonly requests: number;
  /** 5xx of services. */
  readonly failed: number;
  /** 5xx of the gateway itself. */
  readonly refused: number;
  readonly mostOften?: string | undefined;
}

/**
 * Finds the causes. Returns failures before warnings.
 *
 * @param status null if no process reports its state
 * @param present the counts of operations, organizations and upstreams
 * @param memory the causes of earlier calls
 */
export function causesOf(
  status: StatusForCauses | null,
  minute: LastMinute,
  nowMs: number,
  present: PresentTraffic,
  memory: CauseMemory,
): FoundCause[] {
  if (status === null)
    return [
      failureCause({ topic: 'silent' }, 'No worker reports its state.', 'Requests may get no answer.', {
        runbook: 'GatewayDown',
      }),
    ];
  const found = [
    ...storeCauses(status, nowMs).filter((cause) => !isLastWriteOf(cause, memory.culprits(nowMs))),
    ...Object.entries(status.upstreams ?? {}).flatMap((one) => causesWithSymptoms(one, status, nowMs, present)),
    ...ownCauses(status),
  ];
  const failures = found.filter(({ kind }) => kind === 'bad').map(({ about }) => about);
  const hasFailed = (upstream: string) => failures.some((about) => isOfUpstream(about, upstream));
  const silent = unansweredIn(status, present, { hasFailed, wasSilent: memory.wasSilent });
  found.push(...silent.map((one) => unansweredCause(one, nowMs)));
  const unanswered = new Set(silent.flatMap(({ late }) => late.map(({ operation }) => operation)));
  const past = memory
    .culprits(nowMs)
    .filter(({ about, agoMs }) => !failsOn(about, status, present, agoMs))
    .map(({ about }) => about);
  found.push(...recoveringUpstreams(status, found, present, past));
  const blame = blameOf([...failures.filter(isCulprit), ...past]);
  found.push(
    ...errorCauses(minute, present, blame, unanswered, memory.lasts),
    ...brokenContracts(present, memory.wasFailure),
  );
  if (!blame.isOwn) found.push(...unknownCallers(present, memory.lasts({ topic: 'unknown callers' })));
  const left = new Set([...namesOfFailing(present), ...unanswered]);
  const waitingFor = (upstream: string) => status.upstreams?.[upstream]?.waiting ?? 0;
  found.push(
    ...slowOperations(present, (upstream) => blame.isOwn || blame.hasUpstream(upstream), left, waitingFor),
    ...organizationsInTrouble(present, status, nowMs, blame.isAny),
  );
  return [...found.filter(({ kind }) => kind === 'bad'), ...found.filter(({ kind }) => kind !== 'bad')];
}

/** The key store keeps the error of its last write until the next one, a few seconds after the disk has room again. */
const LAST_WRITE_MS = 20_000;

/** Whether a cause is only the error of the last write during an outage of the stores that is over. */
function isLastWriteOf({ about: { topic } }: FoundCause, culprits: ReturnType<CauseMemory['culprits']>): boolean {
  return (
    topic === 'store writes' && culprits.some(({ about, agoMs }) => about.topic === 'stores' && agoMs < LAST_WRITE_MS)
  );
}

/**
 * Returns the failures of the gateway and of upstreams. Errors that were counted during these failures are not separate causes.
 */
function blameOf(culprits: readonly About[]) {
  const has = (...topics: readonly About['topic'][]) => culprits.some(({ topic }) => topics.includes(topic));
  return {
    isAny: culprits.length > 0,
    isOwn: has('redis', 'stores', 'loop', 'shedding'),
    // A late event loop may make requests to services fail. An outage of the stores does not do this, so it must not hide failures of
    // services.
    isBusy: has('loop'),
    isOutage: has('upstream', 'redis', 'stores'),
    hasUpstream: (upstream: string | undefined) =>
      upstream !== undefined && culprits.some((about) => isOfUpstream(about, upstream)),
  };
}

/**
 * Returns the failing operations; if there are none, returns the 5xx that nothing else explains.
 *
 * @param unanswered operations that no longer answer
 * @param wasShown whether the cause with this subject was found before
 */
function errorCauses(
  minute: LastMinute,
  present: PresentTraffic,
  blame: ReturnType<typeof blameOf>,
  unanswered: ReadonlySet<string>,
  wasShown: (about: About) => boolean,
): FoundCause[] {
  // An operation that no longer answers may have failed requests before. These belong to the same outage, so the operation is left out.
  const operations = present.operations.filter(({ name }) => !unanswered.has(name));
  const isExplained = (upstream: string | undefined) => blame.isBusy || blame.hasUpstream(upstream);
  const failing = failingOperations({ ...present, operations }, isExplained, wasShown);
  if (failing.length > 0) return failing;
  if (unanswered.size > 0 || blame.isOutage || isOver(present)) return [];
  return unexplainedErrors(blame.isOwn ? { ...minute, refused: 0 } : minute);
}

/**
 * Returns the causes of an upstream. The first failure also says which operations fail or are slow because of it, and which settings of the
 * upstream were changed before it.
 */
function causesWithSymptoms(
  one: readonly [string, UpstreamReport],
  status: StatusForCauses,
  nowMs: number,
  present: PresentTraffic,
): FoundCause[] {
  const [name] = one;
  const found = upstreamCauses(one, serviceTimes(present, name));
  const causes = found.map((cause) => withFailuresAtTargets(cause, one, present));
  const [first] = causes.filter(({ kind }) => kind === 'bad');
  // Without its credential, requests are refused before they are sent, so slow requests are older than the fault.
  const isUnsent = first?.about.detail === 'credential';
  const symptoms = symptomsOf(present, name, isUnsent);
  const ends = (change: string) => !isUnsent || /^upstreams\.[^.]+\.(live|test|credential)\b/.test(change);
  const changed = recentChange(status, `upstreams.yaml upstreams.${name}.`, nowMs, ends);
  const undo = changed === '' ? '' : `${changed} To go back, write the former value: it is in force once saved.`;
  return causes.map((cause) => {
    if (cause !== first) return cause;
    const more = { ...cause, ...(symptoms.length > 0 && { symptoms }) };
    const told = cause.told ?? cause;
    const late = cause.fault === SILENT ? timeoutIn(present, name) : '';
    return { ...more, ...toldIn(told.cause, telling`${told.consequence}${late}${SYMPTOMS}${undo}`, more) };
  });
}

/** Warns if three errors or more are at least one percent of the requests. */
function unexplainedErrors({ requests, failed, refused, mostOften }: LastMinute): FoundCause[] {
  const errors = failed + refused;
  if (errors < 3 || errors * 100 < requests) return [];
  const what = failed === 0 ? 'The gateway refuses requests with 5xx' : 'Requests fail with 5xx';
  const both =
    failed > 0 && refused > 0
      ? telling`, ${count('failed')} failed and ${count('refused')} were refused by the gateway`
      : '';
  const code = mostOften === undefined ? '' : `, most of them with ${mostOften}`;
  return [
    failureCause(
      { topic: 'errors' },
      telling`${what}: ${count('failed', 'refused')} of ${count('requests')} in the last minute (${percent(['failed', 'refused'], 'requests')} %)${both}${code}.`,
      '',
      {
        title: 'Responses with 5xx.',
        runbook: 'GatewayServerErrors',
        details: '#/requests?status=5xx',
        figures: { requests, failed, refused },
        extent: { of: 'all', names: [], span: 'minute' },
      },
    ),
  ];
}
