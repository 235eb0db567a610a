// `gateway doctor` as operators run it: beside everything it needs, and beside everything that can be wrong.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { checkRedis } from '../../../gateway/commands/doctor/redis.ts';
import type { Finding } from '../../../gateway/commands/finding.ts';
import { loadSecrets, type Secrets } from '../../../gateway/config/secrets.ts';
import { type Files, sound, writeSound } from '../../config/faults.ts';
import { type Authority, createAuthority } from '../../support/certificates.ts';
import { environmentOf } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startInProcess } from '../../support/in-process.ts';
import { createInstallation } from '../../support/process.ts';
import { startServer } from '../../support/redis.ts';
import { askServer } from '../../support/redis-topologies.ts';
import { type FakeUpstream, startUpstream, unusedPort } from '../../support/upstream.ts';

interface Told {
  readonly code: number;
  readonly ok: boolean;
  readonly checks: readonly Finding[];
}

const told = (checks: readonly Finding[], verdict: string) =>
  checks.filter((one) => one.verdict === verdict).map(({ check }) => check);

describe('gateway doctor', () => {
  let authority: Authority;
  let upstream: FakeUpstream;
  let secure: ReturnType<typeof createServer>;
  before(async () => {
    authority = createAuthority();
    upstream = await startUpstream((request, response) => {
      response.statusCode = request.url === '/health' ? 204 : 500;
      response.end();
    });
    const { certificate: cert, key } = authority.issue({ names: ['localhost'], fromDays: -40, days: 5 });
    secure = createServer({ cert, key }, (_request, response) => response.writeHead(204).end()).listen(0, '127.0.0.1');
    await new Promise((resolve) => secure.once('listening', resolve));
  });
  after(async () => {
    await upstream.close();
    secure.closeAllConnections();
    await new Promise((resolve) => secure.close(resolve));
  });

  const securely = () => `https://localhost:${(secure.address() as AddressInfo).port}`;

  async function examine(files: Files, environment: Record<string, string> = {}): Promise<Told> {
    const directory = writeSound(files);
    const installation = createInstallation({ ...environmentOf(directory), ...environment });
    const { code, stdout } = await installation.run('doctor', '--json');
    installation.remove();
    rmSync(directory, { recursive: true });
    return { code, ...(JSON.parse(stdout) as Omit<Told, 'code'>) };
  }

  it('finds nothing that fails where all is well', async () => {
    const kept = temporaryDirectory();
    const redis = await startServer('--appendonly', 'yes', '--dir', kept);
    const entry = `    contracts: [items.yaml]
    live: [${upstream.url}, "${securely()}"]
    health: { path: /health }
    tls: { ca: tls/ca.pem }
`;
    const { code, ok, checks } = await examine(
      {
        'config/gateway.yaml':
          'publicUrl: https://api.example.com\ntrustedProxies: [10.0.0.0/8]\nconnections: { max: 10 }\n',
        'config/upstreams.yaml': `upstreams:\n  items:\n${entry}`,
        'config/tls/ca.pem': authority.certificate,
      },
      { REDIS_URL: redis.url },
    );
    await redis.stop();
    rmSync(kept, { recursive: true });
    assert.deepEqual(told(checks, 'fail'), []);
    assert.deepEqual([code, ok], [0, true]);
    const fine = told(checks, 'ok');
    for (const check of [
      ...['node', 'configuration', 'data directory', 'clock of the file system', 'port', 'admin port', 'workers'],
      ...['open files', 'publicUrl', 'trustedProxies', `upstream items ${upstream.url}`],
      ...['redis version', 'redis role', 'redis eviction', 'redis memory', 'redis persistence', 'clock of Redis'],
      ...['upstreams.items.tls.ca', `upstream items ${securely()}`],
    ])
      assert.ok(fine.includes(check), `${check}: ${JSON.stringify(checks.find((one) => one.check === check))}`);
    assert.match(checks.find(({ check }) => check.startsWith('upstream '))?.says ?? '', /\/health answers 204/);
    // There is no secrets store here: its first start will put them into Redis.
    const inRedis = checks.find(({ check }) => check === 'redis secrets');
    assert.equal(inRedis?.verdict, 'warn');
    assert.match(inRedis?.says ?? '', /^Redis gets key_pepper, assertion_keys at the next start\./);
    const certificate = checks.find(({ check }) => check === `upstream items ${securely()} certificate`);
    assert.equal(certificate?.verdict, 'warn');
    assert.match(certificate?.says ?? '', /^[45] days are left/);
  });

  it('names every fault with its remedy', async () => {
    const redis = await startServer('--maxmemory', '50mb', '--maxmemory-policy', 'allkeys-lru');
    const closed = `http://127.0.0.1:${await unusedPort()}`;
    const occupant = await startUpstream();
    const port = new URL(occupant.url).port;
    const secrets = writeSound({ 'secrets/open': 'x\n', 'secrets/headers': 'no header\n' });
    chmodSync(join(secrets, 'secrets/open'), 0o644);
    chmodSync(join(secrets, 'secrets/headers'), 0o600);
    const { code, ok, checks } = await examine(
      {
        'config/gateway.yaml':
          'trustedProxies: [0.0.0.0/0]\ntracing: { endpoint: "http://collector/", headersSecret: headers }\n',
        'config/upstreams.yaml': `upstreams:
  items:
    contracts: [items.yaml]
    live: ["${closed}", "http://nowhere.invalid", "${upstream.url}", "${securely()}"]
    health: { path: /ill }
    credential: { basic: { user: gateway, secret: items_credential } }
`,
      },
      {
        ...{ REDIS_URL: redis.url, PORT: port, SECRETS_DIR: join(secrets, 'secrets'), ADMIN_HOST: '0.0.0.0' },
        VIEWER_TOKEN: 'a-viewer-token-for-this-test',
      },
    );
    await Promise.all([redis.stop(), occupant.close()]);
    rmSync(secrets, { recursive: true });
    assert.deepEqual([code, ok], [1, false]);
    assert.deepEqual(
      told(checks, 'fail').sort(),
      [
        'port',
        'redis eviction',
        'secret headers',
        'secret items_credential',
        'trustedProxies',
        `upstream items ${closed}`,
        `upstream items ${securely()}`,
        `upstream items ${upstream.url}`,
        'upstream items http://nowhere.invalid',
      ].sort(),
    );
    const warned = told(checks, 'warn');
    for (const check of ['publicUrl', 'secret admin_token', 'secrets directory', 'redis persistence'])
      assert.ok(warned.includes(check), check);
    const saysOf = (name: string) => checks.find(({ check }) => check.includes(name))?.says ?? '';
    assert.match(saysOf(closed), /ECONNREFUSED/);
    assert.match(saysOf('nowhere.invalid'), /does not resolve/);
    assert.match(saysOf('https://'), /UNABLE_TO_VERIFY|SELF_SIGNED|unable to verify/i);
    assert.match(saysOf(upstream.url), /\/ill answers 500/);
    assert.match(saysOf('admin_token'), /without this token the console only looks\./);
    assert.equal(saysOf('viewer_token'), 'It is there.');
    assert.match(saysOf('secrets directory'), /can read open in/);
    for (const { verdict, remedy, check } of checks) assert.equal(remedy === undefined, verdict === 'ok', check);
    assert.doesNotMatch(JSON.stringify(checks), /no header/);
  });

  it('names the secrets that a reader of Redis has, until they are deleted there', async () => {
    const redis = await startServer();
    const data = temporaryDirectory();
    const store = writeSound({});
    const secretsOf = (directory?: string) =>
      loadSecrets({ directory, environment: {}, dataDirectory: data, redisUrl: redis.url });
    const findingWith = async (secrets: Secrets) => {
      const found = await checkRedis(redis.url, Date.now, secrets.read);
      return found.find(({ check }) => check === 'redis secrets');
    };
    const made = secretsOf();
    const [pepper] = await Promise.all([made.keyPepper(), made.assertionKeys()]);
    const held = await findingWith(secretsOf());
    writeFileSync(join(store, 'key_pepper'), pepper);
    const half = await findingWith(secretsOf(store));
    writeFileSync(join(store, 'assertion_keys'), 'any');
    const moved = await findingWith(secretsOf(store));
    await askServer(redis.port, 'DEL', '{gateway}:secrets');
    const deleted = await findingWith(secretsOf(store));
    await redis.stop();
    rmSync(data, { recursive: true });
    rmSync(store, { recursive: true });
    assert.deepEqual(
      [held, half, moved, deleted].map((one) => one?.verdict),
      ['warn', 'warn', 'warn', 'ok'],
    );
    assert.match(held?.says ?? '', /^Redis holds assertion_keys, key_pepper\. With them, a reader of Redis can /);
    assert.match(half?.remedy ?? '', /^Move them to the secrets store/);
    assert.match(moved?.remedy ?? '', /^They are in the secrets store, too: delete/);
    assert.doesNotMatch(JSON.stringify([held, half, moved]), new RegExp(pepper));
  });

  it('tries the login to a service with a single request, and says so', async () => {
    const entry = (live: string) => `upstreams:
  items:
    contracts: [items.yaml]
    live: ${live}
    credential: { basic: { user: gateway, secret: items_credential } }
`;
    const loginOf = async (status: number, secret: string) => {
      const service = await startUpstream((_request, response) => response.writeHead(status).end());
      const secrets = writeSound({ 'secrets/items_credential': secret });
      const files = { 'config/upstreams.yaml': entry(service.url) };
      const { checks } = await examine(files, { SECRETS_DIR: join(secrets, 'secrets') });
      await service.close();
      rmSync(secrets, { recursive: true });
      const found = checks.find(({ check }) => check === 'login items');
      return { verdict: found?.verdict, says: found?.says ?? '', requests: service.requests };
    };
    const fine = await loginOf(200, 'gateway:fine-password\n');
    assert.deepEqual([fine.verdict, fine.requests.length], ['ok', 1]);
    assert.match(fine.says, /^One request, GET \/v1\/items, was answered with 200: the login works\.$/);
    const sent = Buffer.from('gateway:fine-password').toString('base64');
    assert.equal(fine.requests[0]?.headers.authorization, `Basic ${sent}`);
    const wrong = await loginOf(401, 'wrong-password');
    assert.deepEqual([wrong.verdict, wrong.requests.length], ['fail', 1]);
    assert.match(wrong.says, /refused with 401: .* This was a failed login, which the service may count\.$/);
    assert.equal((await loginOf(500, 'any')).verdict, 'warn');
    const unusable = await loginOf(200, 'gateway:');
    assert.deepEqual([unusable.verdict, unusable.requests.length], ['fail', 0]);
  });

  it('tries a login with no operation that succeeds without it', async () => {
    const service = await startUpstream(({ url }, response) =>
      response.writeHead(url === '/v1/items' ? 401 : 200).end(),
    );
    const secrets = writeSound({ 'secrets/items_credential': 'gateway:former-password' });
    const loginOf = async (document: string) => {
      const before = service.requests.length;
      const entry = `    contracts: [items.yaml]
    live: ${service.url}
    security: { read: ["items:read"], write: ["items:write"] }
    health: { path: /v1/ready }
    credential: { basic: { user: gateway, secret: items_credential } }
`;
      const files = { 'config/upstreams.yaml': `upstreams:\n  items:\n${entry}`, 'openapi/items.yaml': document };
      const { checks } = await examine(files, { SECRETS_DIR: join(secrets, 'secrets') });
      const asked = service.requests.slice(before).map(({ url }) => url);
      const found = checks.find(({ check }) => check === 'login items');
      return { verdict: found?.verdict, says: found?.says ?? '', asked: asked.filter((url) => url !== '/v1/ready') };
    };
    const get = (path: string, id: string, more = '') =>
      `  ${path}:\n    get: { operationId: ${id}, ${more}responses: { "200": { description: All } } }\n`;
    const open = get('/healthz', 'health', 'security: [], ') + get('/v1/ready', 'ready');
    const document = sound['openapi/items.yaml'].replace('paths:\n', `paths:\n${open}`);
    const tried = await loginOf(document);
    assert.deepEqual([tried.verdict, tried.asked], ['fail', ['/v1/items']]);
    const none = await loginOf(document.replace('listItems', 'listItems\n      security: [{}]'));
    assert.deepEqual([none.verdict, none.asked], ['warn', []]);
    assert.match(none.says, /^The login was not tried: no operation needs it/);
    await service.close();
    rmSync(secrets, { recursive: true });
  });

  it('says when a mail server could not reload its configuration', async () => {
    const entry = (live: string) => `upstreams:
  items:
    contracts: [items.yaml]
    live: ${live}
    product: stalwart
    credential: { basic: { user: gateway, secret: items_credential } }
`;
    const secrets = writeSound({ 'secrets/items_credential': 'gateway:fine-password' });
    const reloadOf = async (status: number, data: object) => {
      const service = await startUpstream(({ url }, response) => {
        const answer = url === '/api/reload?dry-run=true' ? { status, data } : { status: 200, data: [] };
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      });
      const files = { 'config/upstreams.yaml': entry(service.url) };
      const { checks } = await examine(files, { SECRETS_DIR: join(secrets, 'secrets') });
      await service.close();
      const found = checks.find(({ check }) => check === 'reload items');
      return [found?.verdict, found?.says];
    };
    const broken = { 'spam-filter.dnsbl': { type: 'Build', error: 'unresolved' } };
    assert.deepEqual(await reloadOf(200, { warnings: {}, errors: broken }), [
      'fail',
      'Its configuration has errors (spam-filter.dnsbl): a reload answers 200 and applies nothing.',
    ]);
    assert.equal((await reloadOf(200, { warnings: {}, errors: {} }))[0], 'ok');
    assert.equal((await reloadOf(403, {}))[0], 'warn');
    rmSync(secrets, { recursive: true });
  });

  it('names damaged embedded stores, where commands only report that there is one', async () => {
    const installation = createInstallation();
    const store = (file: string) => join(installation.dataDirectory, file);
    await installation.run('seed', '--organizations', '500', '--tier', 'premium');
    const whole = await installation.run('doctor', '--json');
    const file = openSync(store('gateway.db'), 'r+');
    writeSync(file, randomBytes(40 * 4096), 0, 40 * 4096, 3 * 4096);
    closeSync(file);
    writeFileSync(store('versions.db'), 'this is none');
    const [damaged, listed] = await Promise.all([
      installation.run('doctor', '--json'),
      installation.run('keys', 'list'),
    ]);
    installation.remove();
    const found = ({ stdout }: typeof whole) =>
      (JSON.parse(stdout) as Told).checks.flatMap(({ check, verdict }) =>
        check.startsWith('store ') ? [verdict] : [],
      );
    assert.deepEqual([found(whole), found(damaged)], [['ok'], ['fail', 'fail']]);
    assert.equal(listed.code, 1);
    assert.equal(
      listed.stderr,
      'gateway: An embedded store cannot be used: database disk image is malformed. "gateway doctor" says which.\n',
    );
  });

  it('distinguishes a running gateway from another program on its ports, and prints a line for each finding', async () => {
    const directory = writeSound({});
    const first = createInstallation(environmentOf(directory));
    const running = await startInProcess(first.environment);
    const { PATH = '', GATEWAY_DATA = '' } = first.environment;
    const ports = { PATH, GATEWAY_DATA, PORT: String(running.port), ADMIN_PORT: String(running.adminPort) };
    const second = createInstallation({ ...environmentOf(directory), ...ports });
    const { stdout } = await second.run('doctor');
    const metrics = await (await fetch(`http://127.0.0.1:${running.adminPort}/metrics`)).text();
    await running.stop();
    first.remove();
    second.remove();
    rmSync(directory, { recursive: true });
    assert.match(stdout, /^ok {4}port .*is served by a running gateway\.$/m);
    assert.match(stdout, /^ok {4}admin port .*is served by a running gateway\.$/m);
    assert.doesNotMatch(metrics, /http_response_status_code="404"/, 'the probe is no refused request of a client');
    assert.match(stdout, /^fail {2}upstream items http:\/\/items:3000 +items does not resolve .* Correct the name/m);
    assert.match(stdout, /^\d+ ok, \d+ warnings?, 1 failed\.$/m);
  });

  it('continues if the configuration has mistakes, and if Redis does not answer', async () => {
    const closed = `redis://127.0.0.1:${await unusedPort()}`;
    const { code, checks } = await examine({ 'config/limits.yaml': 'tiers: 5\n' }, { REDIS_URL: closed });
    assert.equal(code, 1);
    assert.deepEqual(told(checks, 'fail'), ['configuration', 'redis']);
    assert.match(checks.find(({ check }) => check === 'configuration')?.says ?? '', /limits\.yaml:1:8: tiers/);
    const environment = await examine({}, { PORT: 'http' });
    assert.deepEqual(told(environment.checks, 'fail'), ['environment']);
  });
});

describe('gateway check', () => {
  async function check(environment: Record<string, string>) {
    const gateway = `${sound['config/gateway.yaml']}tracing: { endpoint: "http://c/", headersSecret: trace_headers }\n`;
    const directory = writeSound({ 'config/gateway.yaml': gateway });
    const installation = createInstallation({ ...environmentOf(directory), ...environment });
    const { code, stdout } = await installation.run('check', '--json');
    installation.remove();
    rmSync(directory, { recursive: true });
    return { code, ...(JSON.parse(stdout) as { mistakes: { line: number; reason: string }[]; warnings: string[] }) };
  }

  it('reports a secret for traces that is missing or malformed', async () => {
    const [missing, malformed, fine] = await Promise.all([
      check({}),
      check({ TRACE_HEADERS: 'not a header' }),
      check({ TRACE_HEADERS: 'X-Team: gateway' }),
    ]);
    assert.equal(missing.code, 0);
    assert.match(
      missing.warnings.join(),
      /gateway\.yaml:3:\d+: tracing\.headersSecret: there is no secrets entry "trace_headers"\..*Without it the gateway does not start; it may be on another machine\./,
    );
    assert.equal(malformed.code, 1);
    assert.equal(malformed.mistakes[0]?.line, 3);
    assert.match(malformed.mistakes[0]?.reason ?? '', /trace_headers is not lines of Name: value/);
    assert.deepEqual([fine.code, fine.warnings], [0, []]);
  });

  it('warns of a credential and a TLS key that are not on this machine', async () => {
    const upstreams = sound['config/upstreams.yaml'] ?? '';
    const directory = writeSound({
      'config/upstreams.yaml': upstreams.replace(
        /\n( +)live:.*/,
        '\n$1live: https://things.test\n$1credential: { basic: { user: gateway, secret: things_login } }',
      ),
    });
    const installation = createInstallation(environmentOf(directory));
    const { code, stdout } = await installation.run('check', '--json');
    installation.remove();
    rmSync(directory, { recursive: true });
    assert.equal(code, 0, stdout);
    const { warnings } = JSON.parse(stdout) as { warnings: string[] };
    assert.match(warnings.join(), /upstreams\.yaml:\d+:\d+: \S+: there is no secrets entry "things_login"/);
  });
});
