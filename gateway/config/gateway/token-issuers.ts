// The shape of `issuers` in gateway.yaml, which lists issuers of tokens that are accepted besides API keys, for the platform's own
// applications.

import { z } from 'zod';
import { whole } from '../parts.ts';

const scopeOrAll = z
  .string()
  .regex(
    /^(\*|[a-z][a-z0-9_-]*:(read|write))$/,
    "must be a scope of the form <resource>:read or <resource>:write, or '*'",
  );

/** Signature algorithms of tokens. All are asymmetric, because a key that verifies must not be able to sign. */
const algorithm = z.enum(['EdDSA', 'ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']);
const claim = z.string().min(1).meta({ values: 'name of a claim' });

export const issuer = z.strictObject({
  issuer: z.string().min(1).max(512).meta({
    description: 'The `iss` of its tokens, compared exactly. Each entry needs a different one.',
    values: '1–512 characters',
  }),
  jwksUrl: z.string().refine(isKeysUrl, 'must be an https:// address (http:// only on this machine)').meta({
    description: 'The address of its public keys, a JWK Set.',
    pattern: '^(https://|http://(localhost|127[.]0[.]0[.]1|\\[::1\\])([:/]|$))',
    values: '`https://` address; `http://` on this machine only',
  }),
  audience: z
    .string()
    .min(1)
    .max(512)
    .meta({ description: 'The `aud` of its tokens must be this text, or a list with it.', values: '1–512 characters' }),
  algorithms: z
    .array(algorithm)
    .min(1, 'must name at least one algorithm')
    .default(['EdDSA', 'ES256'])
    .describe('The signature algorithms that are accepted.'),
  claims: z
    .strictObject({
      organization: claim.default('org').describe('The claim with the id of the organization.'),
      scopes: claim
        .default('scope')
        .describe('The claim with the scopes: a list, or one text with spaces between the scopes.'),
    })
    .prefault({})
    .describe('The claims of its tokens that contain the organization and the scopes.'),
  mode: z.enum(['live', 'test']).default('live').describe('The data that its tokens give access to.'),
  scopesMax: z.array(scopeOrAll).default(['*']).meta({
    description:
      "The upper bound on the scopes of its tokens. `'*'` is every scope but `operatorScopes` and those that begin with `gateway:`.",
    values: "scopes, `'*'`",
  }),
  clockToleranceSeconds: whole('seconds', 0, 300)
    .default(30)
    .describe('The tolerated difference between its clock and the clock of the gateway.'),
  refreshSeconds: whole('seconds', 10, 86_400).default(300).describe('The interval between two downloads of its keys.'),
});

function isKeysUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s@]+$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
