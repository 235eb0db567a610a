// Runs a browser application behind the gateway, with one command: npm run example:bff
//
// It starts a provider to try it with (any name and any password sign in), the server of the page, and the gateway. Ctrl+C ends all three.

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

/** Waits until the gateway serves; false if it has ended. */
async function isServing(child) {
  for (;;) {
    if (child.exitCode !== null) return false;
    const answer = await fetch(`${gateway}/session`).catch(() => undefined);
    if (answer !== undefined && child.exitCode === null) return true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** The page has something to list. */
async function createCustomers(key) {
  for (const name of ['Ada Vandermeer', 'Grace Okafor']) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    await fetch(`${gateway}/v1/customers`, { method: 'POST', headers, body: JSON.stringify({ name }) });
  }
}

/** Resolves when the port is open. Ends the example with a sentence if another program has it. */
function listen(server, port) {
  return new Promise((resolve) => {
    server.once('error', ({ code }) => {
      console.error(code === 'EADDRINUSE' ? `The example needs port ${port}, and another program has it.` : code);
      process.exit(1);
    });
    server.listen(port, 'localhost', resolve);
  });
}

// The gateway looks for its own port only later.
const probe = createServer();
await listen(probe, 8080);
await new Promise((resolve) => probe.close(resolve));
await listen(createServer(provider.callback()), 9400);
await listen(page, 9401);
await run('orgs', 'create', '--id', 'org_example', '--name', 'Example', '--tier', 'standard').ended;
const words = ['keys', 'create', '--org', 'org_example', '--mode', 'live', '--scopes', 'customers:write', '--json'];
const { key } = JSON.parse(execFileSync(join(root, 'bin/gateway'), words, { env: environment }).toString());
const { child, ended } = run('start');
// Ctrl+C reaches the gateway by itself; this process waits for its end.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => child.kill('SIGTERM'));
if (await isServing(child)) {
  await createCustomers(key);
  console.log(`\nOpen ${gateway}/app/ and sign in with any name and any password. Ctrl+C ends the example.\n`);
}
const code = await ended;
rmSync(directory, { recursive: true, force: true });
process.exit(code);
