// Formats a refusal for the log beyond its code: enough to explain it, without any text from the client.

import type { Trail } from '../trail.ts';

const SCOPES_MAX = 64;
/** Members of the error object that contain only data of the contract and the configuration. */
const plainFields = ['required_scopes', 'violated_policies', 'max_bytes'] as const;

/** Returns members of the line; undefined ones are left out. */
export function refusalMembers({ refusal, violations, caller }: Trail): Readonly<Record<string, unknown>> | undefined {
  if (refusal === undefined) return undefined;
  const { fields, hint, path, retryAfterSeconds, words } = refusal.details;
  const lacksScope = refusal.code === 'insufficient_scope';
  return {
    // The details of an upstream's own error are not logged.
    ...(words === undefined && fields !== undefined ? plainOf(fields) : undefined),
    held_scopes: lacksScope && caller ? [...caller.scopes].slice(0, SCOPES_MAX) : undefined,
    path,
    hint,
    retry_after: retryAfterSeconds ?? refusal.entry.retryAfterSeconds,
    violations,
  };
}

function plainOf(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const name of plainFields) plain[name] = fields[name];
  return plain;
}
