// Pure: the sentence about the operations that fail because of a cause.

import type { Symptom } from '../../shared/contracts/cause.ts';

/** The largest number of operations that are named. */
const NAMED_MAX = 3;

export function symptomsText(symptoms: readonly Symptom[]): string {
  if (symptoms.length === 0) return '';
  const named = symptoms
    .slice(0, NAMED_MAX)
    .map(({ name, requests, failed }) => `${name} (${failed === 0 ? 'slow' : `${failed} of ${requests} failed`})`);
  const more = symptoms.length > NAMED_MAX ? `, and ${symptoms.length - NAMED_MAX} more` : '';
  return ` In the last minute: ${named.join(', ')}${more}.`;
}
