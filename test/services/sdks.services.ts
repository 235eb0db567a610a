// Clients that generators make of the published contracts without any option: they compile, and work with a gateway.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/directory.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { nullableDocument } from './support/nullable-document.ts';
import { hasPython, nodeAppFor, pythonFor, sourcesOf } from './support/packages.ts';

const run = promisify(execFile);
const PATIENCE_MS = 300_000;
const noPython = (await hasPython()) ? false : 'this machine has no python3 with venv and pip';
const baseline = (name: string) => fileURLToPath(new URL(`../../openapi/published/${name}.json`, import.meta.url));

/** What the programs in `apps` print. */
interface Outcome {
  readonly created: readonly { readonly id: string; readonly isReplayed: boolean }[];
  readonly pages: number;
  readonly listed: readonly string[];
  readonly retrieved: string;
  readonly missing: string;
  readonly status: string;
  readonly uploaded: number;
  readonly downloaded: string;
}

/** Compares what both programs do; returns the rest. */
function assertWorks(stdout: string): Record<string, unknown> {
  const { created, pages, listed, ...others } = JSON.parse(stdout) as Outcome & Record<string, unknown>;
  assert.deepEqual(
    created.map(({ isReplayed }) => isReplayed),
    [false, false, false, true],
  );
  assert.equal(new Set(created.map(({ id }) => id)).size, 3);
  assert.deepEqual(listed.slice(0, 3), ['Edsger', 'Grace', 'Ada']);
  assert.equal(pages, Math.ceil(listed.length / 2));
  const { retrieved, missing, status, uploaded, downloaded, ...rest } = others;
  assert.deepEqual(
    { retrieved, missing, status, uploaded, downloaded },
    {
      retrieved: 'Ada',
      missing: 'resource_missing',
      status: 'resource_missing',
      uploaded: 15,
      downloaded: 'bytes of a file',
    },
  );
  return rest;
}

/** What a gateway publishes of a foreign document. */
async function publishedOf(document: object): Promise<string> {
  const gateway = await startGateway({
    contracts: { 'pets.json': document },
    upstreams: { pets: { contracts: ['pets.json'], live: 'http://127.0.0.1:9', security: { apiKey: ['pets:read'] } } },
  });
  const answer = await fetch(`${gateway.url}/openapi/pets.json`);
  const text = await answer.text();
  await gateway.stop();
  assert.equal(answer.status, 200, text);
  return text;
}

describe('clients made of the published contracts', () => {
  let folder: string;
  let gateway: TestGateway;
  before(async () => {
    folder = temporaryDirectory();
    gateway = await startGateway({
      gateway: { publicUrl: 'https://api.platform.test' },
      upstreams: {
        platform: { contracts: ['v1/*.yaml'], live: 'sandbox:platform', test: 'sandbox:platform' },
        files: { contracts: ['files.yaml'], live: 'sandbox:files', test: 'sandbox:files' },
      },
    });
    const answer = await fetch(`${gateway.url}/openapi/v1.json`);
    assert.equal(answer.status, 200);
    writeFileSync(join(folder, 'v1.json'), await answer.text());
    cpSync(baseline('mail'), join(folder, 'mail.json'));
    writeFileSync(join(folder, 'pets.json'), await publishedOf(nullableDocument));
  });
  after(async () => {
    await gateway?.stop();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  /** The environment of a program, with a key of an organization of its own. */
  async function environmentFor(organization: string) {
    const { key } = await gateway.issueKey({ organization });
    return { ...process.env, API_URL: gateway.url, API_KEY: key };
  }

  async function generate(python: string, generator: string, name: string): Promise<string> {
    const output = join(folder, `${generator}-${name}`);
    const cli = join(dirname(python), 'openapi-generator-cli');
    const args = ['generate', '-i', join(folder, `${name}.json`), '-g', generator, '-o', output];
    const path = `${dirname(python)}:${process.env.PATH}`;
    await run(cli, args, { timeout: PATIENCE_MS, maxBuffer: 2 ** 26, env: { ...process.env, PATH: path } });
    return output;
  }

  async function importAll(python: string, output: string): Promise<void> {
    const env = { ...process.env, PYTHONPATH: output, PYTHONDONTWRITEBYTECODE: '1' };
    await run(python, [join(sourcesOf('python-client'), 'import_all.py')], { env, timeout: PATIENCE_MS });
  }

  /** Compiles TypeScript strictly; the output goes to `out`. Not below node_modules, where the compiler checks nothing. */
  async function compile(app: string, cwd: string, ...files: readonly string[]): Promise<void> {
    const options = ['--strict', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--module', 'commonjs'];
    const types = ['--types', 'node', '--typeRoots', join(app, 'node_modules/@types'), '--skipLibCheck'];
    const compiler = join(app, 'node_modules/typescript/bin/tsc');
    const args = [compiler, ...options, ...types, '--allowJs', '--checkJs', '--outDir', 'out', ...files];
    await run(process.execPath, args, { cwd, timeout: PATIENCE_MS }).catch(({ stdout }) => assert.fail(stdout));
  }

  it('in TypeScript by @hey-api/openapi-ts', async () => {
    const app = await nodeAppFor('typescript-client');
    const cwd = join(folder, 'hey-api');
    mkdirSync(cwd);
    const cli = join(app, 'node_modules/.bin/openapi-ts');
    for (const name of ['v1', 'mail'])
      await run(cli, ['-i', join(folder, `${name}.json`), '-o', name], { cwd, timeout: PATIENCE_MS });
    cpSync(join(sourcesOf('typescript-client'), 'use.js'), join(cwd, 'use.js'));
    await compile(app, cwd, 'use.js', 'mail/index.ts', 'mail/sdk.gen.ts');
    const env = await environmentFor('org_typescript');
    const { stdout } = await run(process.execPath, ['out/use.js'], { cwd, env, timeout: PATIENCE_MS });
    assert.deepEqual(assertWorks(stdout), { invalid: [['limit', 'too_large']] });
  });

  it('in TypeScript by openapi-typescript', async () => {
    const app = await nodeAppFor('typescript-client');
    const cli = join(app, 'node_modules/.bin/openapi-typescript');
    for (const name of ['v1', 'mail']) {
      const args = [join(folder, `${name}.json`), '-o', join(folder, `${name}.d.ts`)];
      await run(cli, args, { cwd: app, timeout: PATIENCE_MS });
      await compile(app, folder, `${name}.d.ts`);
    }
  });

  /** The newest release, and the oldest that the guide names. */
  for (const generator of ['python-client', 'openapi-generator-oldest']) {
    it(`in TypeScript by openapi-generator, from ${generator}`, { skip: noPython }, async () => {
      const [app, python] = [await nodeAppFor('typescript-client'), await pythonFor(generator)];
      // Until 7.16, the generator itself does not import the members of unions of enumerations.
      const names = generator === 'python-client' ? ['v1', 'mail', 'pets'] : ['v1', 'mail'];
      for (const name of names) await compile(app, await generate(python, 'typescript-fetch', name), 'index.ts');
    });
  }

  it('in Python by the oldest openapi-generator', { skip: noPython }, async () => {
    const [python, old] = [await pythonFor('python-client'), await pythonFor('openapi-generator-oldest')];
    for (const name of ['v1', 'mail', 'pets']) await importAll(python, await generate(old, 'python', name));
  });

  it('in Python by openapi-generator', { skip: noPython }, async () => {
    const python = await pythonFor('python-client');
    const sources = sourcesOf('python-client');
    for (const name of ['mail', 'pets', 'v1']) {
      const output = await generate(python, 'python', name);
      await importAll(python, output);
      if (name !== 'v1') continue;
      const env = { ...(await environmentFor('org_python')), PYTHONPATH: output, PYTHONDONTWRITEBYTECODE: '1' };
      const { stdout } = await run(python, [join(sources, 'use.py')], { env, timeout: PATIENCE_MS });
      assert.deepEqual(assertWorks(stdout), { reference: ['reference_missing', 'customer_id'] });
    }
  });

  it('after the rules of Spectral, which find nothing', async () => {
    const app = await nodeAppFor('typescript-client');
    const ruleset = join(folder, '.spectral.yaml');
    writeFileSync(ruleset, 'extends: spectral:oas\n');
    const cli = join(app, 'node_modules/.bin/spectral');
    for (const name of ['v1', 'mail']) {
      const args = ['lint', '-r', ruleset, '-F', 'hint', join(folder, `${name}.json`)];
      const { stdout } = await run(cli, args, { cwd: app, timeout: PATIENCE_MS }).catch((error) => error);
      assert.match(stdout, /^No results/, stdout);
    }
  });
});
