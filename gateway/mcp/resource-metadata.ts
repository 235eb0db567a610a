// The metadata by which a client finds out where to get a token for the endpoint (RFC 9728). Pure.

/** What the configuration says of an issuer. */
interface TokenIssuer {
  readonly issuer: string;
  readonly audience: string;
}

interface ProtectedResource {
  /** Where the metadata is. */
  readonly path: string;
  readonly url: string;
  /** The JSON document. */
  readonly text: string;
  /** The parameter of challenges that leads to it. */
  readonly parameter: string;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Longest parameter `scope` of a challenge. A longer one is left out, since the metadata has all scopes. */
const SCOPE_CHARACTERS_MAX = 1000;

interface ResourceOptions {
  readonly publicUrl: string;
  /** Path of the endpoint. */
  readonly path: string;
  readonly title: string;
  readonly issuers: readonly TokenIssuer[];
  /** That the tools need. */
  readonly scopes: readonly string[];
}

/**
 * Clients ask for a token whose audience is the resource, and the gateway accepts exactly the audience that an issuer is configured with. So
 * the resource is an address that is such an audience: that of the endpoint, or that of the API. Returns undefined if no issuer has one of them.
 */
export function protectedResource({
  publicUrl,
  path,
  title,
  issuers,
  scopes,
}: ResourceOptions): ProtectedResource | undefined {
  const possible = [`${publicUrl}${path}`, publicUrl, `${publicUrl}/`];
  const resource = possible.find((url) => issuers.some(({ audience }) => audience === url));
  if (resource === undefined) return undefined;
  const at = resource === possible[0] ? WELL_KNOWN + path : WELL_KNOWN;
  const document = {
    resource,
    authorization_servers: issuers.filter(({ audience }) => audience === resource).map(({ issuer }) => issuer),
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
    resource_name: title,
    resource_documentation: `${publicUrl}/docs/agents`,
  };
  const url = publicUrl + at;
  return { path: at, url, text: JSON.stringify(document), parameter: `resource_metadata="${url}"` };
}

/** The parameters of a challenge to a caller without a usable token. */
export function challengeOf({ parameter }: ProtectedResource, scopes: readonly string[]): string {
  const scope = scopes.join(' ');
  return scope === '' || scope.length > SCOPE_CHARACTERS_MAX ? parameter : `${parameter}, scope="${scope}"`;
}
