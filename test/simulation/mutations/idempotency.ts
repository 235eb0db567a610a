// Defects of idempotent writes.

import { of } from './mutation.ts';

export const IDEMPOTENCY = of('idempotency', [
  [
    'the entry of a dead owner is taken over by any repetition',
    'replay/redis-store.ts',
    "isLost and ARGV[5] == '1' and",
    'isLost and',
  ],
  [
    '`forget` does not compare the owner',
    'replay/redis-store.ts',
    'if owner ~= ARGV[1] then return end\nif not again',
    'if not again',
  ],
  ['a repetition that was not sent frees the key', 'replay/redis-store.ts', 'if not again then', 'if true then'],
  [
    'a request that may have run frees its key',
    'replay/recording.ts',
    'if (!isSent || !mayHaveRun(error)) return',
    'if (true) return',
  ],
  ['a lease ends at once', 'replay/replay.ts', 'options.timeoutMs(operation) + LEASE_MARGIN_MS', '1'],
  ['a claim expires with its lease', 'replay/redis-store.ts', 'retainMs + leaseMs, runsAgain', 'leaseMs, runsAgain'],
  [
    'an outcome given up frees the key',
    'replay/redis-store.ts',
    "redis.call('PEXPIRE', KEYS[1], string.match(known, '^%d+'))\nif",
    "redis.call('DEL', KEYS[1])\nif",
  ],
  [
    'a stored answer expires at once',
    'replay/redis-store.ts',
    "redis.call('PEXPIRE', KEYS[1], ARGV[3])\n`",
    "redis.call('PEXPIRE', KEYS[1], 1)\n`",
  ],
  [
    'another body gets the answer of the first',
    'replay/redis-store.ts',
    "if fingerprint ~= ARGV[1] then return { 'different' } end",
    '',
  ],
  [
    'another body takes over a request with an unknown outcome',
    'replay/redis-store.ts',
    "ARGV[5] == '1' and fingerprint == ARGV[1])",
    "ARGV[5] == '1')",
  ],
  [
    'beyond the bound of an organization a key is free at once',
    'replay/redis-store.ts',
    "then return redis.call('PEXPIRE', KEYS[1], ARGV[5]) end",
    "then return redis.call('DEL', KEYS[1]) end",
  ],
  ['stored bytes are not counted', 'replay/redis-store.ts', "redis.call('INCRBY', KEYS[2], bytes)\n", ''],
  [
    'each stored byte counts ten times',
    'replay/redis-store.ts',
    'used + bytes > tonumber(ARGV[4])',
    'used + 10 * bytes > tonumber(ARGV[4])',
  ],
  [
    'in SQLite: another body gets the answer of the first',
    'replay/sqlite-store.ts',
    "if (row.fingerprint !== fingerprint) return { state: 'different' };",
    '',
  ],
  [
    'in SQLite: beyond the bound of an organization a key is free at once',
    'replay/sqlite-store.ts',
    'retainMsWithoutRoom(retention));',
    '0);',
  ],
  [
    'in SQLite: an expired row holds its key, a live one does not',
    'replay/sqlite-store.ts',
    'WHERE expires_at <= ?\n',
    'WHERE expires_at >= ?\n',
  ],
  [
    'in SQLite: a dead owner is any owner',
    'replay/sqlite-store.ts',
    'owner IS NOT NULL AND lease_ends_at <= ?',
    'owner IS NOT NULL AND lease_ends_at >= ?',
  ],
]);

export const REPLICAS = of('replicas', [
  [
    'writes do not wait for replicas',
    'replay/redis-store.ts',
    "if (begun.state === 'started' && claim.replicaWait) await noting(replicate(nameOf(answerKey), claim.replicaWait));",
    '',
  ],
  [
    'a write that too few replicas have is sent',
    'replay/redis-store.ts',
    'if (count < wait.replicas) throw new NotReplicated(count, wait.replicas);',
    '',
  ],
]);
