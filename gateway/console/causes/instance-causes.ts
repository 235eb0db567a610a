// Pure: makes the causes of instances that do not respond, and of instances that were missing until a moment ago.

import {
  type FleetInstance,
  GONE_MS,
  type MissingInstance,
  machineOf,
  type ReturnedInstance,
} from '../fleet/fleet-instance.ts';
import { type FoundCause, idOf, warningCause } from './cause.ts';

export function missingCauseId(name: string): string {
  return idOf({ topic: 'instance', name });
}

export function silentCause(instance: FleetInstance | MissingInstance): FoundCause {
  const { name, admin_port: port } = instance;
  const since = 'missing_since' in instance ? instance.missing_since : undefined;
  const goneAt = since === undefined ? undefined : new Date(Date.parse(since) + GONE_MS).toISOString();
  const heard = since === undefined ? '' : `It was last heard of at ${since}. `;
  return {
    about: { topic: 'instance', name },
    id: missingCauseId(name),
    kind: 'bad',
    cause: `Instance ${name} does not respond.`,
    consequence: `${heard}${processText(instance)} Its latest requests are not among these figures. If it is gone for good, dismiss it in the console under System${goneAt === undefined ? '' : `; at ${goneAt} it counts as gone`}.`,
    next: isDead(instance)
      ? 'bin/gateway check'
      : port === undefined
        ? undefined
        : `ADMIN_PORT=${port} bin/gateway status`,
    ...(goneAt !== undefined && { until: goneAt }),
    since,
    // Another process under the same name is another incident.
    fault: instance.id,
    runbook: 'GatewayDown',
    details: '#/system',
    instances: [name],
  };
}

/** A process that does not run cannot answer. What starts it, such as a supervisor, is not known here. */
function isDead(instance: FleetInstance | MissingInstance): boolean {
  return 'runs' in instance && instance.runs === false;
}

/** Says whether the process was killed or hangs, if it ran on this machine, and otherwise where to find this out. */
function processText({ name, pid, ...instance }: FleetInstance | MissingInstance): string {
  if (pid === undefined) return 'It may be down.';
  const runs = 'runs' in instance ? instance.runs : undefined;
  if (runs === undefined) return `Look on ${machineOf({ name })} whether its process ${pid} runs.`;
  return runs
    ? `Its process ${pid} runs, so it hangs or is stopped.`
    : `Its process ${pid} does not run any more. Start it again; its log, or that of its supervisor, says why it ended.`;
}

/** Returns the recovered cause of an instance that has returned. Alerts read the reason from it. */
export function returnedCause({ name, missing_since: since, at: endedAt, why }: ReturnedInstance): FoundCause {
  const text = `Instance ${name} is no longer missing.`;
  return {
    ...warningCause({ topic: 'instance', name }, text, why, { since, hasRecovered: true }),
    details: '#/system',
    ended: why,
    endedAt,
    instances: [name],
  };
}
