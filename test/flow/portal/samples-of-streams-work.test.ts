// Samples of responses that stay open print what comes, as it comes; the sample of a WebSocket opens one.

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { after, afterEach, before, describe, it } from 'node:test';
import { until } from '../../support/connection.ts';
import { type StartedHere, startInProcess } from '../../support/in-process.ts';
import { createInstallation, type Installation } from '../../support/process.ts';

const LANGUAGES = {
  sh: ['bash', '-c'],
  js: [process.execPath, '--input-type=module', '--eval'],
  python: ['python3', '-c'],
};

describe('the samples of streams', () => {
  let installation: Installation;
  let gateway: StartedHere;
  let url: string;
  let key: string;
  const programs: ChildProcess[] = [];
  before(async () => {
    installation = createInstallation();
    gateway = await startInProcess(installation.environment);
    url = `http://127.0.0.1:${gateway.port}`;
    key = /sk_test_\w+/.exec(gateway.stderr)?.[0] ?? '';
  });
  afterEach(() => {
    for (const program of programs.splice(0)) program.kill('SIGKILL');
  });
  after(async () => {
    await gateway?.stop();
    installation?.remove();
  });

  async function sampleOf(operation: string, language: string): Promise<string> {
    const page = await (await fetch(`${url}/docs/reference/v1/${operation}.md`)).text();
    const samples = page.slice(page.indexOf('## Samples'), page.indexOf('## Responses'));
    const [, code = ''] = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(samples) ?? [];
    return code
      .replaceAll('YOUR_API_KEY', key)
      .replaceAll(/(http|ws):\/\/localhost:\d+/g, `$1://127.0.0.1:${gateway.port}`);
  }

  /** Runs a sample until it ends, or until the test does; returns what it has printed. */
  function printedBy(language: keyof typeof LANGUAGES, code: string): () => string {
    const [command = '', ...args] = LANGUAGES[language];
    // The shell is replaced by the program of the sample, which then ends with it.
    const program = spawn(command, [...args, language === 'sh' ? code.replace(/^curl/m, 'exec curl -sS') : code]);
    programs.push(program);
    let printed = '';
    for (const stream of [program.stdout, program.stderr]) stream.on('data', (text) => (printed += text));
    return () => printed;
  }

  async function save(name: string): Promise<void> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/octet-stream' };
    const { status } = await fetch(`${url}/v1/files/${name}`, { method: 'PUT', headers, body: 'text' });
    assert.equal(status, 200);
  }

  for (const language of ['sh', 'js', 'python'] as const)
    it(`print events in ${language}`, { skip: !has(LANGUAGES[language][0] as string) }, async () => {
      const printed = printedBy(language, await sampleOf('watchFiles', language));
      await until(() => /retry: 1000/.test(printed()));
      await save(`of-${language}.txt`);
      await until(() => printed().includes(`"name":"of-${language}.txt"`));
      assert.match(printed(), /^event: file\.saved$/m);
    });

  it('print the messages of a WebSocket in JavaScript', async () => {
    const printed = printedBy('js', await sampleOf('openFileSocket', 'js'));
    await until(() => /connected/.test(printed()));
    await save('socket.txt');
    await until(() => /socket\.txt/.test(printed()));
  });

  it('name the WebSocket in every language, and no plain request', async () => {
    for (const language of ['sh', 'js', 'python', 'go']) {
      const code = await sampleOf('openFileSocket', language);
      assert.match(code, /"ws:\/\/[^"]+\/v1\/file-socket"/, language);
      assert.match(code, new RegExp(`Bearer ${key}`), language);
    }
  });

  it('of a WebSocket is what a plain request is told to be', async () => {
    const answer = await fetch(`${url}/v1/file-socket`, { headers: { authorization: `Bearer ${key}` } });
    const { error } = (await answer.json()) as {
      error: { code: string; errors: { param: string; message: string }[] };
    };
    assert.deepEqual([answer.status, error.code, error.errors[0]?.param], [400, 'validation_failed', 'upgrade']);
    assert.match(error.errors[0]?.message ?? '', /opens a WebSocket/);
  });

  it('show an event as the response', async () => {
    const page = await (await fetch(`${url}/docs/reference/v1/watchFiles.md`)).text();
    assert.match(page, /```text\nid: \d+\nevent: file\.saved\ndata: \{"name":"plan\.pdf"/);
  });
});

function has(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
