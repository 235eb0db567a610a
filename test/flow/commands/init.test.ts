// `gateway init` writes files that can be checked and served unchanged, names each file, and overwrites none unless told to.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { editorSchemaOf } from '../../../gateway/config/editor-schemas.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startInProcess } from '../../support/in-process.ts';
import { createInstallation } from '../../support/process.ts';

describe('gateway init', () => {
  const directory = temporaryDirectory();
  const made = join(directory, 'made');
  const installation = createInstallation({ GATEWAY_CONFIG: made });
  after(() => {
    installation.remove();
  });

  it('writes a configuration that check accepts and start serves', async () => {
    const { code, stdout } = await installation.run('init', made);
    assert.equal(code, 0);
    const said = [...stdout.matchAll(/^wrote (.+)$/gm)].map(([, path = '']) => path);
    assert.equal(said.length, 11);
    for (const path of said) assert.ok(existsSync(path), path);

    const withContract = createInstallation({ GATEWAY_CONFIG: made, GATEWAY_CONTRACTS: join(made, 'openapi') });
    const all = await withContract.run('check', '--json');
    const { ok, operations, contracts, mistakes, warnings, unenforced } = JSON.parse(all.stdout);
    const found = { ok, operations, contracts, mistakes, warnings, unenforced };
    assert.deepEqual(found, { ok: true, operations: 39, contracts: 3, mistakes: [], warnings: [], unenforced: [] });
    const running = await startInProcess(withContract.environment);
    const key = /Bearer ([^']+)'/.exec(running.stderr)?.[1];
    const answer = await fetch(`http://127.0.0.1:${running.port}/v1/customers?limit=3`, {
      headers: { authorization: `Bearer ${key}` },
    });
    assert.equal(answer.status, 200);
    assert.equal(((await answer.json()) as { data: unknown[] }).data.length, 3);

    // The gateway's own contract is served without a further step, under a limit of its own. The start prints how to make a key for it.
    const [, words = ''] = /^\S+\/docs\/account shows [^\n]*\n\n {2}bin\/gateway (.*)$/m.exec(running.stderr) ?? [];
    const unquoted = words.replace("'Account page'", 'account').replaceAll("'", '').split(' ');
    const own = JSON.parse((await withContract.run(...unquoted, '--json')).stdout).key;
    const account = await fetch(`http://127.0.0.1:${running.port}/gateway/v1/organization`, {
      headers: { authorization: `Bearer ${own}` },
    });
    assert.deepEqual([account.status, ((await account.json()) as { id: string }).id], [200, 'org_demo']);
    assert.match(account.headers.get('ratelimit-policy') ?? '', /"administration";q=120;w=60/);
    await running.stop();
    withContract.remove();
  });

  it('leaves sandbox and examples out with --empty', async () => {
    const empty = join(directory, 'empty');
    const { code, stdout } = await installation.run('init', empty, '--empty');
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /customers/);
    assert.doesNotMatch(readFileSync(join(empty, 'upstreams.yaml'), 'utf8'), /sandbox/);
    const bare = createInstallation({ GATEWAY_CONFIG: empty, GATEWAY_CONTRACTS: join(empty, 'openapi') });
    const checked = await bare.run('check', '--json');
    assert.deepEqual([checked.code, JSON.parse(checked.stdout).operations], [0, 37]);
    bare.remove();
  });

  it('overwrites nothing without the option', async () => {
    const file = join(made, 'limits.yaml');
    for (const path of [file, join(made, 'upstreams.yaml')]) writeFileSync(path, '# mine\n');
    rmSync(join(made, 'gateway.yaml'));
    const refused = await installation.run('init', made);
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /Nothing was written, because these files exist: \S*upstreams\.yaml, \S*limits\.yaml\. .*--force/,
    );
    assert.equal(readFileSync(file, 'utf8'), '# mine\n');
    assert.equal(existsSync(join(made, 'gateway.yaml')), false);
    // A file with the text that would be written is in no danger.
    assert.doesNotMatch(refused.stderr, /customers|administration/);

    const forced = await installation.run('init', made, '--force', '--json');
    assert.equal(forced.code, 0);
    assert.equal(JSON.parse(forced.stdout).directory, made);
    assert.match(readFileSync(file, 'utf8'), /^tiers:/m);
  });

  it('refreshes the schemas alone, of the configuration in use where no other is named', async () => {
    const schema = join(made, 'schemas', 'limits.json');
    const file = join(made, 'limits.yaml');
    writeFileSync(schema, '{}');
    writeFileSync(file, '# mine\n');
    const { code, stdout } = await installation.run('init', '--schemas', '--json');
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).written.length, 3);
    assert.equal(readFileSync(schema, 'utf8'), editorSchemaOf('limits'));
    assert.equal(readFileSync(file, 'utf8'), '# mine\n');
  });

  it('names the file that cannot be written', async () => {
    writeFileSync(join(directory, 'file'), '');
    const { code, stderr } = await installation.run('init', join(directory, 'file'));
    assert.equal(code, 1);
    assert.match(stderr, /file\/gateway\.yaml cannot be written \((ENOTDIR|EEXIST)\)/);
  });
});
