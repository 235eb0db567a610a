// Documents lead to existing things: commands and their options, files, sections; in docs/operations.md metrics and codes too.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { REFUSALS } from '../../gateway/catalogue/errors.ts';
import { knownCommands } from '../../tools/docs/command-list.ts';
import { commandLines, complaintAbout, documents } from '../support/documented-commands.ts';
import { documentedMetrics } from '../support/documented-metrics.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = documents();
const program = await knownCommands();
const operations = pages.get('docs/operations.md') ?? '';

/** As GitHub makes them of headings. */
function anchorsOf(page: string): Set<string> {
  const outside = page.replace(/^```[\s\S]*?^```/gm, '');
  return new Set(
    [...outside.matchAll(/^#+ +(.+)$/gm)].map(([, text = '']) =>
      text
        .trim()
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

describe('the command lines that documents show', () => {
  it('are held against the commands that there are', () => {
    const help = execFileSync(join(root, 'bin/gateway'), ['--help'], { encoding: 'utf8' });
    const shown = [...help.slice(help.indexOf('Commands:')).matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name]) => name);
    assert.deepEqual([...program.commands.map((command) => command.name()), 'help'].sort(), shown.sort());
  });

  it('name commands and options', () => {
    const all = [...pages].flatMap(([page, text]) => commandLines(text).map((words) => ({ page, words })));
    assert.ok(all.length > 80);
    const complaints = all.map(({ page, words }) => ({ page, complaint: complaintAbout(words, program) }));
    assert.deepEqual(
      complaints.filter(({ complaint }) => complaint !== undefined),
      [],
    );
  });

  it('would be refused with a command or an option that there is not', () => {
    assert.match(complaintAbout(['keys', 'burn'], program) ?? '', /no "burn"/);
    assert.match(complaintAbout(['keys', 'revoke', 'key_1', '--force'], program) ?? '', /no option --force/);
    assert.equal(complaintAbout(['keys', 'revoke', 'key_1', '--wait'], program), undefined);
  });
});

describe('a section of the operations page that says what to look at', () => {
  it('consists of steps alone, which the console numbers', () => {
    const sections = operations.split(/^#+ /m).filter((text) => /^- Look: /m.test(text));
    assert.ok(sections.length > 10);
    const others = sections.flatMap((text) => text.match(/^- (?!(?:Look|Look closer|Do): ).{0,40}/gm) ?? []);
    assert.deepEqual(others, []);
  });
});

describe('links in documents', () => {
  const links = [...pages].flatMap(([page, text]) =>
    [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({
      page,
      target,
    })),
  );
  const inside = links.filter(({ target }) => !/^(https?:|\/|mailto:)/.test(target));

  it('lead to files and sections that there are', () => {
    assert.ok(inside.length > 80);
    const dead = inside.filter(({ page, target }) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : normalize(join(dirname(page), path));
      if (!existsSync(join(root, file))) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(join(root, file), 'utf8')).has(anchor);
    });
    assert.deepEqual(dead, []);
  });

  it('begin with how to run and to test it, as CI does', () => {
    const top = readFileSync('README.md', 'utf8').split('\n').slice(0, 20);
    for (const command of ['npm start', 'npm test'])
      assert.ok(
        top.some((line) => line.startsWith(`npm ci && ${command} `)),
        command,
      );
    assert.match(readFileSync('.ci/run', 'utf8'), /^npm test$/m);
  });

  it('leave out no document: README.md leads to every page of docs', () => {
    const linked = new Set(links.filter(({ page }) => page === 'README.md').map(({ target }) => target));
    const missing = [...pages.keys()].filter((page) => /^docs\/[^/]+\.md$/.test(page) && !linked.has(page));
    assert.deepEqual(missing, []);
  });
});

describe('docs/operations.md', () => {
  const words = [...operations.matchAll(/`([^`\n]+)`/g)].map(([, word = '']) => word);

  it('names metrics that there are', () => {
    const metrics = documentedMetrics();
    const labels = new Set([...metrics.values()].flatMap((metric) => metric.labels));
    const named = words
      .map((word) => word.replace(/\{.*$/, ''))
      .filter((word) => /^(gateway|http|nodejs|process)_[a-z_0-9]+$/.test(word));
    assert.ok(named.length > 20);
    const unknown = named.filter(
      (name) =>
        !metrics.has(name) &&
        !metrics.has(name.replace(/_(count|bucket|sum)$/, '')) &&
        !(name in REFUSALS) &&
        !labels.has(name),
    );
    assert.deepEqual(unknown, []);
  });

  it('names codes that there are', () => {
    const codes = words.filter((word) => /^(api_key|upstream|auth|internal)_[a-z_]+$|^gateway_overloaded$/.test(word));
    const reasons = new Set(['upstream_queue', 'upstream_wait']);
    assert.deepEqual(
      codes.filter((code) => !(code in REFUSALS) && !reasons.has(code)),
      [],
    );
    assert.ok(codes.length > 5);
  });

  it('names files that there are', () => {
    const files = words.flatMap((word) => word.match(/^deploy\/[\w./-]+/) ?? []);
    assert.ok(files.length >= 5);
    for (const file of files) assert.ok(existsSync(join(root, file)), file);
  });
});
