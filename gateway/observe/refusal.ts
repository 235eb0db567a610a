// What a log line says of a refusal beyond its code: enough to explain it, and nothing that a client sent.

import type { Trail } from '../exchange.ts';

const SCOPES_MAX = 64;
/** Members of the error object that are made of contract and configuration only. */
const plainFields = ['required_scopes', 'violated_policies', 'max_bytes'] as const;

/** As members of the line; those that say nothing are undefined. */
export function refusalMembers({ refusal, violations, caller }: Trail): Readonly<Record<string, unknown>> | undefined {
  if (refusal === undefined) return undefined;
  const { fields, hint, retryAfterSeconds, words } = refusal.details;
  const lacksScope = refusal.code === 'insufficient_scope';
  return {
    // What an upstream said of itself is its own business.
    ...(words === undefined && fields !== undefined ? plainOf(fields) : undefined),
    held_scopes: lacksScope && caller ? [...caller.scopes].slice(0, SCOPES_MAX) : undefined,
    hint,
    retry_after: retryAfterSeconds ?? refusal.refusal.retryAfterSeconds,
    violations,
  };
}

function plainOf(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const name of plainFields) plain[name] = fields[name];
  return plain;
}
