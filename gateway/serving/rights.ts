// The rules of `authorize` under one configuration: the scopes that need to be named, and the operations that accept test keys.

import type { AuthorizeRules } from '../auth/authorize.ts';
import { type Configuration, scopeRulesOf } from '../configuration.ts';
import { isGatewayItself } from '../upstream/targets/addresses.ts';

interface Operation {
  readonly upstream: string;
  readonly security: readonly { readonly scheme: string; readonly scopes: readonly string[] }[];
}

interface Targets {
  readonly live: readonly string[];
  readonly test?: readonly string[] | undefined;
}

/**
 * Returns a function that tells whether an operation takes test keys. It does if its upstream has an address for test keys. It also does if
 * it is an operation of the gateway's own contract that shows a key only the key's own requests, and may therefore be used by every key.
 */
export function createTakesTestKeys(upstreams: Readonly<Record<string, Targets>>) {
  return function takesTestKeys({ upstream, security }: Operation): boolean {
    const { live = [], test } = upstreams[upstream] ?? {};
    if (test !== undefined) return true;
    if (!live.some(isGatewayItself) || security.length === 0) return false;
    return security.every(({ scheme, scopes }) => scheme === 'apiKey' && scopes.length === 0);
  };
}

/** Returns the rules of `authorize`. */
export function rightsOf(configuration: Configuration): AuthorizeRules {
  return {
    scopeRules: scopeRulesOf(configuration),
    takesTestKeys: createTakesTestKeys(configuration.config.upstreams),
  };
}
