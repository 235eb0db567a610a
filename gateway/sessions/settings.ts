// The settings of browser sessions: the block `sessions` of config/gateway.yaml.

import { z } from 'zod';
import { isHttpUrl, name, scope, secretEntry, whole } from '../config/parts.ts';

/** The host names that need no TLS, because their requests do not leave this machine. */
const LOCAL_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether an address is https, or names this machine. */
function isSafeAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s@?#]+$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || LOCAL_HOSTS.has(hostname);
}

const SAFE_PATTERN = '^(https://|http://(localhost|127[.]0[.]0[.]1|\\[::1\\])([:/]|$))';

const origin = z
  .string()
  .refine((text) => isHttpUrl(text) && new URL(text).origin === text && isSafeAddress(text), {
    error: 'must be an origin such as https://app.example.com (http:// only on this machine)',
  })
  .meta({ pattern: SAFE_PATTERN, values: 'origin' });

const path = z
  .string()
  .regex(/^\/(?![/\\])[!-[\]-~]{0,1023}$/, 'must be a path of the same origin, such as / or /app')
  .meta({ values: 'path' });

/** A claim is the name of a member, or the names that lead to a member of a member. */
const claim = z
  .union(
    [
      z
        .string()
        .min(1)
        .transform((one) => [one]),
      z.array(z.string().min(1)).min(1).max(8),
    ],
    {
      error: 'must be the name of a claim, or a list of the names that lead to it',
    },
  )
  .meta({ values: 'name of a claim, or a list of names that lead to it' });

const authentication = z.discriminatedUnion(
  'method',
  [
    z.strictObject({
      method: z
        .enum(['client_secret_basic', 'client_secret_post'])
        .describe('How the gateway authenticates at the provider.'),
      secret: secretEntry.meta({ description: 'The secret of the client.' }),
    }),
    z.strictObject({
      method: z.literal('private_key_jwt').describe('The gateway signs an assertion with its private key.'),
      secret: secretEntry.meta({ description: 'The private key, a JWK with `kid` and `alg`.' }),
    }),
  ],
  { error: 'must name a method: private_key_jwt, client_secret_basic or client_secret_post' },
);

const grant = z
  .strictObject({
    claim: claim.optional().describe('The claim that decides. Without it, every person gets the scopes.'),
    value: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The value that the claim must have, or must contain if it is a list. Without it, any value except false is accepted.',
      ),
    scopes: z.array(scope).min(1, 'must list at least one scope').describe('The scopes that such a person gets.'),
  })
  .check(({ value: { claim, value }, issues }) => {
    if (claim !== undefined || value === undefined) return;
    issues.push({ code: 'custom', path: ['value'], input: value, message: 'must have a claim beside it' });
  });

/** Parameters of the request for a login that bind it to this browser. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  ...['client_id', 'client_secret', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state', 'nonce'],
  ...['code_challenge', 'code_challenge_method', 'request', 'request_uri', 'dpop_jkt'],
]);

const SECOND_MAX = 31_536_000;

const provider = z.strictObject({
  issuer: z.string().max(512).refine(isSafeAddress, 'must be an https:// address (http:// only on this machine)').meta({
    description: 'The address of the provider, as its discovery document names it.',
    pattern: SAFE_PATTERN,
    values: '`https://` address; `http://` on this machine only',
  }),
  clientId: z.string().min(1).max(256).meta({ description: 'The id of the gateway there.', values: 'text' }),
  authentication: authentication.meta({
    description: 'How the gateway proves there who it is.',
    values: '`{ method, secret }`; methods `private_key_jwt`, `client_secret_basic`, `client_secret_post`',
  }),
  scopes: z
    .array(z.string().regex(/^[!#-[\]-~]{1,128}$/, 'must be a scope of the provider, without spaces'))
    .default(['openid', 'offline_access'])
    .transform((scopes) => [...new Set(['openid', ...scopes])])
    .meta({ description: 'The requested scopes. `openid` is always among them.', values: 'scopes' }),
  endpointOrigins: z.array(origin).default([]).meta({
    description:
      'Origins of endpoints that are not at the issuer. The gateway sends requests only to the issuer and to these origins.',
    values: 'origins',
  }),
  organization: z
    .union([
      z.strictObject({
        claim: claim.describe('The claim with the id of the organization, as a text or a list of one.'),
        names: z.record(z.string().min(1), z.string().min(1).max(255)).optional().meta({
          description:
            'The id of the organization for each value of the claim. A value that is not listed names no organization.',
          values: '`theirs: ours`',
        }),
      }),
      z.strictObject({
        id: z.string().min(1).max(255).meta({ description: 'The organization of every person.', values: 'id' }),
      }),
    ])
    .default({ claim: ['org'] })
    .meta({
      description:
        'The organization of a person: the claim with its id, alone or as a list of one, `names` if the claim contains other names, or one `id` for all. A person of an unknown organization is not signed in.',
      values: '`{ claim }`, `{ claim, names: { theirs: ours } }` or `{ id }`',
    }),
  grants: z.array(grant).default([]).meta({
    description: 'Which scopes of the gateway follow from which claims. Without a grant, a person has no scope.',
    values: '`{ claim, value, scopes }`',
  }),
  parameters: z
    .record(z.string().regex(/^[a-z_]{1,64}$/, 'must be the name of a parameter'), z.string().min(1).max(512))
    .default({})
    .refine((all) => !Object.keys(all).some((name) => OWN_PARAMETERS.has(name)), {
      error: 'must be none of the parameters that the gateway sets itself',
    })
    .meta({
      description: 'Additional parameters of the login request, such as `prompt: consent` or `audience`.',
      values: 'texts by name',
    }),
  pushedRequests: z
    .enum(['where_offered', 'off'])
    .default('where_offered')
    .describe(
      'Whether the request for a login is pushed to the provider (RFC 9126) instead of being part of the address.',
    ),
  refreshReuseSeconds: whole('seconds', 0, SECOND_MAX)
    .default(0)
    .describe(
      'How long the provider accepts a refresh token again after the first use. During this time, the gateway repeats a refresh whose answer was lost. 0: the provider accepts no refresh token twice.',
    ),
  timeoutMs: whole('milliseconds', 100, 60_000).default(5000).describe('The deadline for one request to the provider.'),
  clockToleranceSeconds: whole('seconds', 0, 300)
    .default(30)
    .describe('The tolerated difference between its clock and the clock of the gateway.'),
});

export const sessionSettings = z
  .strictObject({
    providers: z
      .record(name, provider)
      .refine((all) => Object.keys(all).length > 0, 'must have at least one provider')
      .meta({
        description: 'The providers that people sign in with. With several, `/session/login?provider=` names one.',
        values: 'providers by name',
      }),
    origins: z.array(origin).optional().meta({
      description:
        'The origins whose pages use sessions. Each needs `<origin>/session/callback` as a redirect address at the provider.',
      values: 'origins',
      fallback: '`publicUrl`',
    }),
    idleSeconds: whole('seconds', 60, SECOND_MAX)
      .default(3600)
      .describe('A session ends if no request uses it for this time.'),
    absoluteSeconds: whole('seconds', 60, SECOND_MAX)
      .default(43_200)
      .describe('A session ends this long after the login, even if it is in use.'),
    perPersonMax: whole('sessions', 1, 1000)
      .default(20)
      .describe(
        'The largest number of sessions of one person. Another login then ends the least recently used session.',
      ),
    afterLogin: path.default('/').describe('The page after a login without `return_to`.'),
    afterLogout: path.default('/').describe('The page to which the provider sends a person after a logout.'),
    requestHeader: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be the name of a header in lower case')
      .optional()
      .meta({
        description:
          'A header that each request with a session has to carry, with the value `1`, except those of WebSockets and event streams (RFC 10017). Other origins cannot send it.',
        values: 'name of a header',
      }),
  })
  .check(({ value: { idleSeconds, absoluteSeconds }, issues }) => {
    if (idleSeconds <= absoluteSeconds) return;
    const message = 'must be at most absoluteSeconds, because a session ends then in any case';
    issues.push({ code: 'custom', path: ['idleSeconds'], input: idleSeconds, message });
  });

export type SessionSettings = z.output<typeof sessionSettings>;
export type ProviderSettings = z.output<typeof provider>;
