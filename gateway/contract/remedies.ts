// Remedies for mistakes that the linter finds in a contract.

import type { NormalizedProblem } from '@redocly/openapi-core';

const remedies: Readonly<Record<string, string>> = {
  'no-unresolved-refs':
    'Point the $ref at something that exists, in this file or in one below the contracts directory.',
  'path-parameters-defined': 'Make the parameters in the path and those that are declared the same.',
  'path-not-include-query': 'Declare what stands behind the question mark as parameters with in: query.',
  'gateway/extensions-have-a-meaning': 'Move it to the operation, the path or the top of the document.',
  'gateway/media-types-fit-headers': 'Write it with ASCII characters only.',
  'gateway/header-names-fit-headers': 'Write it with letters, digits and hyphens only.',
  'gateway/patterns-are-exact':
    'Write it without look-around and back references, or add a maxLength that is short enough.',
  'gateway/formats-are-exact': 'Add a maxLength, so that clients know.',
  'gateway/patterns-can-run': 'Correct the regular expression, or take repetitions out of repetitions.',
};

export function remedyFor({ ruleId, suggest }: NormalizedProblem): string {
  if (suggest.length > 0) return `Did you mean ${suggest.map((name) => `"${name}"`).join(' or ')}?`;
  return remedies[ruleId] ?? 'Make the document valid OpenAPI 3.0 or 3.1 at this place.';
}
