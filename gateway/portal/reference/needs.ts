// What a request for an operation needs, with links to the guides about it.

import type { OperationAddress } from './addresses.ts';
import type { OperationView } from './operation-view.ts';

/** Returns sentences in Markdown: credentials, modes, limits, pages and repetition. Guides that are not shown are linked, too. */
export function needsOf({ operation, isForOperators }: OperationAddress, { parameters }: OperationView): string[] {
  const { method, security, idempotency, hasTestMode, webSocket } = operation;
  const ways = security.map(({ scheme, scopes }) => {
    if (scheme === 'basic') return 'user name and password (Basic)';
    const named = scopes.map((scope) => `\`${scope}\``).join(' and ');
    return named === ''
      ? 'an [API key](/docs/guides/authentication)'
      : `a [key](/docs/guides/authentication) with the scope ${named}`;
  });
  const isPaged = method === 'GET' && parameters.some(({ place, name }) => place === 'query' && name === 'cursor');
  const key = '[`Idempotency-Key`](/docs/guides/idempotency)';
  return [
    ...(isForOperators ? ['Is for operators of the API: keys of clients cannot hold its scope.'] : []),
    ways.length === 0 ? 'Needs no credentials.' : `Needs ${ways.join(', or ')}.`,
    ...(hasTestMode || ways.length === 0 ? [] : ['Has no test data: test keys are refused.']),
    ...(idempotency === 'required' ? [`Requires an ${key}.`] : []),
    ...(idempotency === 'optional' ? [`May be repeated safely with an ${key}.`] : []),
    ...(isPaged ? ['Responds [page by page](/docs/guides/pagination).'] : []),
    ...(ways.length === 0 ? [] : ['Counts against your [rate limit](/docs/guides/rate-limits).']),
    ...(webSocket ? ['Opens a WebSocket.'] : []),
  ];
}
