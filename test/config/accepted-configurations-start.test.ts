// `check` reports every fault that refuses a start. A fault of the configuration is a mistake, in the same sentence; a fault of this machine
// alone is a warning.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { newAssertionKey, printAssertionKeys } from '../../gateway/config/secrets/assertion-keys.ts';
import { lockDirectory } from '../../gateway/shared/stores/sqlite.ts';
import { environmentOf } from '../support/configuration.ts';
import { freePort } from '../support/free-port.ts';
import { type Finished, runInProcess, type StartedHere, tryStartInProcess } from '../support/in-process.ts';
import { lookInside, startServer, type TestRedis } from '../support/redis.ts';
import { type Files, spoiled, writeSound } from './faults.ts';

interface Obstacle {
  readonly files?: Files;
  readonly environment?: Readonly<Record<string, string>>;
  /** Entry → content of a file in SECRETS_DIR. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly says: RegExp;
}

const onSandbox = 'live: sandbox:mail\n    credential: { basic: { user: admin, secret: items_login } }';

const obstacles: Readonly<Record<string, Obstacle>> = {
  'a short secret of key digests': {
    environment: { KEY_PEPPER: 'short' },
    says: /^secrets: key_pepper: The secrets entry key_pepper is too short: it needs at least 16 characters\. Correct the file SECRETS_DIR\/key_pepper or the variable KEY_PEPPER\.$/m,
  },
  'assertion keys that are none': {
    environment: { ASSERTION_KEYS: '{}' },
    says: /^secrets: assertion_keys: The secrets entry assertion_keys is malformed: it is not a JWK Set with at least one key\./m,
  },
  'an empty file of the token of operators': {
    secrets: { admin_token: '' },
    says: /^secrets: admin_token: The secrets entry admin_token in .* is an empty file\./m,
  },
  'a short token of viewers': {
    environment: { VIEWER_TOKEN: 'short' },
    says: /^secrets: viewer_token: The secrets entry viewer_token is too short: it needs at least 16 characters\./m,
  },
  'one token for operators and viewers': {
    environment: { ADMIN_TOKEN: 'one-token-for-both', VIEWER_TOKEN: 'one-token-for-both' },
    says: /^secrets: viewer_token: The secrets entries viewer_token and admin_token are the same, so viewers could act\. Correct/m,
  },
  'a short secret of cursors, on the sandbox': {
    files: spoiled('config/upstreams.yaml', 'live: http://items:3000', 'live: sandbox:platform'),
    environment: { CURSOR_SECRET: 'short' },
    says: /^secrets: cursor_secret: The secrets entry cursor_secret is too short/m,
  },
  'an empty file of a credential, on the sandbox': {
    files: spoiled('config/upstreams.yaml', 'live: http://items:3000', onSandbox),
    secrets: { items_login: '' },
    says: /^\S*config\/upstreams\.yaml:5:\d+: upstreams\.items\.credential\.basic\.secret: The secrets entry items_login in .* is an empty file\./m,
  },
  'one port for two listeners': {
    environment: { PORT: '8443', ADMIN_PORT: '8443' },
    says: /^environment: ADMIN_PORT: the public listener has the port 8443 already\. Set PORT or ADMIN_PORT to another one\.$/m,
  },
  'a data directory that is a file': {
    environment: { GATEWAY_DATA: 'config/gateway.yaml' },
    says: /^environment: GATEWAY_DATA: \S*config\/gateway\.yaml is not a directory\./m,
  },
  // Elsewhere the path does not exist, and cannot be created either.
  ...(process.platform === 'linux' && {
    'a data directory within /proc': {
      environment: { GATEWAY_DATA: '../../../../../../../../proc/gateway' },
      says: /^environment: GATEWAY_DATA: \/proc belongs to the kernel and holds no other files\. Name another directory\.$/m,
    },
  }),
  'an address of a trusted proxy with leading zeros': {
    files: spoiled('config/gateway.yaml', '[]', '[010.0.0.1]'),
    says: /^\S*config\/gateway\.yaml:2:\d+: trustedProxies\.0: "010\.0\.0\.1" is not possible here\./m,
  },
  'a HOST that is no host': {
    environment: { HOST: 'http://0.0.0.0' },
    says: /^environment: HOST: "http:\/\/0\.0\.0\.0" is not an IP address or a host name\. Write it without scheme, port and brackets, or unset HOST for 0\.0\.0\.0\.$/m,
  },
  'an ADMIN_HOST in brackets': {
    environment: { ADMIN_HOST: '[::1]' },
    says: /^environment: ADMIN_HOST: "\[::1\]" is not an IP address or a host name\./m,
  },
  'a socket in place of an address': {
    environment: { HOST: '/run/gateway.sock' },
    says: /^environment: HOST: "\/run\/gateway\.sock" is not an IP address or a host name\./m,
  },
  'a password in REDIS_URL that is not encoded': {
    environment: { REDIS_URL: 'redis://:50%off@redis:6379' },
    says: /^environment: REDIS_URL: this is not the address of a Redis\./m,
  },
  'a database in REDIS_URL that is no number': {
    environment: { REDIS_URL: 'redis://redis:6379?db=main' },
    says: /^environment: REDIS_URL: this is not the address of a Redis\./m,
  },
  'several workers without Redis': {
    environment: { WORKERS: '2' },
    says: /^environment: WORKERS: 2 workers need a store that they share\./m,
  },
  'assertion keys of which none may sign yet': {
    environment: { ASSERTION_KEYS: printAssertionKeys([{ ...newAssertionKey(), signs_from: 4_000_000_000 }]) },
    says: /^secrets: assertion_keys: No key of the secrets entry assertion_keys may sign at \S+: one of them must\./m,
  },
  'assertion keys whose time has ended': {
    environment: { ASSERTION_KEYS: printAssertionKeys([{ ...newAssertionKey(), published_until: 1_000_000_000 }]) },
    says: /^secrets: assertion_keys: No key of the secrets entry assertion_keys may sign at /m,
  },
  'a secrets directory that is a file': {
    environment: { SECRETS_DIR: '/dev/null' },
    says: /^secrets: key_pepper: The secrets entry key_pepper in \/dev\/null cannot be read \(ENOTDIR\)\./m,
  },
};

type Spoil = (directory: string) => unknown;

/** Runs in the configuration of an obstacle, with free ports. `spoil` does to its directory what no text of a file can. */
async function within<T>(
  { files = {}, environment = {}, secrets = {} }: Omit<Obstacle, 'says'>,
  spoil: Spoil,
  run: (environment: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const directory = writeSound(files);
  const secretsDirectory = join(directory, 'secrets');
  mkdirSync(secretsDirectory);
  for (const [entry, text] of Object.entries(secrets)) writeFileSync(join(secretsDirectory, entry), text);
  await spoil(directory);
  const { GATEWAY_DATA = 'data', ...rest } = environment;
  try {
    return await run({
      ...environmentOf(directory),
      SECRETS_DIR: secretsDirectory,
      PORT: '0',
      ADMIN_PORT: '0',
      ...rest,
      GATEWAY_DATA: join(directory, GATEWAY_DATA),
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const check = (environment: Readonly<Record<string, string>>) => runInProcess(['check'], { environment });

/** Starts a gateway in this process, and ends it after `meanwhile`, which gets its ports. */
async function start(
  environment: Readonly<Record<string, string>>,
  meanwhile: (gateway: StartedHere) => Promise<void> = async () => undefined,
): Promise<Finished> {
  const { started, ...finished } = await tryStartInProcess(environment);
  if (started === undefined) return finished;
  await meanwhile(started);
  await started.stop();
  return finished;
}

describe('check reports a fault that refuses a start:', () => {
  for (const [what, obstacle] of Object.entries(obstacles)) {
    it(what, () =>
      within(
        obstacle,
        () => undefined,
        async (environment) => {
          const checked = await check(environment);
          const started = await start(environment);
          assert.deepEqual([checked.code, started.code], [1, 1]);
          assert.match(checked.stderr, obstacle.says);
          assert.match(started.stderr, obstacle.says);
        },
      ),
    );
  }

  it('the mistakes of settings, files, contracts and secrets, all at once', () => {
    const files = {
      ...spoiled('config/limits.yaml', 'requests: 100', 'requests: 0'),
      ...spoiled('openapi/items.yaml', 'items:write', 'item:write'),
    };
    return within(
      { files, environment: { PORT: 'http', KEY_PEPPER: 'short' } },
      () => undefined,
      async (environment) => {
        for (const { code, stderr } of [await check(environment), await start(environment)]) {
          assert.equal(code, 1);
          const said = [/^environment: PORT: /m, /limits\.yaml:2:/, /items\.yaml:11:/, /^secrets: key_pepper: /m];
          for (const one of said) assert.match(stderr, one);
          assert.match(stderr, /4 mistakes/);
        }
      },
    );
  });
});

const ELSEWHERE = 'The gateway does not start here; it may as another user, or on another machine.';

/** Makes a database of a schema version in the data directory. */
function database(file: string, version: number): Spoil {
  return (directory) => {
    mkdirSync(join(directory, 'data'));
    const made = new DatabaseSync(join(directory, 'data', file));
    made.exec(`PRAGMA user_version = ${version}; CREATE TABLE meta (name TEXT, value TEXT)`);
    made.close();
  };
}

function generated(entry: string, text: string): Spoil {
  return (directory) => {
    mkdirSync(join(directory, 'data/secrets'), { recursive: true });
    writeFileSync(join(directory, 'data/secrets', entry), text);
  };
}

interface Hindrance {
  readonly environment?: Readonly<Record<string, string>>;
  readonly spoil?: Spoil;
  /** In the warning of `check`. */
  readonly says: RegExp;
  /** In the refusal of `start`. */
  readonly refuses: RegExp;
}

/** 192.0.2.0/24 is for documents (RFC 5737): no machine has an address of it. */
const hindrances: Readonly<Record<string, Hindrance>> = {
  'an address of another machine': {
    environment: { HOST: '192.0.2.7' },
    says: /This machine cannot listen on 192\.0\.2\.7:0 \(HOST and PORT\): EADDRNOTAVAIL\./,
    refuses: /Cannot listen on 192\.0\.2\.7:0: EADDRNOTAVAIL\./,
  },
  'an address of another machine for operators': {
    environment: { ADMIN_HOST: '192.0.2.7' },
    says: /This machine cannot listen on 192\.0\.2\.7:0 \(ADMIN_HOST and ADMIN_PORT\): EADDRNOTAVAIL\./,
    refuses: /Cannot listen on 192\.0\.2\.7:0: EADDRNOTAVAIL\./,
  },
  'a key store of a newer gateway': {
    spoil: database('gateway.db', 99),
    says: /The store \S*gateway\.db cannot be opened: it has schema version 99 and this gateway knows versions up to \d+;/,
    refuses: /gateway\.db cannot be opened: it has schema version 99/,
  },
  'a key store of another pepper': {
    spoil: database('gateway.db', 2),
    says: /The store \S*gateway\.db cannot be opened: it was made with another key_pepper,/,
    refuses: /gateway\.db cannot be opened: it was made with another key_pepper,/,
  },
  'a key store that is no database': {
    spoil: (directory) => {
      mkdirSync(join(directory, 'data'));
      writeFileSync(join(directory, 'data/gateway.db'), 'x'.repeat(5000));
    },
    says: /The store \S*gateway\.db cannot be opened: file is not a database\./,
    refuses: /gateway\.db cannot be opened: file is not a database/,
  },
  'a directory in place of the key store': {
    spoil: (directory) => mkdirSync(join(directory, 'data/gateway.db'), { recursive: true }),
    says: /The store \S*gateway\.db cannot be opened: it is not a file\./,
    refuses: /gateway\.db cannot be opened: EISDIR/,
  },
  'answers of a newer gateway': {
    spoil: database('idempotency.db', 99),
    says: /The store \S*idempotency\.db cannot be opened: it has schema version 99/,
    refuses: /idempotency\.db cannot be opened: it has schema version 99/,
  },
  'a generated pepper that was cut off': {
    spoil: generated('key_pepper', 'short'),
    says: /The secrets entry key_pepper is too short/,
    refuses: /The secrets entry key_pepper is too short/,
  },
  'generated assertion keys that were emptied': {
    spoil: generated('assertion_keys', ''),
    says: /The secrets entry assertion_keys in \S+ is an empty file\./,
    refuses: /The secrets entry assertion_keys in \S+ is an empty file\./,
  },
};

describe('check warns of a fault of this machine that refuses a start:', () => {
  for (const [what, { environment: given = {}, spoil = () => undefined, says, refuses }] of Object.entries(
    hindrances,
  )) {
    it(what, () =>
      within({ environment: given }, spoil, async (environment) => {
        const checked = await check(environment);
        assert.equal(checked.code, 0, checked.stderr);
        assert.match(checked.stdout, says);
        assert.match(checked.stdout, new RegExp(`^warning: .* ${ELSEWHERE}$`, 'm'));
        const started = await start(environment);
        assert.equal(started.code, 1);
        assert.match(started.stderr, refuses);
      }),
    );
  }

  it('a data directory that this user may not write to', { skip: process.getuid?.() === 0 }, () =>
    within(
      {},
      (directory) => {
        mkdirSync(join(directory, 'data'));
        chmodSync(join(directory, 'data'), 0o500);
      },
      async (environment) => {
        const { stdout } = await check(environment);
        assert.match(
          stdout,
          /^warning: This user cannot write to \S*data, where the gateway keeps its data \(GATEWAY_DATA\)\./m,
        );
      },
    ),
  );

  it('a port of another program', async () => {
    const other = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const at = `127\\.0\\.0\\.1:${port}`;
    const given = { HOST: '127.0.0.1', PORT: String(port) };
    await within(
      { environment: given },
      () => undefined,
      async (environment) => {
        const { stdout } = await check(environment);
        assert.match(stdout, new RegExp(`^warning: ${at} \\(HOST and PORT\\) is in use by another program\\. `, 'm'));
        assert.match(
          (await start(environment)).stderr,
          new RegExp(`Cannot listen on ${at}: something else listens there`),
        );
      },
    );
    other.close();
  });

  it('another gateway on the data directory', () =>
    within(
      {},
      () => undefined,
      async (environment) => {
        const release = lockDirectory(environment.GATEWAY_DATA as string);
        const { stdout } = await check(environment);
        const { stderr } = await start(environment);
        release();
        assert.match(stdout, /^warning: Another gateway runs on the data directory /m);
        assert.match(stderr, /Another gateway runs on the data directory /);
      },
    ));

  it('but not of a configuration that starts, nor while that gateway runs', () =>
    within(
      {},
      () => undefined,
      async (environment) => {
        const fine = `No mistakes: 2 operations in 1 contract, from ${environment.GATEWAY_CONFIG}.\n`;
        assert.equal((await check(environment)).stdout, fine);
        const started = await start(environment, async ({ port, adminPort }) => {
          const ofRunning = { ...environment, PORT: String(port), ADMIN_PORT: String(adminPort) };
          assert.equal((await check(ofRunning)).stdout, fine);
        });
        assert.equal(started.code, 0);
      },
    ));
});

it('a start that fails after it began to listen frees its port', async () => {
  const port = await freePort();
  const environment = { HOST: '127.0.0.1', PORT: String(port), ADMIN_HOST: '192.0.2.7' };
  await within(
    { environment },
    () => undefined,
    async (all) => {
      assert.match((await start(all)).stderr, /Cannot listen on 192\.0\.2\.7:0/);
      const next = createServer().listen(port, '127.0.0.1');
      await once(next, 'listening');
      next.close();
    },
  );
});

describe('check warns of a Redis that refuses a start:', () => {
  let redis: TestRedis;
  before(async () => {
    redis = await startServer('--requirepass', 'correct');
  });
  after(() => redis.stop());

  const told = (url: string, environment: Readonly<Record<string, string>> = {}) =>
    within(
      { environment: { ...environment, REDIS_URL: url } },
      () => undefined,
      async (all) => {
        const { code, stdout } = await check(all);
        assert.equal(code, 0);
        return stdout.replaceAll(ELSEWHERE, '@').replace(/\nNo mistakes.*\n$/, '');
      },
    );
  const at = (user: string) => redis.url.replace('//', `//${user}`);

  it('one that does not answer', async () => {
    const shown = 'redis+sentinel://127.0.0.1:1,127.0.0.1:2/main';
    const said = await told(shown.replace('//', '//user:hidden@'));
    assert.ok(
      said.startsWith(`warning: The Redis ${shown} (REDIS_URL) cannot be used: All sentinels are unreachable.`),
    );
  });

  it('one that refuses the password', async () => {
    assert.match(await told(at(':wrong@')), /\(REDIS_URL\) cannot be used: WRONGPASS .*\. @$/);
  });

  it('one whose keys were made with another pepper', async () => {
    const store = lookInside(at(':correct@'));
    await store.hset('{gateway}:meta', 'schema', 1, 'pepper_fingerprint', 'another');
    const pepper = { KEY_PEPPER: 'a pepper of at least 16 characters' };
    assert.match(await told(at(':correct@'), pepper), /cannot be used: it was made with another key_pepper,.*\. @$/);
    await store.del('{gateway}:meta');
    assert.doesNotMatch(await told(at(':correct@'), pepper), /warning/);
    await store.quit();
  });

  it('a replica', async () => {
    const store = lookInside(at(':correct@'));
    await store.replicaof('127.0.0.1', 1);
    assert.match(await told(at(':correct@')), /cannot be used: it is a replica, which takes no writes\. @$/);
    await store.quit();
  });
});

it('check warns of a variable with a typing error, not of one of another program', () =>
  within(
    { environment: { REDIS_URI: 'redis://redis', GATEWAY_CONFIGS: '/etc/gateway', GATEWAY_PORT: 'tcp://10.0.0.1' } },
    () => undefined,
    async (environment) => {
      const { stdout } = await check(environment);
      assert.deepEqual(stdout.split('\n').slice(0, -2), [
        'warning: environment: REDIS_URI is not a setting. Did you mean REDIS_URL?',
        'warning: environment: GATEWAY_CONFIGS is not a setting. Did you mean GATEWAY_CONFIG?',
      ]);
    },
  ));
