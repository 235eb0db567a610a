// Pure: the sentence about the operations that fail because of a cause.

import type { Symptom } from '../../shared/contracts/cause.ts';
import { firstNames } from '../../shared/text.ts';

/** The largest number of operations that are named. */
const NAMED_MAX = 3;

export function symptomsText(symptoms: readonly Symptom[]): string {
  if (symptoms.length === 0) return '';
  const named = symptoms.map(
    ({ name, ...counts }) =>
      `${name} (${counts.failed + (counts.unserved ?? 0) === 0 ? 'slow' : sufferedText(counts)})`,
  );
  return ` In the last minute: ${firstNames(named, NAMED_MAX)}.`;
}

function sufferedText({ requests, failed, unserved = 0 }: Omit<Symptom, 'name'>): string {
  if (failed === 0) return `${unserved} of ${requests} refused`;
  return `${failed} of ${requests} failed${unserved === 0 ? '' : `, ${unserved} refused`}`;
}
