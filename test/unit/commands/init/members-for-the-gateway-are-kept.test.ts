// Where a document is fetched again, members for the gateway are inserted into its text, whatever its form; nothing else changes.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { keptMembers, withMembers } from '../../../../gateway/commands/init/kept-members.ts';

const former = {
  'x-gateway-cost': 2,
  paths: {
    '/a': { get: { 'x-gateway-public': true }, put: { 'x-gateway-cost': 3 }, 'x-gateway-timeout': 50 },
    '/gone': { get: { 'x-gateway-cost': 1 } },
  },
};
const wanted = {
  'x-gateway-cost': 2,
  openapi: '3.1.0',
  paths: {
    '/a': { get: { id: 'a', 'x-gateway-public': true }, put: { 'x-gateway-cost': 9 }, 'x-gateway-timeout': 50 },
  },
};

const texts = {
  'JSON on one line': '{"openapi":"3.1.0","paths":{"/a":{"get":{"id":"a"},"put":{"x-gateway-cost":9}}}}',
  'JSON on several lines':
    '{\n  "openapi": "3.1.0",\n  "paths": {\n    "/a": {\n      "get": {\n        "id": "a"\n      },\n      "put": { "x-gateway-cost": 9 }\n    }\n  }\n}\n',
  'YAML in blocks':
    'openapi: "3.1.0"\npaths:\n  /a:\n    get:\n      id: a # The name.\n    put: { x-gateway-cost: 9 }\n',
  'YAML behind a comment':
    '# Of the service.\nopenapi: "3.1.0"\npaths:\n  /a: { get: { id: a }, put: { x-gateway-cost: 9 } }\n',
};

describe('members for the gateway', () => {
  for (const [form, text] of Object.entries(texts))
    it(`are kept in ${form}`, () => {
      const members = keptMembers(former, parse(text));
      const written = withMembers(text, members);
      assert.deepEqual(parse(written), wanted, written);
      if (text.startsWith('{')) assert.deepEqual(JSON.parse(written), wanted);
    });

  it('leave the other values as they are written', () => {
    const text = '{"paths":{"/a":{"get":{"maximum":12345678901234567890}}}}';
    assert.match(withMembers(text, keptMembers(former, parse(text))), /"maximum":12345678901234567890/);
  });
});
