// Runs a browser application behind the gateway, with one command: node deploy/example/bff/start.js
//
// It starts a provider to try it with (any name and any password sign in), the server of the page, and the gateway. Open
// http://localhost:8080/app/ and stop it with Ctrl+C.

import { execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Provider from 'oidc-provider';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const about = { kid: 'gateway', alg: 'ES256' };
const gateway = 'http://localhost:8080';

const provider = new Provider('http://localhost:9400', {
  clients: [
    {
      client_id: 'gateway',
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), ...about, use: 'sig' }] },
      redirect_uris: [`${gateway}/session/callback`],
      post_logout_redirect_uris: [`${gateway}/app/`],
      backchannel_logout_uri: `${gateway}/session/backchannel-logout`,
      backchannel_logout_session_required: true,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
  ],
  cookies: { keys: [randomBytes(16).toString('hex')] },
  claims: { openid: ['sub', 'roles'], profile: ['name'] },
  conformIdTokenClaims: false,
  features: {
    backchannelLogout: { enabled: true },
    pushedAuthorizationRequests: { enabled: true },
    revocation: { enabled: true },
  },
  rotateRefreshToken: true,
  // It refuses addresses of this machine, where the gateway of the example is.
  fetch: (url, { dispatcher: _, ...init }) => fetch(url, init),
  findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, name: sub, roles: ['dispatcher'] }) }),
});

const types = { html: 'text/html; charset=utf-8', js: 'text/javascript' };
const page = createServer((request, response) => {
  const name = request.url === '/app/' ? 'index.html' : request.url?.slice('/app/'.length);
  if (name !== 'index.html' && name !== 'app.js') return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': types[name.split('.')[1]], 'cache-control': 'no-cache' });
  response.end(readFileSync(here(`page/${name}`)));
});

const directory = mkdtempSync(join(tmpdir(), 'gateway-bff-'));
const contracts = join(directory, 'contracts');
// The contracts of the project, and that of the page beside them.
mkdirSync(contracts);
for (const name of ['v1', 'session', 'files.yaml'])
  cpSync(join(root, 'openapi', name), join(contracts, name), { recursive: true });
cpSync(here('contracts/page.yaml'), join(contracts, 'page.yaml'));

const environment = {
  ...process.env,
  GATEWAY_CONFIG: here('config'),
  GATEWAY_CONTRACTS: contracts,
  GATEWAY_DATA: join(directory, 'data'),
  SESSION_CLIENT: JSON.stringify({ ...privateKey.export({ format: 'jwk' }), ...about }),
};

function run(...words) {
  const child = spawn(join(root, 'bin/gateway'), words, { env: environment, stdio: ['ignore', 'inherit', 'inherit'] });
  return { child, ended: new Promise((resolve) => child.on('exit', resolve)) };
}

/** The page has something to list. */
async function createCustomers(key) {
  const isUp = () =>
    fetch(`${gateway}/session`).then(
      () => true,
      () => false,
    );
  while (child.exitCode === null && !(await isUp())) await new Promise((resolve) => setTimeout(resolve, 200));
  for (const name of ['Ada Vandermeer', 'Grace Okafor']) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    await fetch(`${gateway}/v1/customers`, { method: 'POST', headers, body: JSON.stringify({ name }) });
  }
}

provider.listen(9400);
page.listen(9401);
await run('orgs', 'create', '--id', 'org_example', '--name', 'Example', '--tier', 'standard').ended;
const words = ['keys', 'create', '--org', 'org_example', '--mode', 'live', '--scopes', 'customers:write', '--json'];
const { key } = JSON.parse(execFileSync(join(root, 'bin/gateway'), words, { env: environment }).toString());
const { child, ended } = run('start');
await createCustomers(key);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill('SIGTERM'));
await ended;
rmSync(directory, { recursive: true, force: true });
process.exit(0);
