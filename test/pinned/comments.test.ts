// Comments follow the rules of CONTRIBUTING.md that a pattern can find: none begins with "Of", "So", "Once:" or "Undefined:", which leave
// out the noun, none says "under way" or "further" for "in progress" and "other", and none adds a condition by "also if". They name files
// by paths that exist.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

const rules: Readonly<Record<string, RegExp>> = {
  'begin with their noun': /^(Of|So|Once:) /,
  'say what is there before they say when it is not': /(?:^|[.;] |@param \w+ )(?:undefined|absent): /i,
  'call it in progress, not under way': /\bunder way\b/,
  'give a second condition a sentence of its own': /, also (?:if|when)\b/,
  'speak of other things, not of further ones': /\bfurther (?!ahead\b|left\b)/i,
};

/** The comments of a file as one line each: `/* … *\/`, or adjacent lines that begin with `//`. */
function commentsOf(text: string): string[] {
  const found = text.matchAll(/^[ \t]*\/\*\*?([\s\S]*?)\*\/|^[ \t]*\/\/.*(?:\n[ \t]*\/\/.*)*/gm);
  return [...found].map(([whole, block]) =>
    (block ?? whole)
      .replace(/^[ \t]*(?:\*|\/\/)/gm, '')
      .replace(/\s+/g, ' ')
      .trim(),
  );
}

const comments = globSync('gateway/**/*.ts', { cwd: root }).flatMap((file) =>
  commentsOf(readFileSync(root + file, 'utf8')).map((comment) => ({ file, comment })),
);

it('the comments are found', () => {
  assert.ok(comments.length > 5000, `${comments.length}`);
});

for (const [rule, pattern] of Object.entries(rules)) {
  it(`comments ${rule}`, () => {
    assert.deepEqual(
      comments.filter(({ comment }) => pattern.test(comment)).map(({ file, comment }) => `${file}: ${comment}`),
      [],
    );
  });
}

it('lines of comments end at column 140', () => {
  const sources = globSync('gateway/**/*.ts', { cwd: root });
  const long = sources.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        line.length > 140 && /^ *(?:\/\/|\*|\/\*)/.test(line) ? [`${file}:${index + 1}`] : [],
      ),
  );
  assert.deepEqual(long, []);
});

it('comments name a file by its path in gateway/, or in the repository, and a file of their own folder by its name', () => {
  const files = new Set(globSync('{gateway,bench,test,tools,deploy,docs}/**/*.*', { cwd: root }));
  const named = comments.flatMap(({ file, comment }) =>
    [...comment.matchAll(/(?<![\w/.<*-])(?:\.{1,2}\/)*(?:[\w-]+\/)*[\w-]+\.(?:ts|lua)\b/g)].map(([name]) => ({
      file,
      name,
    })),
  );
  assert.ok(named.length > 100, `${named.length}`);
  const possible = (file: string, name: string) => [
    `gateway/${name}`,
    ...(name.includes('/') ? [name] : [join(dirname(file), name)]),
  ];
  assert.deepEqual(
    named
      .filter(({ file, name }) => !possible(file, name).some((one) => files.has(one)))
      .map(({ file, name }) => `${file}: ${name}`),
    [],
  );
});
