// Adds to a 401 which other credentials its operation accepts, so that the answer can ask for them.

import { GatewayError } from '../errors.ts';
import type { Operation } from '../exchange.ts';

/** Returns the error to throw instead. Operations that accept API keys alone, as nearly all do, keep the error as it is. */
export function withChallenge(thrown: unknown, { security }: Operation): unknown {
  if (!(thrown instanceof GatewayError) || thrown.entry.status !== 401) return thrown;
  if (!security.some(({ scheme }) => scheme === 'basic')) return thrown;
  const basic = security.some(({ scheme }) => scheme === 'apiKey') ? 'also' : 'only';
  return new GatewayError(thrown.code, { ...thrown.details, basic });
}
