// Scripts and style sheets are sent without their comments and their indentation, and otherwise as they are.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { leanForm, leanStyles } from '../../../gateway/console/files.ts';

test('comments on lines of their own are left out', () => {
  const script = '// Head.\n\n/**\n * @param one of\n */\nconst a = 1;\n  /* one line */\n  // more\n  b();\n';
  assert.equal(leanForm(script), '\nconst a = 1;b();');
});

test('what looks like a comment within code stays', () => {
  const lines = [
    "const url = 'https://example.com/*';",
    'const of = /^\\/\\//;',
    'go(); // later',
    'const share = a / b;',
  ];
  assert.equal(leanForm(`${lines.join('\n')}\n`), `${lines[0]}${lines[1]}${lines[2]}\n${lines[3]}`);
});

test('no text of a script spans lines, where the indentation would be a part of it', () => {
  const folder = new URL('../../../gateway/console/page/', import.meta.url);
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.js'))) {
    const text = readFileSync(new URL(name, folder), 'utf8');
    assert.doesNotMatch(text, /[{,([;] *\/\/ .*[{,([;]$/m, `${name}: the next line would be in the comment`);
    const code = leanForm(text).replaceAll(/'[^'\n]*'|\/\/ .*|[(]\/.*\/g?[)]/g, '');
    const open = code.split('\n').filter((line) => line.split('`').length % 2 === 0);
    assert.deepEqual(open, [], name);
  }
});

test('a style sheet keeps the white space that separates something', () => {
  const sheet =
    '.a > .b,\n.c :is(d, e) {\n  margin: 0 1px;\n  content: " / ";\n}\n\n@media (max-width: 9rem) {\n  f {\n    g: h;\n  }\n}\n';
  assert.equal(leanStyles(sheet), '.a > .b,.c :is(d,e){margin:0 1px;content:" / "}@media (max-width:9rem){f{g:h}}');
});
