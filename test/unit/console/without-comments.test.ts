// Scripts and style sheets are sent without their comments, and otherwise as they are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutComments } from '../../../gateway/console/files.ts';

test('comments on lines of their own are left out', () => {
  const script = '// Head.\n\n/**\n * @param one of\n */\nconst a = 1;\n  /* one line */\n  // more\n  b();\n';
  assert.equal(withoutComments(script), '\nconst a = 1;\n  b();\n');
});

test('what looks like a comment within code stays', () => {
  const lines = [
    "const url = 'https://example.com/*';",
    'const of = /^\\/\\//;',
    'go(); // later',
    'const share = a / b;',
  ];
  assert.equal(withoutComments(`${lines.join('\n')}\n`), `${lines.join('\n')}\n`);
});
