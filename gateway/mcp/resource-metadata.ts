// Makes the protected resource metadata of the endpoint (RFC 9728), which tells clients where to get a token. Pure.

/** The settings of an issuer. */
interface TokenIssuer {
  readonly issuer: string;
  readonly audience: string;
}

interface ProtectedResource {
  /** The path of the metadata. */
  readonly path: string;
  readonly url: string;
  /** The JSON document. */
  readonly text: string;
  /** The parameter of challenges that leads to it. */
  readonly parameter: string;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** The longest parameter `scope` of a challenge. A longer one is left out, because the metadata contains all scopes. */
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
 * Returns the protected resource, which is the address of the endpoint or of the API, whichever is the audience of an issuer; undefined if
 * neither is. Clients request a token with the resource as its audience, and the gateway accepts only the configured audience of an issuer.
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

/** Returns the parameters of the challenge to a caller without a usable token. */
export function challengeOf({ parameter }: ProtectedResource, scopes: readonly string[]): string {
  const scope = scopes.join(' ');
  return scope === '' || scope.length > SCOPE_CHARACTERS_MAX ? parameter : `${parameter}, scope="${scope}"`;
}
