// Single checks of `gateway doctor`: the verdict for each number or word.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkPublicUrl, checkTrustedProxies } from '../../../../gateway/commands/doctor/addresses.ts';
import { checkValidity } from '../../../../gateway/commands/doctor/certificates.ts';
import { checkRoom, checkSkew } from '../../../../gateway/commands/doctor/data.ts';
import { checkMemory, checkNode, checkOpenFiles, checkWorkers } from '../../../../gateway/commands/doctor/machine.ts';
import { checkLatency, checkServer, parseInfo } from '../../../../gateway/commands/doctor/redis.ts';
import { findingsOf, ok } from '../../../../gateway/commands/finding.ts';
import { NODE_BASELINE } from '../../../../gateway/commands/node-baseline.ts';
import { gatewayFile } from '../../../../gateway/config/gateway/gateway-file.ts';
import type { Config } from '../../../../gateway/config/load.ts';
import { upstreamEntry } from '../../../../gateway/config/upstreams/upstreams-file.ts';

const DAY_MS = 86_400_000;
const MEBIBYTE = 1_048_576;

function configWith(gateway: object, live: string | readonly string[] = 'http://items:3000'): Config {
  const upstreams = { items: upstreamEntry.parse({ contracts: ['items.yaml'], live }) };
  return { gateway: gatewayFile.parse(gateway), upstreams } as unknown as Config;
}

describe('a check of doctor', () => {
  it('recognises a Node that is too old, and one that is untested', () => {
    const verdicts = ['22.1.0', NODE_BASELINE, '24.999.0', '26.0.0'].map((version) => checkNode(version).verdict);
    assert.deepEqual(verdicts, ['fail', 'ok', 'ok', 'warn']);
  });

  it('warns of a Node of the line that is older than the baseline', () => {
    for (const version of ['24.0.0', '24.9.9', '24.20.99']) {
      const { verdict, says } = checkNode(version);
      assert.equal(verdict, 'warn', version);
      assert.equal(says, `Node ${version} lacks security fixes: ${NODE_BASELINE} or newer has them.`);
    }
  });

  it('compares the files that may be open with the configured connections', () => {
    const limits = (soft: string) => `Limit  Soft Limit\nMax open files            ${soft}    1048576  files\n`;
    const config = configWith({ connections: { max: 1000 } }, ['http://a:1', 'http://b:1']);
    assert.equal(checkOpenFiles(limits('1232'), config, 1).verdict, 'ok');
    const { verdict, says, remedy } = checkOpenFiles(limits('1231'), config, 1);
    assert.equal(verdict, 'warn');
    assert.match(says, /1231 per process.* need 1232\./);
    assert.match(remedy ?? '', /ulimit -n 1232/);
    assert.equal(checkOpenFiles(limits('800'), config, 2).verdict, 'ok', 'connections are divided among the workers');
    assert.equal(checkOpenFiles(limits('unlimited'), config, 1).verdict, 'ok');
    assert.equal(checkOpenFiles(undefined, config, 1).verdict, 'ok');
  });

  it('counts workers against cores', () => {
    assert.equal(checkWorkers({ workers: 4 }, 4).verdict, 'ok');
    assert.match(checkWorkers({ workers: 5 }, 4).remedy ?? '', /WORKERS to 4 at most/);
  });

  it('compares the allowed memory with the bounds of heaps and bodies', () => {
    const config = configWith({ overload: { bufferedBytesMax: 128 * MEBIBYTE } });
    const heap = 512 * MEBIBYTE;
    assert.equal(checkMemory({ allowed: 0, heap }, config, 1).verdict, 'ok');
    assert.equal(checkMemory({ allowed: 640 * MEBIBYTE, heap }, config, 1).verdict, 'ok');
    assert.equal(checkMemory({ allowed: 640 * MEBIBYTE, heap }, config, 2).verdict, 'warn');
    assert.match(checkMemory({ allowed: 600 * MEBIBYTE, heap }, config, 1).remedy ?? '', /max-old-space-size=352,/);
  });

  it('warns below a gibibyte of room, and fails below a hundred mebibytes', () => {
    const verdicts = [1024, 1023, 100, 99].map(
      (size) => checkRoom({ freeBytes: size * MEBIBYTE, totalBytes: 2048 * MEBIBYTE }).verdict,
    );
    assert.deepEqual(verdicts, ['ok', 'warn', 'warn', 'fail']);
  });

  it('lets clocks differ by a second', () => {
    assert.deepEqual(
      [-1000, 1000, 1001, -5000].map((skew) => checkSkew('clock', skew).verdict),
      [...['ok', 'ok'], ...['warn', 'warn']],
    );
    assert.match(checkSkew('clock', -5000).says, /5000 ms behind/);
  });

  it('counts the days that a certificate is valid', () => {
    const verdictOf = (lifetime: number, left: number) =>
      checkValidity('it', { validFromMs: (left - lifetime) * DAY_MS, expiresAtMs: left * DAY_MS }, 0).verdict;
    assert.deepEqual(
      [16, 14, 0.5, -0.1].map((left) => verdictOf(90, left)),
      ['ok', 'warn', 'warn', 'fail'],
    );
    assert.deepEqual([verdictOf(6, 2), verdictOf(6, 0.9), verdictOf(3650, 40)], ['ok', 'warn', 'ok']);
  });

  it('counts the days that a certificate has left, and in the last three of them the hours', () => {
    const saysOf = (left: number) => checkValidity('it', { validFromMs: 0, expiresAtMs: left * DAY_MS }, 0).says;
    assert.deepEqual([40.9, 3, 2.96, 1.96, 0.01].map(saysOf), [
      '40 days are left.',
      '3 days are left.',
      '71 hours are left.',
      '47 hours are left.',
      '0 hours are left.',
    ]);
  });

  it('requires an address that clients can use, but on the sandbox', () => {
    const verdictOf = (publicUrl: string, live?: string) => checkPublicUrl(configWith({ publicUrl }, live)).verdict;
    assert.equal(verdictOf('https://api.example.com'), 'ok');
    assert.equal(verdictOf('http://api.example.com'), 'warn');
    for (const local of ['https://localhost', 'http://127.0.0.1:8080', 'https://[::1]'])
      assert.equal(verdictOf(local), 'warn', local);
    assert.equal(verdictOf('http://localhost:8080', 'sandbox:platform'), 'ok');
  });

  it('trusts proxies of a bounded range only, and requires them behind a public URL', () => {
    const verdictOf = (...trustedProxies: string[]) => checkTrustedProxies(configWith({ trustedProxies })).verdict;
    assert.equal(verdictOf('10.0.0.0/8', 'fd00::/16', '192.0.2.1'), 'ok');
    assert.equal(verdictOf('10.0.0.0/7'), 'warn');
    assert.equal(verdictOf('2000::/3'), 'warn');
    assert.equal(verdictOf('10.0.0.0/8', '0.0.0.0/0'), 'fail');
    assert.equal(verdictOf('::/0'), 'fail');
    const noneInFront = configWith({ publicUrl: 'https://api.example.com' });
    assert.match(checkTrustedProxies(noneInFront).says, /all clients seem to have one address/);
  });

  it('reports the state of a Redis', () => {
    const info = (lines: string) => parseInfo(`# Server\r\n${lines.replaceAll('\n', '\r\n')}\r\n`);
    const good = 'redis_version:7.2.1\nrole:master\nmaxmemory:0\nused_memory:5\nmaxmemory_policy:noeviction';
    const verdicts = (lines: string) => checkServer(info(lines)).map(({ verdict }) => verdict);
    assert.deepEqual(verdicts(good), ['ok', 'ok', 'ok', 'ok']);
    assert.deepEqual(verdicts(good.replace('7.2.1', '6.0.16')), ['fail', 'ok', 'ok', 'ok']);
    assert.deepEqual(verdicts(good.replace('7.2.1', '6.2.0')), ['ok', 'ok', 'ok', 'ok']);
    assert.deepEqual(verdicts(good.replace('7.2.1', '10.0.0')), ['ok', 'ok', 'ok', 'ok']);
    assert.deepEqual(verdicts(good.replace('master', 'slave')), ['ok', 'fail', 'ok', 'ok']);
    assert.deepEqual(verdicts(good.replace('noeviction', 'allkeys-lru')), ['ok', 'ok', 'fail', 'ok']);
    assert.deepEqual(verdicts(good.replace('maxmemory:0', 'maxmemory:6')), ['ok', 'ok', 'ok', 'warn']);
    assert.deepEqual(
      [5, 6, 101].map((ms) => checkLatency(ms).verdict),
      ['ok', 'warn', 'fail'],
    );
  });

  it('that throws is a finding, and so is one that takes too long', async () => {
    const thrown = await findingsOf(
      ['one', () => Promise.reject(Object.assign(new Error('x'), { code: 'EIO' }))],
      5000,
    );
    assert.deepEqual([thrown[0]?.verdict, thrown[0]?.says], ['fail', 'This could not be checked (EIO).']);
    const late = await findingsOf(['two', () => new Promise(() => undefined)], 20);
    assert.deepEqual([late[0]?.check, late[0]?.verdict], ['two', 'fail']);
    assert.deepEqual(await findingsOf(['three', () => [ok('a', 'A.'), ok('b', 'B.')]], 5000), [
      { check: 'a', verdict: 'ok', says: 'A.' },
      { check: 'b', verdict: 'ok', says: 'B.' },
    ]);
  });
});
