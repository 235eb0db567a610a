// Realms of Keycloak with a client for a gateway, and people who sign in with a form.

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { BrowserAnswer, CookieBrowser } from '../../support/cookie-browser.ts';
import type { Keycloak } from './keycloak.ts';

/** The client of the gateway in every realm. */
export const CLIENT = 'gateway';
export const PASSWORD = randomBytes(9).toString('hex');

interface RealmOptions {
  readonly name: string;
  readonly gatewayOrigin: string;
  /** Where people and the gateway ask it. Default: the origin of Keycloak. */
  readonly origin?: string;
  readonly authentication: 'private_key_jwt' | 'client_secret_basic';
  /** Members of the realm. */
  readonly realm?: Readonly<Record<string, unknown>>;
}

export interface Realm {
  readonly name: string;
  readonly issuer: string;
  /** Of the client: a text, or a private JWK. */
  readonly secret: string;
  /** The events since the start of the realm, oldest first: their types, such as REFRESH_TOKEN. */
  events(): Promise<string[]>;
  /** Changes the attributes of the client. */
  changeClient(attributes: Readonly<Record<string, string>>): Promise<void>;
  idOf(username: string): Promise<string>;
}

/** `mallory` is in no organization. */
const people = [
  { username: 'ada', roles: ['dispatcher'] },
  { username: 'bob', roles: [] },
  { username: 'mallory', roles: [] },
];

const rolesInIdTokens = {
  name: 'roles',
  protocol: 'openid-connect',
  protocolMapper: 'oidc-usermodel-realm-role-mapper',
  config: {
    'claim.name': 'realm_access.roles',
    'id.token.claim': 'true',
    'jsonType.label': 'String',
    multivalued: 'true',
  },
};
const eventTypes = ['LOGIN', 'LOGOUT', 'CODE_TO_TOKEN', 'REFRESH_TOKEN', 'REVOKE_GRANT'];

/** A realm with rotation of refresh tokens, its people, and the organization `acme` with those who are in one. */
export async function createRealm({ administer, origin }: Keycloak, options: RealmOptions): Promise<Realm> {
  const { name } = options;
  const { secret, client } = clientOf(options);
  await administer('POST /realms', {
    realm: name,
    enabled: true,
    sslRequired: 'none',
    revokeRefreshToken: true,
    refreshTokenMaxReuse: 0,
    organizationsEnabled: true,
    eventsEnabled: true,
    enabledEventTypes: eventTypes.flatMap((type) => [type, `${type}_ERROR`]),
    roles: { realm: [{ name: 'dispatcher' }] },
    users: people.map(({ username, roles }) => ({
      username,
      enabled: true,
      email: `${username}@acme.example`,
      emailVerified: true,
      firstName: username,
      lastName: 'Example',
      credentials: [{ type: 'password', value: PASSWORD }],
      realmRoles: [...roles, 'offline_access'],
    })),
    clients: [client],
    ...options.realm,
  });
  const idOf = async (username: string): Promise<string> =>
    (await administer(`GET /realms/${name}/users?username=${username}&exact=true`))[0].id;
  const acme = { name: 'acme', alias: 'acme', enabled: true, domains: [{ name: 'acme.example' }] };
  await administer(`POST /realms/${name}/organizations`, acme);
  const [{ id: organization }] = await administer(`GET /realms/${name}/organizations`);
  for (const username of ['ada', 'bob'])
    await administer(`POST /realms/${name}/organizations/${organization}/members`, await idOf(username));
  return {
    name,
    issuer: `${options.origin ?? origin}/realms/${name}`,
    secret,
    idOf,
    async events() {
      const events: { type: string; error?: string }[] = await administer(`GET /realms/${name}/events?max=1000`);
      return events.map(({ type, error }) => (error === undefined ? type : `${type}: ${error}`)).reverse();
    },
    async changeClient(attributes) {
      const [stored] = await administer(`GET /realms/${name}/clients?clientId=${CLIENT}`);
      const changed = { ...stored, attributes: { ...stored.attributes, ...attributes } };
      await administer(`PUT /realms/${name}/clients/${stored.id}`, changed);
    },
  };
}

/** The client of a gateway, and its secret. */
function clientOf({ gatewayOrigin, authentication }: RealmOptions) {
  const { secret, attributes, ...way } =
    authentication === 'private_key_jwt' ? byPrivateKey() : bySecret(randomBytes(24).toString('base64url'));
  const client = {
    clientId: CLIENT,
    protocol: 'openid-connect',
    standardFlowEnabled: true,
    directAccessGrantsEnabled: false,
    redirectUris: [`${gatewayOrigin}/session/callback`],
    defaultClientScopes: ['basic', 'profile', 'email', 'organization'],
    optionalClientScopes: ['offline_access'],
    protocolMappers: [rolesInIdTokens],
    ...way,
    attributes: {
      ...attributes,
      'pkce.code.challenge.method': 'S256',
      'post.logout.redirect.uris': `${gatewayOrigin}/`,
      'backchannel.logout.url': `${gatewayOrigin}/session/backchannel-logout`,
      'backchannel.logout.session.required': 'true',
    },
  };
  return { secret, client: authentication === 'private_key_jwt' ? client : { ...client, secret } };
}

function bySecret(secret: string) {
  return { secret, clientAuthenticatorType: 'client-secret', attributes: {} };
}

/** Such a client also has to push its requests. */
function byPrivateKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const about = { kid: 'client-1', alg: 'ES256' };
  const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), ...about, use: 'sig' }] };
  return {
    secret: JSON.stringify({ ...privateKey.export({ format: 'jwk' }), ...about }),
    clientAuthenticatorType: 'client-jwt',
    attributes: {
      'use.jwks.string': 'true',
      'jwks.string': JSON.stringify(jwks),
      'token.endpoint.auth.signing.alg': 'ES256',
      'require.pushed.authorization.requests': 'true',
    },
  };
}

/** Fills in the form of Keycloak's page as a person does, and follows the way back. A page that is no form is returned as it is. */
export async function fillIn(
  browser: CookieBrowser,
  page: BrowserAnswer,
  fields: Readonly<Record<string, string>>,
): Promise<BrowserAnswer> {
  const [, action] = /<form[^>]* action="([^"]+)"/.exec(page.text) ?? [];
  if (action === undefined) throw new Error(`There is no form on the page ${page.url}: ${page.text.slice(0, 500)}`);
  const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const body = new URLSearchParams({
    ...Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value])),
    ...fields,
  });
  const url = new URL(action.replaceAll('&amp;', '&'), page.url).href;
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-mode': 'navigate' };
  const answer = await browser.fetch(url, { method: 'POST', headers, body: body.toString() });
  const location = answer.headers.get('location');
  return location === null ? answer : browser.open(new URL(location, url).href, 'elsewhere');
}

/** Signs a person in: Keycloak asks for the name on one page, and for the password on the next. The last answer is that of the gateway. */
export async function signInWithForm(browser: CookieBrowser, login: string, username: string): Promise<BrowserAnswer> {
  const page = await fillIn(browser, await browser.open(login), { username });
  return fillIn(browser, page, { password: PASSWORD });
}
