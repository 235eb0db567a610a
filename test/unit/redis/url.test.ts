// The accepted forms of REDIS_URL.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRedisUrl, redisCliOptions } from '../../../gateway/redis/url.ts';

test('the address of one server is passed on unchanged', () => {
  for (const url of [
    'redis://localhost',
    'redis://localhost/',
    'rediss://user:secret@redis:6379/1',
    'redis://[::1]:6379?keyPrefix=a',
  ]) {
    assert.deepEqual(parseRedisUrl(url), { kind: 'server', url });
  }
});

test('Sentinels come with the name of the master, and perhaps a database', () => {
  const address = parseRedisUrl('rediss+sentinel://user:secret@s1,s2:26380/mymaster/2');
  assert.ok(address?.kind === 'sentinel');
  assert.deepEqual([address.master, address.db], ['mymaster', 2]);
  assert.deepEqual(
    address.sentinels.map(({ href }) => href),
    ['rediss://user:secret@s1', 'rediss://user:secret@s2:26380'],
  );
});

test('a Cluster is some of its servers', () => {
  const address = parseRedisUrl('redis+cluster://h1:7000,[::1]:7001');
  assert.ok(address?.kind === 'cluster');
  assert.deepEqual(
    address.servers.map(({ host }) => host),
    ['h1:7000', '[::1]:7001'],
  );
});

test('anything else is no address', () => {
  for (const url of [
    'redis',
    'http://redis:6379',
    'redis://',
    'redis://redis:99999',
    'redis://redis:6379/production',
    'redis://redis:6379/0/1',
    'redis+sentinel://s1:26379',
    'redis+cluster://h1:7000/name',
    'redis+cluster://h1:7000,,h2:7000',
    'redis+cluster://h1:99999',
    'redis+other://h1:7000',
  ]) {
    assert.equal(parseRedisUrl(url), undefined, url);
  }
});

test('redis-cli has the options of the server, of the present master, or of every server of a Cluster', () => {
  const rows: readonly [url: string, options: string | undefined][] = [
    ['redis://localhost', '-h localhost -p 6379'],
    ['redis://[::1]:7000/2?keyPrefix=a', '-h ::1 -p 7000'],
    ['rediss://user:secret@redis:6380/1', '-h redis -p 6380 --tls --user user --askpass'],
    ['redis://:secret@redis', '-h redis -p 6379 --askpass'],
    [
      'rediss+sentinel://:secret@s1,s2:26380/mymaster/2',
      "$(redis-cli -h s1 -p 26379 --tls sentinel get-master-addr-by-name mymaster | sed '1s/^/-h /;2s/^/-p /') --tls --askpass",
    ],
    ['rediss+cluster://h1:7000,h2:7001', '--tls --cluster call h1:7000'],
    ['redis+cluster://h1', '--cluster call h1:6379'],
    ['redis+sentinel://s1/$(reboot)', undefined],
    ['redis://a%20b:secret@redis', undefined],
    ['redis', undefined],
  ];
  for (const [url, options] of rows) assert.equal(redisCliOptions(url), options, url);
});
