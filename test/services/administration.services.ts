// Clients that generators make of the gateway's own contract do the round: an operator creates an organization and a key; with the key a
// developer calls a service, sees use and the explanation of a refusal, rotates, revokes and waits; the operator reads the audit log.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { OWN_ENTRY } from '../support/administration.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { hasPython, nodeAppFor, pythonFor, sourcesOf } from './support/packages.ts';

const run = promisify(execFile);
const PATIENCE_MS = 300_000;
const noPython = (await hasPython()) ? false : 'this machine has no python3 with venv and pip';

const OPERATOR = [
  'gateway:organizations:read',
  'gateway:organizations:write',
  'gateway:keys:read',
  'gateway:keys:write',
  'gateway:audit:read',
  // A key grants what it holds.
  'customers:read',
  'gateway:read',
  'gateway:keys',
];

/** What both programs print. */
const ROUND = {
  created: 'active',
  again: [true, null, 'before'],
  used: 200,
  refused: 400,
  explained: ['validation_failed', 'validate'],
  remedy: true,
  calls: 2,
  replaces: true,
  revoked: 'revoked',
  confirmed: 1,
  unconfirmed: 0,
  afterwards: 401,
  audit: ['key.revoked', 'key.rotated', 'key.created', 'organization.created'],
  authors: ['key_'],
  requests: true,
};

describe('clients made of the contract of the gateway itself', () => {
  let folder: string;
  let gateway: TestGateway;
  let document: string;
  before(async () => {
    folder = temporaryDirectory();
    document = join(folder, 'gateway.json');
    gateway = await startGateway({
      gateway: { publicUrl: 'https://api.platform.test' },
      upstreams: {
        platform: { contracts: ['v1/*.yaml'], live: 'sandbox:platform', test: 'sandbox:platform' },
        ...OWN_ENTRY,
      },
    });
    const answer = await fetch(`${gateway.url}/openapi/gateway.json`);
    assert.equal(answer.status, 200);
    writeFileSync(document, await answer.text());
  });
  after(async () => {
    await gateway?.stop();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  async function environmentOfOperator() {
    const { key } = await gateway.issueKey({ organization: 'org_staff', operator: true, scopes: OPERATOR });
    return { ...process.env, API_URL: gateway.url, API_KEY: key };
  }

  it('in TypeScript by openapi-typescript', async () => {
    const app = await nodeAppFor('administration-typescript');
    // Not below node_modules, where the compiler checks nothing.
    const cwd = join(folder, 'typescript');
    mkdirSync(cwd);
    symlinkSync(join(app, 'node_modules'), join(cwd, 'node_modules'));
    writeFileSync(join(cwd, 'package.json'), '{"type":"module"}');
    cpSync(join(sourcesOf('administration-typescript'), 'use.js'), join(cwd, 'use.js'));
    const cli = join(app, 'node_modules/.bin/openapi-typescript');
    await run(cli, [document, '-o', join(cwd, 'gateway.d.ts')], { cwd: app, timeout: PATIENCE_MS });
    const types = fileURLToPath(new URL('../../node_modules/@types', import.meta.url));
    const compiler = join(app, 'node_modules/typescript/bin/tsc');
    const options = [
      '--strict',
      '--exactOptionalPropertyTypes',
      '--target',
      'es2022',
      '--lib',
      'es2022,dom,dom.iterable',
    ];
    const args = [
      compiler,
      ...options,
      '--module',
      'nodenext',
      '--skipLibCheck',
      '--allowJs',
      '--checkJs',
      '--types',
      'node',
      '--typeRoots',
      types,
      '--outDir',
      'out',
      'use.js',
    ];
    await run(process.execPath, args, { cwd, timeout: PATIENCE_MS }).catch(({ stdout }) => assert.fail(stdout));
    const env = await environmentOfOperator();
    const { stdout } = await run(process.execPath, ['out/use.js'], { cwd, env, timeout: PATIENCE_MS });
    assert.deepEqual(JSON.parse(stdout), ROUND);
  });

  it('in Python by openapi-generator', { skip: noPython }, async () => {
    const python = await pythonFor('python-client');
    const output = join(folder, 'python');
    const cli = join(dirname(python), 'openapi-generator-cli');
    const path = `${dirname(python)}:${process.env.PATH}`;
    const generating = { timeout: PATIENCE_MS, maxBuffer: 2 ** 26, env: { ...process.env, PATH: path } };
    await run(cli, ['generate', '-i', document, '-g', 'python', '-o', output], generating);
    const env = { ...(await environmentOfOperator()), PYTHONPATH: output, PYTHONDONTWRITEBYTECODE: '1' };
    const sources = sourcesOf('python-client');
    await run(python, [join(sources, 'import_all.py')], { env, timeout: PATIENCE_MS });
    const { stdout } = await run(python, [join(sources, 'administer.py')], { env, timeout: PATIENCE_MS });
    assert.deepEqual(JSON.parse(stdout), ROUND);
  });
});
