// `gateway init --from` adds an entry to upstreams.yaml as its author wrote it, and loses nothing.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { withEntry } from '../../../../gateway/commands/init/upstreams-text.ts';

const entry = {
  contracts: ['new.json'],
  live: 'http://localhost:8000',
  test: 'examples:' as const,
  security: { read: ['new:read'], write: ['new:write'] },
};
const other = { contracts: ['a.yaml'], live: 'http://a:3000' };

const forms: Readonly<Record<string, string>> = {
  'blocks, with comments':
    '# One.\nupstreams:\n  # Two.\n  a:\n    contracts: [a.yaml]\n    live: http://a:3000 # Three.\n  # Four.\n',
  'blocks of four spaces': 'upstreams:\n    a:\n        contracts: [a.yaml]\n        live: http://a:3000\n',
  'blocks before another key':
    'upstreams:\n  a: { contracts: [a.yaml], live: "http://a:3000" }\nbreaking: [] # Kept.\n',
  'blocks without a last line break': 'upstreams:\n  a: { contracts: [a.yaml], live: "http://a:3000" }',
  'an empty map': '# One.\nupstreams: {} # Two.\n',
  'an empty map with a comment': 'upstreams: { # One.\n}\nbreaking: []\n',
  'an empty map before another key': 'upstreams: {}\nbreaking: []\n',
  'a key without a value': 'upstreams:\n  # a: Not yet.\nbreaking: []\n',
  'a key with null': 'upstreams: null # One.\n',
  'no key': '# Nothing yet.\n',
  'another key alone': 'breaking: []\n',
  nothing: '',
  JSON: `${JSON.stringify({ upstreams: { a: other }, breaking: [] }, null, 2)}\n`,
  'JSON in one line': JSON.stringify({ breaking: [], upstreams: { a: other } }),
  'JSON with an empty map': JSON.stringify({ upstreams: {} }),
  'JSON without the key': JSON.stringify({ breaking: [] }),
  'empty JSON': '{}\n',
  'a flow map': 'upstreams: { a: { contracts: [a.yaml], live: "http://a:3000" } }\nbreaking: []\n',
  'a flow map with comments':
    'upstreams: {\n  a: { contracts: [a.yaml], live: "http://a:3000" }, # One.\n  # Two.\n}\n',
  'a flow map that ends with a comment':
    'upstreams: {\n  a: { contracts: [a.yaml], live: "http://a:3000" } # One.\n}\n',
};

describe('an entry is added to upstreams.yaml', () => {
  for (const [form, text] of Object.entries(forms)) {
    it(`written as ${form}`, () => {
      const before = (parse(text) ?? {}) as { upstreams?: object | null };
      const made = withEntry(text, 'new', entry) ?? '';
      assert.deepEqual(parse(made), { ...before, upstreams: { ...before.upstreams, new: entry } }, made);
      for (const [comment] of text.matchAll(/# .*/g)) assert.ok(made.includes(comment), made);
    });
  }

  it('stays JSON where it was', () => {
    const made = withEntry('{ "upstreams": {} }', 'new', entry) ?? '';
    assert.deepEqual(JSON.parse(made), { upstreams: { new: entry } });
  });

  it('unless it cannot be read, or is no map', () => {
    for (const text of ['upstreams: [a]\n', 'upstreams: &x {}\nupstreams: *x\n', 'upstreams: { a: ', '- a\n', 'a'])
      assert.equal(withEntry(text, 'new', entry), undefined, text);
  });
});
