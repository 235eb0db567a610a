// `contract diff` as run before a contract is changed.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../support/directory.ts';
import { commandLine } from './command-line.ts';

const text = (maxLength: number, more = '') => `openapi: 3.1.1
info: { title: Things, version: "1" }
paths:
  /v1/things:
    post:
      operationId: createThing
      security: [{ apiKey: ["things:write"] }]
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                name: { type: string, maxLength: ${maxLength} }
${more}      responses: { "201": { description: made } }
components:
  securitySchemes:
    apiKey: { type: http, scheme: bearer }
`;
const optional = `                note: { type: string }
`;

function line() {
  const directory = temporaryDirectory();
  const write = (name: string, content: string) => {
    const file = join(directory, name);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  const { run } = commandLine();
  return { directory, write, run: (...words: string[]) => run('contract', 'diff', ...words) };
}

test('a breaking change is reported with file, line, rule and reason, and the exit code is 1', async () => {
  const { write, run } = line();
  const [old, fresh] = [write('old.yaml', text(20)), write('new.yaml', text(10, optional))];
  const { code, out, err } = await run(old, fresh);
  assert.equal(code, 1);
  assert.deepEqual(out.split('\n'), [
    `${fresh}:14:50: POST /v1/things: breaking, request-bound-narrowed: request body application/json/name: maxLength goes from 20 to 10.`,
    `${fresh}:15:17: POST /v1/things: additive, request-property-added: request body application/json/note: the property is new.`,
    'Clients would break: 1 breaking change, 1 additive change.',
    '',
  ]);
  assert.equal(err, '1 breaking change.');
});

test('additive changes and none end with 0', async () => {
  const { write, run } = line();
  const [old, fresh] = [write('old.yaml', text(10)), write('new.yaml', text(20, optional))];
  const json = await run(old, fresh, '--json');
  assert.equal(json.code, 0);
  const { breaking, additive, findings } = JSON.parse(json.out);
  assert.deepEqual([breaking, additive], [0, 2]);
  const bound = findings.find(({ rule }: { rule: string }) => rule === 'request-bound-widened');
  assert.deepEqual(bound, {
    rule: 'request-bound-widened',
    level: 'additive',
    operation: 'POST /v1/things',
    operation_id: 'createThing',
    document: 'new',
    file: fresh,
    line: 14,
    column: 50,
    place: 'paths./v1/things.post.requestBody.content.application/json.schema.properties.name.maxLength',
    reason: 'request body application/json/name: maxLength goes from 10 to 20',
  });
  const same = await run(old, old);
  assert.deepEqual([same.code, same.out], [0, 'No client breaks: 0 breaking changes, 0 additive changes.\n']);
});

test('directories and globs are compared as a whole: an operation may move to another file', async () => {
  const { directory, write, run } = line();
  write('old/things.yaml', text(20));
  write('old/part.yaml', 'components: {}\n');
  write('new/deep/other.yaml', text(20));
  const { code, out } = await run(join(directory, 'old'), join(directory, 'new/**/*.yaml'));
  assert.deepEqual([code, out], [0, 'No client breaks: 0 breaking changes, 0 additive changes.\n']);
});

test('the published contracts of a directory are left out: they hide no breaking change', async () => {
  const { directory, write, run } = line();
  for (const [side, length] of [
    ['old', 20],
    ['new', 10],
  ] as const) {
    write(`${side}/orders.yaml`, text(length));
    write(`${side}/published/things.yaml`, text(20));
    write(`${side}/published/changes.jsonl`, '');
  }
  const [old, fresh] = [join(directory, 'old'), join(directory, 'new')];
  const { code, out } = await run(old, fresh);
  assert.equal(code, 1);
  assert.match(out, /new\/orders\.yaml:14:50: POST \/v1\/things: breaking, request-bound-narrowed/);
  const promise = await run(`${fresh}/published`, `${fresh}/orders.yaml`);
  assert.equal(promise.code, 1, 'a promise that is named is compared');
});

test('an operation in several files is compared with the one in the file of the same name', async () => {
  const { directory, write, run } = line();
  for (const name of ['old/a.yaml', 'old/b.yaml', 'new/b.yaml']) write(name, text(20));
  write('new/a.yaml', text(10));
  const sides = [join(directory, 'old'), join(directory, 'new')] as const;
  const narrowed = /new\/a\.yaml:14:50: .*request-bound-narrowed.*\nClients would break: 1 breaking change, 0 additive/;
  for (const glob of ['', '/*.yaml']) {
    const { code, out } = await run(...(sides.map((side) => side + glob) as [string, string]));
    assert.equal(code, 1, out);
    assert.match(out, narrowed);
  }
  rmSync(join(directory, 'new/b.yaml'));
  const less = await run(...sides);
  assert.match(less.out, /old\/b\.yaml:\d+:\d+: POST \/v1\/things: breaking, operation-removed/);
  write('new/c.yaml', text(20));
  const moved = await run(...sides);
  assert.deepEqual([moved.code, moved.out], [2, '']);
  assert.match(
    moved.err,
    /^POST \/v1\/things is in \S+a\.yaml and \S+b\.yaml before and in \S+a\.yaml and \S+c\.yaml after: .*\nNothing was compared\.$/,
  );
});

test('a contract published elsewhere can be compared', async (t) => {
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/openapi/v1.yaml' ? 200 : 404;
    response.end(text(20));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/openapi`;
  const { write, run } = line();
  const { code, out } = await run(`${address}/v1.yaml`, write('new.yaml', text(10)));
  assert.equal(code, 1);
  assert.match(out, /maxLength goes from 20 to 10/);
  const absent = await run(`${address}/v2.yaml`, write('new.yaml', text(10)));
  assert.deepEqual(
    [absent.code, absent.err],
    [2, `${address}/v2.yaml cannot be fetched: it was answered with status 404.`],
  );
});

test('a published contract that never ends is read up to a bound', async (t) => {
  const server = createServer((_, response) => {
    response.write(Buffer.alloc(65 * 2 ** 20));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1.json`;
  const { write, run } = line();
  const { code, err } = await run(address, write('new.yaml', text(10)));
  assert.deepEqual([code, err], [2, `${address} cannot be fetched: it is longer than 67108864 bytes.`]);
});

test('contracts that cannot be compared are a usage error: missing files, or contracts with mistakes', async () => {
  const { write, run } = line();
  const old = write('old.yaml', text(20));
  const absent = await run(old, '/nowhere/x.yaml');
  assert.deepEqual([absent.code, absent.err], [2, 'There is no contract at /nowhere/x.yaml.']);
  const broken = await run(old, write('new.yaml', text(20).replace('type: string', 'type: strin')));
  assert.equal(broken.code, 2);
  assert.match(broken.err, /Nothing was compared/);
});
