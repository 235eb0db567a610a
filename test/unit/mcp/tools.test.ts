// Names, lists and texts of tools; pure parts.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memberTextAt } from '../../../gateway/mcp/json-text.ts';
import { namesOf } from '../../../gateway/mcp/names.ts';
import { protectedResource } from '../../../gateway/mcp/resource-metadata.ts';
import { cutRecords } from '../../../gateway/mcp/result.ts';

describe('names of tools', () => {
  const named = (...ids: string[]) => namesOf(ids.map((id) => ({ id, wanted: undefined })));

  it('are in form, unique, and do not depend on the order of operations', () => {
    const ids = [
      'repos/list',
      'repos_list',
      'GET /v1/things/{id}',
      'x'.repeat(200),
      `${'x'.repeat(199)}y`,
      '///',
      'call_operation',
      'é',
      'a.b',
    ];
    const names = named(...ids);
    for (const name of names) assert.match(name ?? '', /^[A-Za-z0-9_-]{1,64}$/);
    assert.equal(new Set(names).size, ids.length);
    assert.deepEqual(named(...ids.toReversed()), names.toReversed());
    assert.equal(names[8], 'a_b');
  });

  it('follow the contract, unless two operations have one name', () => {
    const wanted = (id: string, name?: string) => ({ id, wanted: name });
    assert.deepEqual(namesOf([wanted('a', 'find.it'), wanted('b')]), ['find.it', 'b']);
    assert.deepEqual(namesOf([wanted('a', 'it'), wanted('b', 'it')]), [undefined, undefined]);
    assert.match(namesOf([wanted('a', 'b'), wanted('b')])[1] ?? '', /^b_[0-9a-f]{8}$/);
    assert.deepEqual(namesOf([wanted('a', 'call_operation')]), [undefined]);
  });
});

describe('the text of a member', () => {
  it('is as the client wrote it', () => {
    const json =
      ' { "a" : [ "x]}", {"b": 1} ] , "p\\u0061rams": { "arguments" : {"body": {"n": 1.50, "s": "\\"}"} , "x":-1e3 } }}';
    assert.equal(memberTextAt(json, ['params', 'arguments', 'body']), '{"n": 1.50, "s": "\\"}"}');
    assert.equal(memberTextAt(json, ['params', 'arguments', 'x']), '-1e3');
    assert.equal(memberTextAt(json, ['a']), '[ "x]}", {"b": 1} ]');
    assert.equal(memberTextAt(json, ['params', 'nothing']), undefined);
    assert.equal(memberTextAt('[1]', ['a']), undefined);
  });

  it('is found in linear time', () => {
    const timeOf = (length: number) => {
      const json = `{"filler":[${'{"a":"\\\\"},'.repeat(length)}1],"body":1}`;
      const before = process.threadCpuUsage();
      assert.equal(memberTextAt(json, ['body']), '1');
      return process.threadCpuUsage(before).user;
    };
    // The quietest of some rounds, in CPU time: the machine may be busy with something else.
    const quietestOf = (length: number) => Math.min(...Array.from({ length: 5 }, () => timeOf(length)));
    // 20 times the text: 400 times the work if it were quadratic.
    assert.ok(quietestOf(400_000) < 100 * Math.max(quietestOf(20_000), 1000));
  });
});

describe('a cut answer', () => {
  it('has whole records, a bounded number of bytes, and all other members', () => {
    const data = Array.from({ length: 100 }, (_, id) => ({ id, text: 'é' }));
    const cut = cutRecords({ total: 100, data, links: [1] }, 500) ?? assert.fail('not cut');
    assert.ok(Buffer.byteLength(JSON.stringify(cut.value)) <= 500);
    assert.deepEqual(cut.value, { total: 100, data: data.slice(0, cut.shown), links: [1] });
    assert.equal(cut.total, 100);
    assert.deepEqual(cutRecords(data, 500)?.value, data.slice(0, cutRecords(data, 500)?.shown));
    assert.equal(cutRecords({ text: 'x'.repeat(900) }, 500), undefined);
    assert.equal(cutRecords([{ text: 'x'.repeat(900) }], 500), undefined);
  });
});

describe('the metadata of the endpoint', () => {
  const at = (...audiences: string[]) =>
    protectedResource({
      publicUrl: 'https://api.example.com',
      path: '/mcp',
      title: 'API',
      scopes: ['things:read'],
      issuers: audiences.map((audience, index) => ({ issuer: `https://id${index}.example.com`, audience })),
    });

  it('names exactly the address that an issuer makes tokens for', () => {
    assert.equal(at(), undefined);
    assert.equal(at('https://other.example.com'), undefined);
    const ofApi = at('https://api.example.com', 'https://other.example.com');
    assert.equal(ofApi?.path, '/.well-known/oauth-protected-resource');
    assert.deepEqual(JSON.parse(ofApi?.text ?? '').authorization_servers, ['https://id0.example.com']);
    const ofEndpoint = at('https://api.example.com', 'https://api.example.com/mcp');
    assert.equal(ofEndpoint?.path, '/.well-known/oauth-protected-resource/mcp');
    assert.equal(JSON.parse(ofEndpoint?.text ?? '').resource, 'https://api.example.com/mcp');
  });
});
