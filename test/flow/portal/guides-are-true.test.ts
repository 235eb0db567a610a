// Every example of the guides runs as printed against a gateway; the address and the key come from the environment, as a reader's do. The
// answer has to equal the printed one, except for values that differ from time to time.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { BUILT_IN_GUIDES } from '../../../gateway/portal/guides.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { LIMIT_RUNS } from '../../unit/limits/scenarios.ts';

const directory = new URL('../../../docs/guides/', import.meta.url);
const run = promisify(execFile);

interface Block {
  readonly language: string;
  readonly text: string;
  /** The block that follows it, if it shows an answer. */
  readonly shown: Omit<Block, 'shown'> | undefined;
}

/** Those that a gateway without sessions has: the examples of the other one are for scripts of pages. */
const shown = BUILT_IN_GUIDES.filter((name) => name !== 'browser-applications');

describe('the guides', () => {
  let gateway: TestGateway;
  let environment: Record<string, string>;
  const here = new Set<string>();
  let directoryOfGo: string;
  before(async () => {
    gateway = await startGateway({ gateway: { portal: { sampleOperation: 'listCustomers' } } });
    const { key } = await gateway.issueKey({ mode: 'test' });
    // Go compiles its standard library first, which takes 46 s of CPU where its cache is empty.
    const goToo = LIMIT_RUNS > 1 ? [['go', 'go', 'version'] as const] : [];
    for (const [language, program, argument] of [['python', 'python3', '--version'] as const, ...goToo])
      await run(program, [argument]).then(
        () => here.add(language),
        () => {},
      );
    directoryOfGo = mkdtempSync(join(tmpdir(), 'guides-'));
    environment = { PATH: process.env.PATH ?? '', HOME: homedir(), API_URL: gateway.url, API_KEY: key };
    for (const name of ['Ada', 'Grace', 'Katherine']) {
      await fetch(`${gateway.url}/v1/customers`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      });
    }
  });
  after(async () => {
    await gateway?.stop();
    rmSync(directoryOfGo, { recursive: true, force: true });
  });

  const textOf = async (name: string) => (await fetch(`${gateway.url}/docs/guides/${name}.md`)).text();
  const isSetup = ({ text }: Block) => /^export /.test(text);
  const examplesIn = (text: string) =>
    blocksOf(text).filter((block) => /^(sh|js|python|go)$/.test(block.language) && !isSetup(block));

  it('are those that are listed', () => {
    assert.deepEqual(readdirSync(directory).sort(), BUILT_IN_GUIDES.map((name) => `${name}.md`).sort());
  });

  for (const name of shown) {
    it(`${name} has a title, nothing that is not filled in, and true examples in curl and JavaScript`, async () => {
      const text = await textOf(name);
      assert.match(text, /^# [A-Z]/);
      assert.doesNotMatch(text, /\{\{|undefined|listBookings/);
      const blocks = examplesIn(text);
      const languages = new Set(blocks.map(({ language }) => language));
      for (const one of ['js', 'sh']) assert.ok(languages.has(one), one);
      for (const [index, block] of blocks.entries()) await assertTrue(block, `${name}, example ${index + 1}`);
    });
  }

  for (const name of shown) {
    it(`${name} says how to set the address and the key before the first example that reads them`, async () => {
      const text = await textOf(name);
      const { servers } = (await (await fetch(`${gateway.url}/openapi/v1.json`)).json()) as {
        servers: { url: string }[];
      };
      const setup = text.indexOf(`export API_URL=${servers[0]?.url}\nexport API_KEY=YOUR_API_KEY\n`);
      assert.ok(setup > 0, text.slice(0, 600));
      const firstUse = text.search(/\$API_|env\.API_/);
      assert.ok(setup < firstUse && text.match(/export API_URL/g)?.length === 1);
      const page = await (await fetch(`${gateway.url}/docs/guides/${name}`)).text();
      assert.match(page, /export<\/span> API_KEY=<span class="key">YOUR_API_KEY<\/span>/);
    });
  }

  async function assertTrue({ language, text, shown }: Block, place: string): Promise<void> {
    // Generated clients are tried by test/services.
    if (text.includes('openapi_client') || (/^(python|go)$/.test(language) && !here.has(language))) return;
    const file = join(directoryOfGo, 'main.go');
    if (language === 'go') writeFileSync(file, text);
    const [program, ...args] = {
      sh: ['bash', '-euo', 'pipefail', '-c', text],
      js: [process.execPath, '--input-type=module', '--eval', text],
      python: ['python3', '-c', text],
      go: ['go', 'run', file],
    }[language] as string[];
    const { stdout, stderr } = await run(program as string, args, { env: environment });
    assert.ok(stdout.length > 0, place);
    if (language === 'js') assert.equal(stderr, '', place);
    if (shown?.language === 'json' && language === 'sh') assertShows(JSON.parse(shown.text), JSON.parse(stdout), place);
    if (shown?.language === 'http') assertHeaders(shown.text, stdout);
    if (shown === undefined && !/mistyped/.test(text)) assert.doesNotMatch(stdout, /"error"/, place);
  }

  it('show the languages of one example as tabs, and numbers that become those of the reader’s tier', async () => {
    const html = await (await fetch(`${gateway.url}/docs/guides/rate-limits`)).text();
    for (const label of ['curl', 'JavaScript', 'Python'])
      assert.match(html, new RegExp(`<label for="language-1-\\w+">${label}</label>`));
    assert.match(html, /q=<span class="my-limit">\d+<\/span>;w=60/);
    assert.match(html, /r=<span class="my-limit" data-less="1">\d+<\/span>/);
    for (const text of [
      html,
      await textOf('rate-limits'),
      await (await fetch(`${gateway.url}/docs/search.json`)).text(),
    ])
      assert.doesNotMatch(text, /[\uE001\uE002]/);
  });

  it('lead from one to the next and back', async () => {
    const seen: string[] = [];
    const before: (string | undefined)[] = [];
    for (let name: string | undefined = 'quickstart'; name !== undefined; ) {
      seen.push(name);
      const html: string = await (await fetch(`${gateway.url}/docs/guides/${name}`)).text();
      const linkOf = (label: string) =>
        new RegExp(`href="/docs/guides/([\\w-]+)"><span>${label}</span>`).exec(html)?.[1];
      before.push(linkOf('Previous'));
      name = linkOf('Next');
    }
    assert.deepEqual(seen, shown);
    assert.deepEqual(before, [undefined, ...shown.slice(0, -1)]);
  });

  it('show the same customer twice for one key', async () => {
    const [first] = examplesIn(await textOf('idempotency'));
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', first?.text ?? ''], { env: environment });
    const ids = [...stdout.matchAll(/"id":"(cust?_[0-9A-Za-z]{16})"/g)].map(([, id]) => id);
    assert.equal(ids.length, 2);
    assert.equal(ids[0], ids[1]);
  });
});

function blocksOf(markdown: string): Block[] {
  const found = [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] as string,
    text: match[2] as string,
    end: match.index + match[0].length,
    start: match.index,
  }));
  return found.map(({ language, text, end }, index) => {
    // The same example in other languages stands between it and its answer.
    const next = found.slice(index + 1).find((one) => !/^(sh|js|python|go)$/.test(one.language));
    // Beside an answer that is shown stands no heading of another subject.
    const follows = next && !/^#/m.test(markdown.slice(end, next.start));
    return { language, text, shown: follows ? { language: next.language, text: next.text } : undefined };
  });
}

/** Values that differ each time. */
const changing = /^(request_id|doc_url|cursor)$/;

function assertShows(shown: unknown, real: unknown, place: string): void {
  assert.equal(Array.isArray(real), Array.isArray(shown), place);
  assert.equal(typeof real, typeof shown, place);
  // The guides show some members of a record, with values of another one.
  if (place.includes('/data/')) {
    for (const name of Object.keys(Object(shown)))
      if (typeof shown === 'object') assert.ok(Object.hasOwn(Object(real), name), name);
    return;
  }
  if (Array.isArray(shown)) {
    for (const [index, item] of shown.entries()) assertShows(item, (real as unknown[])[index], `${place}/${index}`);
  } else if (typeof shown === 'object' && shown !== null) {
    assert.deepEqual(Object.keys(real as object).sort(), Object.keys(shown).sort(), place);
    for (const [name, value] of Object.entries(shown)) {
      if (changing.test(name)) assert.equal(typeof (real as Record<string, unknown>)[name], 'string', name);
      else assertShows(value, (real as Record<string, unknown>)[name], `${place}/${name}`);
    }
  } else assert.equal(real, shown, place);
}

/** Every line that is shown is there; numbers differ. */
function assertHeaders(shown: string, real: string): void {
  for (const line of shown.trim().split('\n')) {
    const form = line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\d+/g, '\\d+');
    // Programs print names in small letters, curl as they were sent.
    assert.match(real, new RegExp(`^${form}\\r?$`, 'mi'));
  }
}
