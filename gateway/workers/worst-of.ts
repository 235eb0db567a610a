// Combines the states that each worker determines separately: the health of targets, and the load. The result is the worst state, because a
// part of the requests meets it. Numbers of requests that wait for an answer are added. Pure.

import { type CredentialState, isSuspended } from '../shared/contracts/upstreams.ts';

export interface WorkerUpstream {
  readonly targets?: readonly { readonly state: string; readonly answered_at?: string | null }[];
  readonly breaker?: Readonly<Record<string, string>>;
  readonly credential?: CredentialState;
  readonly shedding?: boolean;
  readonly unanswered?: readonly WaitingRequests[];
}

/** Requests of one operation, in one mode, that wait for the answer of an upstream. */
interface WaitingRequests {
  readonly operation: string;
  readonly mode?: string;
  readonly requests: number;
  readonly oldest_ms: number;
}

export interface OverloadReport {
  readonly shedding: boolean;
  readonly loop_overloaded: boolean;
}

/** More than any number of targets. */
const OF_ALL_REQUESTS = 10_000;

export function worstUpstreams<Report extends WorkerUpstream>(
  ofWorkers: readonly Readonly<Record<string, Report>>[],
): Record<string, Report> {
  const worst: Record<string, Report> = {};
  for (const [name, report] of ofWorkers.flatMap((upstreams) => Object.entries(upstreams))) {
    const known = worst[name];
    const worse = known === undefined || troubleOf(report) > troubleOf(known) ? report : known;
    const answered = known === undefined ? worse : withAnswers(worse, known, report);
    const unanswered = addRequests([...(known?.unanswered ?? []), ...(report.unanswered ?? [])]);
    worst[name] = unanswered.length === 0 ? answered : { ...answered, unanswered };
  }
  return worst;
}

/** Returns the report with the latest answer of each target, which another worker may have got. */
function withAnswers<Report extends WorkerUpstream>(report: Report, ...all: readonly WorkerUpstream[]): Report {
  const { targets = [] } = report;
  if (targets.every(({ answered_at: at }) => at === undefined)) return report;
  return {
    ...report,
    targets: targets.map((target, index) => {
      const times = all.flatMap(({ targets: others = [] }) => others[index]?.answered_at ?? []);
      return { ...target, answered_at: times.sort().at(-1) ?? null };
    }),
  };
}

function addRequests(all: readonly WaitingRequests[]): WaitingRequests[] {
  return [...Map.groupBy(all, ({ operation, mode }) => `${mode} ${operation}`).values()].map((rows) => ({
    ...(rows[0] as WaitingRequests),
    requests: rows.reduce((sum, { requests }) => sum + requests, 0),
    oldest_ms: Math.max(...rows.map(({ oldest_ms: ms }) => ms)),
  }));
}

export function worstOverload<Report extends OverloadReport>(ofWorkers: readonly Report[]): Report | undefined {
  const rank = ({ shedding, loop_overloaded: isLate }: Report) => Number(shedding) + 2 * Number(isLate);
  return ofWorkers.toSorted((one, other) => rank(other) - rank(one))[0];
}

function troubleOf({ targets = [], breaker = {}, credential, shedding }: WorkerUpstream): number {
  const isStopped = isSuspended(credential) || Object.values(breaker).some((state) => state !== 'closed');
  const isOut = ({ state }: { readonly state: string }) => state !== 'healthy' && state !== 'returning';
  return (isStopped ? OF_ALL_REQUESTS : 0) + (shedding ? OF_ALL_REQUESTS / 2 : 0) + targets.filter(isOut).length;
}
