// Each Lua script of the gateway is compared with a real Redis: the uses of stores that test/simulation/redis draws at random reach all of
// them. A new script needs a use there.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { createComparingConnect } from '../simulation/redis/comparing-client.ts';
import { RedisModel } from '../simulation/redis/model.ts';
import { allUses, openStores } from '../simulation/redis/random-stores.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const ROUNDS = 25;

it('the uses that are compared run every script', async () => {
  const run = await scriptsRun();
  const texts = luaTexts();
  assert.ok(texts.length > 70, `${texts.length} texts of Lua`);
  const missing = texts.filter(({ parts }) => !run.some((source) => parts.every((part) => source.includes(part))));
  assert.deepEqual(
    missing.map(({ file, parts }) => `${file}: ${parts.join('…').trim().slice(0, 60)}`),
    [],
  );
});

/** The sources of all scripts that the uses send, with the same draws each time. */
async function scriptsRun(): Promise<readonly string[]> {
  const sources = new Set<string>();
  for (const uses of allUses) {
    const model = new RedisModel({ now: () => Date.now() });
    const run = async (command: readonly string[]) => {
      if (command[0] === 'eval') sources.add(command[1] ?? '');
      return { reply: model.execute(command), difference: undefined };
    };
    const stores = await openStores(createComparingConnect({ run }, () => undefined));
    const drawn = fc.sample(fc.tuple(...uses), { seed: 1, numRuns: ROUNDS });
    for (const [index, use] of drawn.flat().entries())
      await Promise.resolve()
        .then(() => use(stores, index + 1))
        .catch(() => undefined);
  }
  return [...sources];
}

/** Texts in back quotes that call Redis, in the parts between their expressions; and files. */
function luaTexts(): readonly { readonly file: string; readonly parts: readonly string[] }[] {
  const files = globSync('gateway/**/*.lua', { cwd: root }).map((file) => ({ file, parts: [read(file)] }));
  const texts = globSync('gateway/**/*.ts', { cwd: root }).flatMap((file) =>
    [...withoutComments(read(file)).matchAll(/(?:[=(]\s*|=>\s*)`((?:[^`\\]|\\.)*)`/g)].flatMap(([, text = '']) =>
      /\bcall\(\s*'/.test(text) ? [{ file, parts: partsOf(text) }] : [],
    ),
  );
  return [...files, ...texts];
}

const read = (file: string) => readFileSync(root + file, 'utf8');
const withoutComments = (text: string) => text.replace(/^\s*(?:\/\*\*[\s\S]*?\*\/|\/\/.*)$/gm, '');
const partsOf = (text: string) =>
  text
    .replace(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter))
    .split(/\$\{[^}]*\}/)
    .filter((part) => part.trim() !== '');
