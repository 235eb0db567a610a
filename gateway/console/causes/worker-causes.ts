// Pure: finds the causes in the workers of the gateway, and says how a worker ended.

import { type FoundCause, failureCause, type StatusForCauses } from './cause.ts';

type WorkerRow = NonNullable<StatusForCauses['workers']>[number];

export function workerCauses({
  worker,
  state,
  starts_at: until,
  since,
  pid,
  last_death: death,
}: WorkerRow): FoundCause[] {
  const about = { topic: 'worker', name: String(worker) } as const;
  const more = { runbook: 'GatewayWorkerRestarts', details: '#/system' };
  if (state === 'waiting') {
    const text = `Worker ${worker} ${deathText(death)} and waits for its next start.`;
    const times = { since: death?.at, until: until ?? undefined, next: 'bin/gateway status --history' };
    return [failureCause(about, text, 'The other workers take its requests.', { ...more, ...times })];
  }
  if (state !== 'silent') return [];
  const process = pid == null ? '' : ` (process ${pid})`;
  const consequence =
    'Its requests in progress wait; the other workers take new ones. If it is killed, another one takes its place.';
  const next = pid == null ? undefined : `kill -KILL ${pid}`;
  return [failureCause(about, `Worker ${worker}${process} does not answer.`, consequence, { ...more, since, next })];
}

/** Returns the end of a worker that was not told to end, as the predicate of a sentence. */
export function deathText({ pid, code, signal }: NonNullable<WorkerRow['last_death']> = {}): string {
  const process = pid === undefined ? '' : ` (process ${pid})`;
  if (signal) return `was ended by ${signal}${process}`;
  return code == null ? 'died' : `ended with the exit code ${code}${process}`;
}
