// Decides about an answer below 400 whose status or media type the contract does not declare: refuses it, or lets it pass with protection
// against the scripts in it. Throws upstream_bad_response (media type) and upstream_contract_violation (status).

import type { TrailNotes } from '../../notes.ts';
import { upstreamFailure } from '../failure.ts';

export interface ContractDeviation {
  readonly what: 'status' | 'media type';
  readonly reaction: 'report' | 'refuse' | 'off';
  /** What was declared, what came, and the line to add. */
  readonly text: string;
  /** Whether browsers run scripts in it. */
  readonly isActive: boolean;
}

/**
 * With it, browsers treat the page as one of another origin and run no scripts in it, because nothing declares that the service publishes
 * pages. They also obey the policy of every answer, which is sent beside this one.
 */
const sandboxed = Object.freeze(['Content-Security-Policy', 'sandbox']);

/** Returns the headers that the client gets in addition; undefined: none. */
export function takeUndeclared(
  { what, reaction, text, isActive }: ContractDeviation,
  trail: TrailNotes,
): readonly string[] | undefined {
  if (reaction !== 'off') trail.note('answerViolations', [text]);
  if (reaction === 'refuse') {
    const code = what === 'status' ? 'upstream_contract_violation' : 'upstream_bad_response';
    throw upstreamFailure(code, 'http_protocol_error', new Error(`undeclared ${what}`));
  }
  return isActive ? sandboxed : undefined;
}
