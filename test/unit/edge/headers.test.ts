import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readHeaders } from '../../../gateway/edge/admission/headers.ts';

const read = (...raw: string[]) => Object.fromEntries(readHeaders(raw, 1000));

describe('readHeaders', () => {
  it('has names in lower case and joins lines of a list in order', () => {
    assert.deepEqual(read('Accept', 'a', 'X-Forwarded-For', '1', 'accept', 'b', 'x-forwarded-for', '2'), {
      accept: 'a, b',
      'x-forwarded-for': '1, 2',
    });
  });

  it('joins cookies as cookies are joined', () => {
    assert.deepEqual(read('Cookie', 'a=1', 'cookie', 'b=2'), { cookie: 'a=1; b=2' });
  });

  it('refuses a second credential by its own code', () => {
    assert.throws(() => read('Authorization', 'a', 'authorization', 'a'), { code: 'authorization_ambiguous' });
  });

  for (const name of ['Host', 'Content-Length', 'Content-Type', 'Transfer-Encoding', 'Expect']) {
    it(`refuses a second ${name}, even an equal one`, () => {
      assert.throws(() => read(name, 'a', name.toUpperCase(), 'a'), { code: 'malformed_http' });
    });
  }

  it('refuses too many bytes and too many lines, and takes a head that just fits', () => {
    assert.throws(() => read('a', 'x'.repeat(996)), { code: 'headers_too_large' });
    assert.equal(read('a', 'x'.repeat(995)).a?.length, 995);
    assert.throws(() => read(...Array<string>(202).fill('a')), { code: 'headers_too_large' });
    assert.ok(read(...Array<string>(200).fill('a')));
  });

  it('leaves out the fields that Connection names, in any order and case', () => {
    assert.deepEqual(read('X-A', '1', 'Connection', 'x-A ,, Accept', 'accept', '*/*', 'X-B', '2'), {
      connection: 'x-A ,, Accept',
      'x-b': '2',
    });
    assert.deepEqual(read('Connection', 'x-a', 'X-A', '1', 'connection', 'x-b', 'X-B', '2'), {
      connection: 'x-a, x-b',
    });
    assert.deepEqual(read('Connection', 'connection, x-a', 'X-A', '1'), {});
  });

  it('refuses Connection that names a field which decides about the request', () => {
    for (const name of ['Authorization', 'Host', 'Content-Length', 'X-Forwarded-Anything', 'If-Range'])
      assert.throws(() => read(name, '1', 'Connection', `close, ${name.toLowerCase()}`), { code: 'malformed_http' });
    assert.deepEqual(read('Connection', 'authorization'), { connection: 'authorization' });
  });

  it('gives a length one spelling', () => {
    for (const [given, expected] of [
      ['0', '0'],
      ['000', '0'],
      ['0012', '12'],
      ['120', '120'],
    ] as const)
      assert.deepEqual(read('Content-Length', given), { 'content-length': expected });
  });
});
