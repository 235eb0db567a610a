// What a request for an operation needs.

import type { ReferredOperation } from './reference.ts';

/** Returns sentences in Markdown: credentials, modes and repetition. */
export function needsOf({ security, idempotency, hasTestMode, webSocket }: ReferredOperation): string[] {
  const ways = security.map(({ scheme, scopes }) => {
    if (scheme === 'basic') return 'user name and password (Basic)';
    const named = scopes.map((scope) => `\`${scope}\``).join(' and ');
    return named === '' ? 'an API key' : `a key with the scope ${named}`;
  });
  return [
    ways.length === 0 ? 'Needs no credentials.' : `Needs ${ways.join(', or ')}.`,
    ...(hasTestMode || ways.length === 0 ? [] : ['Has no test data: test keys are refused.']),
    ...(idempotency === 'required' ? ['Requires an `Idempotency-Key`.'] : []),
    ...(idempotency === 'optional' ? ['May be repeated safely with an `Idempotency-Key`.'] : []),
    ...(webSocket ? ['Opens a WebSocket.'] : []),
  ];
}
