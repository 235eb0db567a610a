// Random commands for all that the model knows: few keys and members, so that they meet, and values at the edges.

import fc from 'fast-check';

const keys = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'a', 'b');
const texts = fc.constantFrom(
  '',
  'x',
  'y',
  '0',
  '1',
  '10',
  '-5',
  '3.5',
  'a b',
  '\x00\xff\x80',
  'x'.repeat(70),
  '900719925474099',
);
const fields = fc.constantFrom('f', 'g', 'h', '1', '');
const indexes = fc.constantFrom('0', '1', '2', '5', '-1', '-2', '-10', 'x', '1.5', '');
const scores = fc.constantFrom('0', '1', '2', '-1', '1.5', '1732580000000', 'inf', '-inf', 'x', '1e3', '0.1', '3');
const bounds = fc.constantFrom('-inf', '+inf', '0', '1', '(1', '2', '(0', '1.5', 'x', '(x', '1732580000000');
const amounts = fc.constantFrom('1', '-1', '0', '100', '-100', 'x', '1.5');
/** Far from both ends: the two servers are milliseconds apart. */
const spansMs = fc.constantFrom('100000', '500000', '0', '-1', 'x', '1.5');
const spansSeconds = fc.constantFrom('100', '500', '0', '-1', 'x');
const secondsAhead = fc.constantFrom('4102444800', '0', 'x', '4102444800.5');
const streamIds = fc.constantFrom('1-0', '2-0', '2-1', '3', '10-0', '0-0', '0-1', 'x', '5-5');
const streamBounds = fc.constantFrom('-', '+', '1', '2-0', '(1-0', '(2', '3-1', 'x', '(x', '0');
const several = (one: fc.Arbitrary<string>, most = 3) => fc.array(one, { minLength: 1, maxLength: most });
const pairs = (one: fc.Arbitrary<string>, other: fc.Arbitrary<string>) =>
  fc.array(fc.tuple(one, other), { minLength: 1, maxLength: 3 }).map((list) => list.flat());

type Part = string | fc.Arbitrary<string> | fc.Arbitrary<string[]>;

function command(...parts: Part[]): fc.Arbitrary<string[]> {
  const drawn = parts.map((part) =>
    typeof part === 'string' ? fc.constant(part) : (part as fc.Arbitrary<string | string[]>),
  );
  return fc.tuple(...drawn).map((values) => values.flat());
}

const limit = fc.constantFrom<string[]>(
  [],
  ['LIMIT', '0', '2'],
  ['LIMIT', '1', '-1'],
  ['WITHSCORES'],
  ['WITHSCORES', 'LIMIT', '0', '1'],
);
const withScores = fc.constantFrom<string[]>([], ['WITHSCORES'], ['nothing']);
const count = fc.constantFrom<string[]>([], ['COUNT', '1'], ['COUNT', '2'], ['COUNT', '0']);

export const randomCommand: fc.Arbitrary<string[]> = fc.oneof(
  command('get', keys),
  command('set', keys, texts),
  command(
    'set',
    keys,
    texts,
    fc.constantFrom<string[]>(['NX'], ['XX'], ['PX', '100000'], ['EX', '100'], ['PX', '100000', 'NX']),
  ),
  command('incrby', keys, amounts),
  command('del', several(keys)),
  command('exists', several(keys)),
  command('type', keys),
  command('pexpire', keys, spansMs),
  command('expire', keys, spansSeconds),
  command('expireat', keys, secondsAhead),
  command(
    'pexpireat',
    keys,
    secondsAhead.map((text) => `${text}000`),
  ),
  command('pttl', keys),
  command('ttl', keys),
  command('rename', keys, keys),
  command('scan', '0', 'COUNT', '1000'),
  command(
    'scan',
    '0',
    'MATCH',
    fc.constantFrom('a*', '?', '*c*', 'x'),
    'COUNT',
    '1000',
    'TYPE',
    fc.constantFrom('list', 'hash', 'string'),
  ),
  command('hget', keys, fields),
  command('hmget', keys, several(fields)),
  command('hgetall', keys),
  command('hkeys', keys),
  command('hexists', keys, fields),
  command('hlen', keys),
  command('hscan', keys, '0', 'COUNT', '1000'),
  command('hset', keys, pairs(fields, texts)),
  command('hset', keys, several(fields)),
  command('hsetnx', keys, fields, texts),
  command('hdel', keys, several(fields)),
  command('hincrby', keys, fields, amounts),
  command('llen', keys),
  command('lindex', keys, indexes),
  command('lrange', keys, indexes, indexes),
  command('lpos', keys, texts),
  command('rpush', keys, several(texts)),
  command('lset', keys, indexes, texts),
  command('ltrim', keys, indexes, indexes),
  command('zcard', keys),
  command('zscore', keys, texts),
  command('zrank', keys, texts),
  command('zrange', keys, indexes, indexes, withScores),
  command('zrevrange', keys, indexes, indexes, withScores),
  command('zrangebyscore', keys, bounds, bounds, limit),
  command('zrevrangebyscore', keys, bounds, bounds, limit),
  command('zadd', keys, pairs(scores, texts)),
  command('zadd', keys, 'XX', pairs(scores, texts)),
  command('zadd', keys, several(scores)),
  command('zrem', keys, several(texts)),
  command('zremrangebyscore', keys, bounds, bounds),
  command('xadd', keys, streamIds, pairs(fields, texts)),
  command('xlen', keys),
  command('xrange', keys, streamBounds, streamBounds, count),
  command('xrevrange', keys, streamBounds, streamBounds, count),
  command('ping', texts),
  command(fc.constantFrom('get', 'hget', 'hset', 'zadd', 'lrange', 'xadd', 'nothing')),
);
