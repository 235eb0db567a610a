// Pure: the sentence about the operations that fail because of a cause.

import type { Symptom } from '../../shared/contracts/cause.ts';
import { firstNames } from '../../shared/text.ts';

/** The largest number of operations that are named. */
const NAMED_MAX = 3;

export function symptomsText(symptoms: readonly Symptom[]): string {
  if (symptoms.length === 0) return '';
  const named = symptoms.map(
    ({ name, requests, failed }) => `${name} (${failed === 0 ? 'slow' : `${failed} of ${requests} failed`})`,
  );
  return ` In the last minute: ${firstNames(named, NAMED_MAX)}.`;
}
