// Pure: the sentence about the operations that fail because of a cause, for one instance and for several.

import type { Cause, Symptom } from '../../shared/contracts/cause.ts';

/** The largest number of operations that are named. */
const NAMED_MAX = 3;

export function symptomsText(symptoms: readonly Symptom[]): string {
  if (symptoms.length === 0) return '';
  const named = symptoms
    .slice(0, NAMED_MAX)
    .map(({ name, requests, failed }) => `${name} (${failed === 0 ? 'slow' : `${failed} of ${requests} failed`})`);
  const more = symptoms.length > NAMED_MAX ? `, and ${symptoms.length - NAMED_MAX} more` : '';
  return ` Seen in ${named.join(', ')}${more}.`;
}

/** Returns the first of the causes, which are the same on several instances, with the operations and the counts of all. */
export function withSymptomsOfAll(first: Cause, all: readonly Cause[]): Cause {
  const { symptoms = [], ...cause } = first;
  const own = symptomsText(symptoms);
  const ofAll = symptomsText(joined(all.flatMap((one) => one.symptoms ?? [])));
  const { consequence } = cause;
  return { ...cause, consequence: own === '' ? consequence + ofAll : consequence.replace(own, () => ofAll) };
}

/** Returns each operation once, the one with the most failed requests first. */
function joined(all: readonly Symptom[]): Symptom[] {
  const byName = Map.groupBy(all, ({ name }) => name);
  const sum = (same: readonly Symptom[], of: 'requests' | 'failed') => same.reduce((total, one) => total + one[of], 0);
  return [...byName]
    .map(([name, same]) => ({ name, requests: sum(same, 'requests'), failed: sum(same, 'failed') }))
    .sort((one, other) => other.failed - one.failed);
}
