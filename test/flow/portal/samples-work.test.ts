// Every operation works the first time with the sample of its page, writes included, on a gateway as `npm start` runs it: with its demo key
// and its demo data. "Try it" begins with the values of the samples.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { type StartedHere, startInProcess } from '../../support/in-process.ts';
import { createInstallation, type Installation } from '../../support/process.ts';

const run = promisify(execFile);

interface Collection {
  readonly variable: readonly { key: string; value: string }[];
  readonly item: readonly { readonly item: readonly PostmanItem[] }[];
}

interface PostmanItem {
  readonly name: string;
  readonly event?: readonly { readonly script: { readonly exec: readonly string[] } }[];
  readonly request: {
    readonly method: string;
    readonly header: readonly { key: string; value: string }[];
    readonly url: { readonly raw: string };
    readonly body?: { readonly raw: string };
  };
}

/** The samples of a page in Markdown, by language. */
function samplesIn(markdown: string): Record<string, string> {
  const part = markdown.slice(markdown.indexOf('## Samples'), markdown.indexOf('## Responses'));
  return Object.fromEntries(
    [...part.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => [language, code]),
  );
}

describe('the samples of the reference', () => {
  let installation: Installation;
  let gateway: StartedHere;
  let url: string;
  let key: string;
  let file: string;
  before(async () => {
    installation = createInstallation();
    gateway = await startInProcess(installation.environment);
    url = `http://127.0.0.1:${gateway.port}`;
    key = /sk_test_\w+/.exec(gateway.stderr)?.[0] ?? '';
    file = join(installation.dataDirectory, 'example.txt');
    writeFileSync(file, 'An example.\n');
  });
  after(async () => {
    await gateway?.stop();
    installation?.remove();
  });

  const read = async (path: string) => (await fetch(url + path)).text();

  /** Puts in what a reader would: the key, a file, and the administrator of the mail server; and where the gateway is. */
  function filled(code: string): string {
    const administrator = readFileSync(
      join(installation.dataDirectory, 'secrets/stalwart_admin_credentials'),
      'utf8',
    ).trim();
    return code
      .replaceAll('YOUR_API_KEY', key)
      .replaceAll('USER:PASSWORD', administrator.includes(':') ? administrator : `admin:${administrator}`)
      .replaceAll('path/to/file', file)
      .replaceAll(/http:\/\/localhost:\d+/g, url);
  }

  it('name a customer that the filter of the guide to pagination finds', async () => {
    const [, phone = ''] = /phone=(\+\d+)/.exec(await read('/docs/guides/pagination.md')) ?? [];
    const headers = { authorization: `Bearer ${key}` };
    const found = await fetch(`${url}/v1/customers?phone=${encodeURIComponent(phone)}`, { headers });
    const { data } = (await found.json()) as { data: { name: string }[] };
    assert.deepEqual([...new Set(data.map(({ name }) => name))], ['Dana Whitfield']);
  });

  it('are accepted for every operation, in the order of the reference', async () => {
    const pages = [
      ...(await read('/llms.txt')).matchAll(/\((\S+?)(\/docs\/reference\/[\w-]+\/[\w-]+\.md)\): [A-Z]+ \//g),
    ];
    assert.ok(pages.length >= 56, `${pages.length} operations`);
    const samples: { readonly page: string; readonly code: string }[] = [];
    for (const [, , page = ''] of pages) {
      const markdown = await read(page);
      // These refuse test keys, and the scope * does not cover them.
      if (page.startsWith('/docs/reference/gateway/')) continue;
      // The one is a stream without an end, the other cannot be opened with curl.
      if (/Opens a WebSocket|text\/event-stream/.test(markdown)) continue;
      samples.push({ page, code: filled(samplesIn(markdown).sh ?? '') });
    }
    // One shell runs them all, each as it would run alone.
    const lines = samples.map(
      ({ code }) => `(${code.replace('curl ', "curl -sS --max-time 60 -o /dev/null -w '%{http_code}' ")}) 2>&1\necho`,
    );
    const { stdout } = await run('bash', ['-uo', 'pipefail', '-c', lines.join('\n')]);
    const told = stdout.trimEnd().split('\n');
    assert.equal(told.length, samples.length, stdout);
    const failed = samples.flatMap(({ page, code }, index) =>
      /^2\d\d$/.test(told[index] ?? '') ? [] : [`${page}: ${told[index]}\n${code}`],
    );
    assert.deepEqual(failed, []);
  });

  it('run in JavaScript, and in Python where there is one', async (t) => {
    const hasPython = await run('python3', ['--version']).then(
      () => true,
      () => false,
    );
    if (!hasPython) t.diagnostic('This machine has no python3: the samples in Python were not run.');
    for (const page of ['/docs/reference/v1/listCustomers.md', '/docs/reference/v1/createGuest.md']) {
      const { js = '', python = '' } = samplesIn(await read(page));
      const node = await run(process.execPath, ['--input-type=module', '--eval', filled(js)]);
      assert.match(node.stdout, /^20[01] /, page);
      if (!hasPython) continue;
      const snake = await run('python3', ['-c', filled(python)]);
      assert.match(snake.stdout, /^20[01] /, page);
      const refused = await run('python3', ['-c', filled(python).replace(key, `${key}0`)]);
      assert.match(refused.stdout, /^401 \{"error":.*"code":"api_key_malformed"/, page);
    }
  });

  it('are those of the Postman collection, too', async () => {
    const collection = JSON.parse(await read('/docs/reference/v1.postman.json'));
    const customers = collection.item.find(({ name }: { name: string }) => name === 'customers');
    const create = customers.item.find(({ name }: { name: string }) => name === 'Create a customer');
    assert.equal(create.request.url.raw, '{{baseUrl}}/v1/customers');
    assert.equal(JSON.parse(create.request.body.raw).name, 'Dana Whitfield');
  });

  it('of the Postman collection ask for the ids that earlier requests made', async () => {
    const collection: Collection = JSON.parse(await read('/docs/reference/v1.postman.json'));
    const variables = new Map(collection.variable.map(({ key: name, value }) => [name, value]));
    variables.set('baseUrl', url).set('apiKey', key);
    const resolved = (text: string) =>
      text.replaceAll(/\{\{([$\w]+)\}\}/g, (_, name) =>
        name === '$guid' ? randomUUID() : (variables.get(name) ?? assert.fail(name)),
      );

    /** Sends a request as Postman does, and runs its script on the answer. */
    async function send(name: string) {
      const found = collection.item.flatMap(({ item }) => item).find((one) => one.name === name) ?? assert.fail(name);
      const { method, header, url: target, body } = found.request;
      const headers = {
        authorization: `Bearer ${key}`,
        ...Object.fromEntries(header.map((one) => [one.key, resolved(one.value)])),
      };
      const answer = await fetch(resolved(target.raw), { method, headers, ...(body && { body: resolved(body.raw) }) });
      const text = await answer.text();
      const pm = {
        response: { code: answer.status, json: () => JSON.parse(text) },
        collectionVariables: { set: (variable: string, value: string) => variables.set(variable, value) },
      };
      for (const { script } of found.event ?? []) runInNewContext(script.exec.join('\n'), { pm });
      return {
        status: answer.status,
        raw: target.raw,
        body: text === '' ? undefined : JSON.parse(text),
        sent: body && JSON.parse(body.raw),
      };
    }

    const before = variables.get('customer_id');
    const created = await send('Create a customer');
    assert.equal(created.status, 201, JSON.stringify(created.body));
    assert.notEqual(created.body.id, before);
    const retrieved = await send('Retrieve a customer');
    assert.equal(retrieved.raw, '{{baseUrl}}/v1/customers/{{customer_id}}');
    assert.deepEqual([retrieved.status, retrieved.body.id], [200, created.body.id]);
    const job = await send('Create a job');
    assert.equal(job.sent.customer_id, '{{customer_id}}');
    assert.deepEqual([job.status, job.body.customer_id], [201, created.body.id]);
    assert.equal((await send('Retrieve a job')).body.id, job.body.id);
    assert.equal((await send('Delete a job')).status, 200);
    assert.equal((await send('Delete a job')).status, 404);
    variables.set('customer_id', 'cus_0000000000000000');
    assert.equal((await send('Create a job')).status, 422, 'a failed request makes no id');
    assert.equal(variables.get('job_id'), job.body.id);
  });

  it('send a new Idempotency-Key with every write that takes one, in every language', async () => {
    const writes = { 'v1/createJob': 'POST', 'v1/updateJob': 'PATCH' };
    for (const [page, method] of Object.entries(writes)) {
      const { sh, js, python, go } = samplesIn(await read(`/docs/reference/${page}.md`));
      assert.ok(sh?.includes(` ${method === 'POST' ? '' : `-X ${method} `}`));
      assert.ok(sh?.includes('-H "Idempotency-Key: $(openssl rand -hex 16)"'), sh);
      assert.ok(js?.includes("'Idempotency-Key': crypto.randomUUID(),"), js);
      assert.ok(python?.includes('"Idempotency-Key": str(uuid.uuid4()),'), python);
      assert.match(python ?? '', /^import uuid$/m);
      assert.ok(go?.includes('request.Header.Set("Idempotency-Key", rand.Text())'), go);
      assert.ok(go?.includes('"crypto/rand"'), go);
    }
    for (const page of ['v1/listJobs', 'v1/deleteJob'])
      assert.doesNotMatch(JSON.stringify(samplesIn(await read(`/docs/reference/${page}.md`))), /Idempotency-Key/);
    const collection: string = await read('/docs/reference/v1.postman.json');
    const sent = JSON.parse(collection).item.flatMap(({ item }: { item: PostmanItem[] }) => item);
    for (const { name, request } of sent as PostmanItem[]) {
      const keys = request.header.filter(({ key }) => key === 'Idempotency-Key').map(({ value }) => value);
      assert.deepEqual(keys, /POST|PATCH/.test(request.method) ? ['{{$guid}}'] : [], name);
    }
  });
});
