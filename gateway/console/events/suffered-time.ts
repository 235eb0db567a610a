// Says when the requests of a cause suffered that is found in the counts of the last minute. The cause is found after its first bad answer,
// and no longer found some time after its last one.

import { MINUTE_MS, SLOW_MIN_MS } from '../../shared/durations.ts';
import { type About, SLOW_TOPICS } from '../causes/cause.ts';
import { figuresOf, quantileMs } from '../history/figures.ts';
import type { History } from '../history/history.ts';
import { latestSamples } from '../history/present-counts.ts';
import { countedNamesOf, type OperationsOf, SLOW_PART } from './event-figures.ts';
import type { SufferedTime } from './outages.ts';
import { shownSubjectOf } from './shown-events.ts';

/** The topics of these causes. The others are found in the state of the gateway, which says when they begin and end. */
const COUNTED: readonly About['topic'][] = ['operation', 'operations of', 'contract', 'organization', ...SLOW_TOPICS];

export function createSufferedTime(
  bounds: readonly number[],
  history: History,
  operationsOf: OperationsOf,
): SufferedTime {
  function hasSuffered({ topic }: About, counts: readonly number[]): boolean {
    if (SLOW_TOPICS.includes(topic)) return (quantileMs(bounds, counts, SLOW_PART) ?? 0) >= SLOW_MIN_MS;
    const { refused, failed, broken } = figuresOf(bounds, counts);
    if (topic === 'contract') return broken > 0;
    return (topic === 'organization' ? refused : failed) > 0;
  }

  return function sufferedTime(about, nowMs) {
    const subject = shownSubjectOf(about);
    if (subject === undefined || !COUNTED.includes(about.topic)) return undefined;
    const samples = latestSamples(history, countedNamesOf(subject, operationsOf)).filter(
      ({ atMs }) => nowMs - atMs < MINUTE_MS,
    );
    const bad = samples.map(({ counts }) => hasSuffered(about, counts));
    const last = bad.lastIndexOf(true);
    // A slow operation is compared with its own past, in which single samples may have been slow.
    const first = SLOW_TOPICS.includes(about.topic) ? bad.lastIndexOf(false, last) + 1 : bad.indexOf(true);
    const [from, until] = [samples[first], samples[last]];
    // The sample before may have been counted shortly after this one began.
    const beforeMs = samples[first - 1]?.atMs ?? 0;
    return from && until && { fromMs: Math.max(from.sinceMs, beforeMs), untilMs: until.atMs };
  };
}
