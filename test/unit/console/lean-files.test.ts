// Scripts and style sheets are sent without their comments and their indentation, and otherwise as they are.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { leanForm } from '../../../gateway/console/files.ts';

test('comments on lines of their own are left out', () => {
  const script = '// Head.\n\n/**\n * @param one of\n */\nconst a = 1;\n  /* one line */\n  // more\n  b();\n';
  assert.equal(leanForm(script), '\nconst a = 1;\nb();\n');
});

test('what looks like a comment within code stays', () => {
  const lines = [
    "const url = 'https://example.com/*';",
    'const of = /^\\/\\//;',
    'go(); // later',
    'const share = a / b;',
  ];
  assert.equal(leanForm(`${lines.join('\n')}\n`), `${lines.join('\n')}\n`);
});

test('no text of a script spans lines, where the indentation would be a part of it', () => {
  const folder = new URL('../../../gateway/console/page/', import.meta.url);
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.js'))) {
    const code = leanForm(readFileSync(new URL(name, folder), 'utf8')).replaceAll(
      /'[^'\n]*'|\/\/ .*|[(]\/.*\/g?[)]/g,
      '',
    );
    const open = code.split('\n').filter((line) => line.split('`').length % 2 === 0);
    assert.deepEqual(open, [], name);
  }
});
