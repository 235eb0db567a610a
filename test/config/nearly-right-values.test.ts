// A value that is nearly right gets the form to write.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { OWN_ENTRY } from '../support/administration.ts';
import { environmentOf, writeConfiguration } from '../support/configuration.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { runInProcess } from '../support/in-process.ts';
import { ownContract } from '../support/own-contract.ts';
import { sentencesFor, sound, spoiled } from './faults.ts';

const upstreams = 'config/upstreams.yaml';
const ADDRESS = 'live: http://items:3000';

for (const [member, meant] of [
  ['live: htp://items:3000', '"http://items:3000"'],
  ['live: http:/items:3000', '"http://items:3000"'],
  ['live: https//items', '"https://items"'],
  ['live: "http://items:3000/a?b=1"', '"http://items:3000/a"'],
  ['live: "gatway:"', '"gateway:"'],
  [`${ADDRESS}\n    health: /ping`, '{ path: /ping }'],
  [`${ADDRESS}\n    health: { path: ping }`, '"/ping"'],
  [`${ADDRESS}\n    health: { path: /ping, intervalMs: 5s }`, '5000'],
  [`${ADDRESS}\n    maxStreamMs: 1.5 h`, '5400000'],
  [`${ADDRESS}\n    connectionMaxAgeSeconds: 2m`, '120'],
  [`${ADDRESS}\n    maxInFlight: "4"`, '4'],
  [`${ADDRESS}\n    isolate: "yes"`, 'true'],
  [`${ADDRESS}\n    basePath: v1/`, '"/v1"'],
  [`${ADDRESS}\n    retry: 3`, '{ attempts: 3 }'],
  [`${ADDRESS}\n    requestHeaders: X-Tenant`, '[X-Tenant]'],
] as const) {
  test(`${member.replace(`${ADDRESS}\n    `, '')} is meant to be ${meant}`, async () => {
    const says = await sentencesFor({ files: spoiled(upstreams, ADDRESS, member) });
    assert.equal(says.length, 1, says.join('\n'));
    assert.ok(says[0]?.endsWith(`. Did you mean ${meant}?`), says[0]);
  });
}

test('a size is given in bytes', async () => {
  const gateway = `${sound['config/gateway.yaml']}limits: { bodyBytesMax: 2MB }\n`;
  const says = await sentencesFor({ files: { 'config/gateway.yaml': gateway } });
  assert.deepEqual(
    says.map((sentence) => /Did you mean .*/.exec(sentence)?.[0]),
    ['Did you mean 2097152?'],
  );
});

for (const member of [
  'timeoutMs: soon',
  'timeoutMs: 2 MB',
  'retry: often',
  'breaker: "on"',
  'timeoutMs: 99999999999',
]) {
  test(`${member} suggests nothing that would be refused, too`, async () => {
    const says = await sentencesFor({ files: spoiled(upstreams, 'timeoutMs: 1000', member) });
    assert.equal(says.length, 1, says.join('\n'));
    assert.doesNotMatch(says[0] ?? '', /Did you mean/);
  });
}

test("a misspelt address of the gateway's own contract is one mistake, and none for each scope of the contract", async () => {
  const directory = temporaryDirectory();
  for (const live of ['gatway:', 'gateway']) {
    writeConfiguration(directory, { contracts: ownContract, upstreams: { gateway: { ...OWN_ENTRY.gateway, live } } });
    const { code, stderr } = await runInProcess(['check'], {
      environment: { ...environmentOf(directory), GATEWAY_DATA: join(directory, 'data') },
    });
    assert.equal(code, 1);
    assert.match(stderr, /"?gateway:"/);
    assert.match(stderr, /^1 mistake\./m, stderr);
  }
  rmSync(directory, { recursive: true });
});
