// Keycloak as a process of its own, and realms in it with a client for a gateway and people who sign in with a form.

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { BrowserAnswer, CookieBrowser } from '../../support/cookie-browser.ts';
import { freePort } from '../../support/free-port.ts';
import { mavenAppFor } from './packages.ts';
import { startService } from './stand.ts';

const PATIENCE_MS = 240_000;
const ADMIN = 'admin';
/** The client of the gateway in every realm. */
export const CLIENT = 'gateway';
export const PASSWORD = randomBytes(9).toString('hex');

export interface Keycloak {
  readonly origin: string;
  /** A request of an administrator, such as `GET /realms/staff/events`. Returns the parsed body. Throws what is refused. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all kinds.
  administer(line: string, body?: unknown): Promise<any>;
  stop(): Promise<void>;
}

export async function startKeycloak(): Promise<Keycloak> {
  const directory = await mavenAppFor('keycloak', { file: 'bin/kc.sh', args: ['build', '--db=dev-mem'] });
  const password = randomBytes(9).toString('hex');
  const port = await freePort();
  // As bin/kc.sh does it, but without a shell that would outlive its end.
  const { origin, stop } = await startService({
    file: 'java',
    args: [
      ...['-Xms64m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'],
      ...[`-Dkc.home.dir=${directory}`, '-Djava.util.logging.manager=org.jboss.logmanager.LogManager'],
      ...['-Dpicocli.disable.closures=true', '-cp', join(directory, 'lib/quarkus-run.jar')],
      ...['io.quarkus.bootstrap.runner.QuarkusEntryPoint', 'start', '--optimized', '--cache=local'],
      ...['--http-enabled=true', '--hostname-strict=false', '--http-host=127.0.0.1', `--http-port=${port}`],
    ],
    cwd: directory,
    environment: { KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN, KC_BOOTSTRAP_ADMIN_PASSWORD: password },
    patienceMs: PATIENCE_MS,
  });
  return { origin, administer: createAdminister(origin, password), stop };
}

function createAdminister(origin: string, password: string): Keycloak['administer'] {
  async function ask(url: string, init: RequestInit): Promise<unknown> {
    const answer = await fetch(url, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${init.method} ${url}: ${answer.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }
  return async function administer(line, body) {
    const login = new URLSearchParams({
      grant_type: 'password',
      client_id: 'admin-cli',
      username: ADMIN,
      password,
    });
    const address = `${origin}/realms/master/protocol/openid-connect/token`;
    const { access_token: token } = (await ask(address, { method: 'POST', body: login })) as { access_token: string };
    const [method = '', path = ''] = line.split(' ');
    return ask(`${origin}/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  };
}

export interface RealmOptions {
  readonly name: string;
  readonly gatewayOrigin: string;
  /** Where people and the gateway ask it. Default: the origin of Keycloak. */
  readonly origin?: string;
  readonly authentication: 'private_key_jwt' | 'client_secret_basic';
  /** Members of the realm. */
  readonly realm?: Readonly<Record<string, unknown>>;
  /** Attributes of the client. */
  readonly client?: Readonly<Record<string, string>>;
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

/** A realm with rotation of refresh tokens, its people, and the organization `acme` with those who are in one. */
export async function createRealm(keycloak: Keycloak, options: RealmOptions): Promise<Realm> {
  const { name, gatewayOrigin, authentication } = options;
  const { administer } = keycloak;
  const { secret, client } = clientOf(authentication);
  await administer('POST /realms', {
    realm: name,
    enabled: true,
    sslRequired: 'none',
    revokeRefreshToken: true,
    refreshTokenMaxReuse: 0,
    organizationsEnabled: true,
    eventsEnabled: true,
    enabledEventTypes: ['LOGIN', 'LOGOUT', 'CODE_TO_TOKEN', 'REFRESH_TOKEN', 'REVOKE_GRANT'].flatMap((type) => [
      type,
      `${type}_ERROR`,
    ]),
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
    clients: [
      {
        clientId: CLIENT,
        protocol: 'openid-connect',
        standardFlowEnabled: true,
        directAccessGrantsEnabled: false,
        redirectUris: [`${gatewayOrigin}/session/callback`],
        defaultClientScopes: ['basic', 'profile', 'email', 'organization'],
        optionalClientScopes: ['offline_access'],
        protocolMappers: [
          {
            name: 'roles',
            protocol: 'openid-connect',
            protocolMapper: 'oidc-usermodel-realm-role-mapper',
            config: {
              'claim.name': 'realm_access.roles',
              'id.token.claim': 'true',
              'jsonType.label': 'String',
              multivalued: 'true',
            },
          },
        ],
        ...client,
        attributes: {
          ...client.attributes,
          'pkce.code.challenge.method': 'S256',
          'post.logout.redirect.uris': `${gatewayOrigin}/`,
          'backchannel.logout.url': `${gatewayOrigin}/session/backchannel-logout`,
          'backchannel.logout.session.required': 'true',
          ...options.client,
        },
      },
    ],
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
    issuer: `${options.origin ?? keycloak.origin}/realms/${name}`,
    secret,
    idOf,
    async events() {
      const events: { type: string; error?: string }[] = await administer(`GET /realms/${name}/events?max=1000`);
      return events.map(({ type, error }) => (error === undefined ? type : `${type}: ${error}`)).reverse();
    },
    async changeClient(attributes) {
      const [client] = await administer(`GET /realms/${name}/clients?clientId=${CLIENT}`);
      const changed = { ...client, attributes: { ...client.attributes, ...attributes } };
      await administer(`PUT /realms/${name}/clients/${client.id}`, changed);
    },
  };
}

function clientOf(authentication: RealmOptions['authentication']) {
  if (authentication === 'client_secret_basic') {
    const secret = randomBytes(24).toString('base64url');
    return { secret, client: { clientAuthenticatorType: 'client-secret', secret, attributes: {} } };
  }
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const about = { kid: 'client-1', alg: 'ES256' };
  const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), ...about, use: 'sig' }] };
  const attributes = {
    'use.jwks.string': 'true',
    'jwks.string': JSON.stringify(jwks),
    'token.endpoint.auth.signing.alg': 'ES256',
    'require.pushed.authorization.requests': 'true',
  };
  const secret = JSON.stringify({ ...privateKey.export({ format: 'jwk' }), ...about });
  return { secret, client: { clientAuthenticatorType: 'client-jwt', attributes } };
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
