// Operations with nothing but a method and a path.

import type { Operation } from '../../../gateway/exchange/operation.ts';

export function operationFor(method: string, path: string): Operation {
  return {
    id: `${method} ${path}`,
    method,
    path,
    version: /^\/(v\d+)(\/|$)/.exec(path)?.[1],
    qualifiedId: `it.${method} ${path}`,
    restOfPath: undefined,
    pathStyles: new Map(),
    timeoutMs: undefined,
    upstream: 'it',
    entry: 'it',
    publicPrefix: '',
    upstreamPrefix: '',
    contract: 'it.yaml',
    security: [],
    provesCredential: true,
    cost: 1,
    extraLimit: undefined,
    idempotency: 'off',
    once: undefined,
    body: 'buffer',
    undeclaredQuery: 'refuse',
    streams: false,
    webSocket: false,
    answerCheck: 'report',
    undeclaredMediaTypes: 'report',
    ranges: true,
    forwardsToken: false,
    requestHeaders: [],
    responseHeaders: new Set(),
    externalReferences: new Set(),
    cookies: undefined,
  };
}
