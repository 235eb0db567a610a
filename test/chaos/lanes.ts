// Carries the schedule out: one fault after another, or two lanes of them at the same time.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Disturbance, Disturbances } from './disturbances.ts';
import type { Fault } from './faults.ts';
import type { Random } from './random.ts';
import type { Step } from './schedule.ts';
import type { Stand } from './stand.ts';

interface LanesOptions {
  readonly stand: Stand;
  readonly disturbances: Disturbances;
  /** Gets each fault as it begins. */
  tell(line: string): void;
}

/** Resolves when it is over and nothing of it is left. */
export async function breakOnce(
  { stand, disturbances, tell }: LanesOptions,
  step: Step,
  random: Random,
): Promise<Disturbance> {
  const { fault, lastsMs } = step;
  const { name, breaksConnections = false, endsStreams = false, losesKeys = false, explainsNothing = false } = fault;
  const disturbance = disturbances.begin({ name, breaksConnections, endsStreams, losesKeys, explainsNothing });
  tell(`${name}, ${lastsMs} ms`);
  const end = await fault.begin(stand, random);
  await sleep(lastsMs);
  await end();
  disturbance.endedAt = Date.now();
  return disturbance;
}

/** Breaks one thing after another until the time has come, epoch milliseconds. */
export async function breakUntil(
  options: LanesOptions,
  steps: Iterable<Step>,
  random: Random,
  endsAt: number,
  allows: (fault: Fault) => boolean,
): Promise<void> {
  for (const step of steps) {
    if (!allows(step.fault)) continue;
    if (Date.now() + step.pauseMs + step.lastsMs > endsAt) return;
    await sleep(step.pauseMs);
    await breakOnce(options, step, random);
  }
}
