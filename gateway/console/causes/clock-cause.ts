// Pure: finds instances whose clock differs from that of the others, by the times at which they answer the same question.

import { durationText } from '../../shared/text.ts';
import { type FoundCause, warningCause } from './cause.ts';

interface ClockOfInstance {
  readonly name: string;
  /** Epoch milliseconds; absent from an instance of an earlier version. */
  readonly clock_ms?: number | undefined;
}

/** Answers come within about a second of each other. */
const DIFFERENCE_MIN_MS = 5000;

/** Returns a warning for each instance whose clock differs from the middle one. Of two clocks, the later one is named. */
export function clockCauses(instances: readonly ClockOfInstance[]): FoundCause[] {
  const clocks = instances
    .flatMap(({ name, clock_ms: ms }) => (ms === undefined ? [] : [{ name, ms }]))
    .sort((one, other) => one.ms - other.ms);
  const middle = clocks[Math.floor((clocks.length - 1) / 2)];
  if (middle === undefined) return [];
  return clocks.flatMap(({ name, ms }) => {
    const differenceMs = Math.abs(ms - middle.ms);
    if (differenceMs < DIFFERENCE_MIN_MS) return [];
    const side = ms > middle.ms ? 'ahead of' : 'behind';
    const cause = `The clock of instance ${name} is ${durationText(differenceMs)} ${side} that of ${middle.name}.`;
    const consequence =
      'On one of them keys, tokens and sessions end at the wrong time, and log and history have wrong times. Let NTP set the clock of both machines.';
    return [warningCause({ topic: 'clock', name }, cause, consequence, { details: '#/system' })];
  });
}
