// Formats a refusal for the log beyond its code: enough to explain it, without any text from the client.

import type { LogFieldsOf } from '../log-fields.ts';
import type { Trail } from '../trail.ts';
import { members } from './line-text.ts';

const SCOPES_MAX = 64;

/** Returns members of the line. */
export function refusalPart({ refusal, violations, caller }: Trail): string {
  if (refusal === undefined) return '';
  const { fields, hint, path, words, retryAfterSeconds } = refusal.details;
  // The details of an upstream's own error are not logged.
  const own = words === undefined ? fields : undefined;
  const lacksScope = refusal.code === 'insufficient_scope' && caller !== undefined;
  return members<LogFieldsOf<'refusal'>>({
    required_scopes: own?.required_scopes,
    violated_policies: own?.violated_policies,
    max_bytes: own?.max_bytes,
    held_scopes: lacksScope ? [...caller.scopes].slice(0, SCOPES_MAX) : undefined,
    path,
    hint,
    retry_after: retryAfterSeconds ?? refusal.entry.retryAfterSeconds,
    violations,
  });
}
