// Formats a refusal for the log beyond its code: enough to explain it, without any text from the client.

import type { Trail } from '../trail.ts';
import { members } from './line-text.ts';

const SCOPES_MAX = 64;
/** Members of the error object that contain only data of the contract and the configuration. */
const plainFields = ['required_scopes', 'violated_policies', 'max_bytes'] as const;

/** Returns members of the line. */
export function refusalPart({ refusal, violations, caller }: Trail): string {
  if (refusal === undefined) return '';
  const { fields, hint, path, words } = refusal.details;
  // The details of an upstream's own error are not logged.
  let text = words === undefined && fields !== undefined ? plainPart(fields) : '';
  if (refusal.code === 'insufficient_scope' && caller !== undefined)
    text += members({ held_scopes: [...caller.scopes].slice(0, SCOPES_MAX) });
  if (path !== undefined || hint !== undefined) text += members({ path, hint });
  const retryAfterSeconds = refusal.details.retryAfterSeconds ?? refusal.entry.retryAfterSeconds;
  if (retryAfterSeconds !== undefined) text += `,"retry_after":${retryAfterSeconds}`;
  return violations === undefined ? text : text + members({ violations });
}

function plainPart(fields: Readonly<Record<string, unknown>>): string {
  let text = '';
  for (const name of plainFields) {
    const value = fields[name];
    if (value !== undefined) text += `,"${name}":${JSON.stringify(value)}`;
  }
  return text;
}
