// The command lines that documents show.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Returns README.md and all pages of docs/, by path. */
export function documents(): ReadonlyMap<string, string> {
  const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  const pages = ['README.md', ...inDocs.filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`)];
  return new Map(pages.sort().map((page) => [page, readFileSync(join(root, page), 'utf8')]));
}

/** Returns the words after `bin/gateway` in a page; `a·b` stands for two commands. */
export function commandLines(page: string): string[][] {
  const found = [...page.matchAll(/bin\/gateway +([^`\n|>&#)]+)/g)];
  return found.flatMap(([, text = '']) => {
    const words = text.trim().split(/ +/);
    const at = words.findIndex((word) => word.includes('·'));
    if (at === -1) return [words];
    return (words[at] as string).split('·').map((one) => [...words.slice(0, at), one]);
  });
}

/** Returns the words without the options of the program before the command, and their values. */
function behindServerOptions(words: readonly string[], program: Command): string[] {
  const rest = [...words];
  for (;;) {
    const option = program.options.find(({ long }) => long === rest[0]);
    if (option === undefined) return rest;
    rest.splice(0, option.required ? 2 : 1);
  }
}

/** Returns the fault of a command line; undefined if there is such a command with these options. */
export function complaintAbout(words: readonly string[], program: Command): string | undefined {
  let command = program;
  const rest = behindServerOptions(words, program);
  while (command.commands.length > 0 && rest[0] !== undefined && !rest[0].startsWith('-')) {
    const next = command.commands.find((one) => one.name() === rest[0]);
    if (next === undefined) return `there is no "${rest[0]}" in "${words.join(' ')}"`;
    command = next;
    rest.shift();
  }
  const options = rest.filter((word) => /^--[a-z]/.test(word)).map((word) => word.replace(/[=,.'"].*$/, ''));
  const unknown = options.find((name) => name !== '--help' && !command.options.some(({ long }) => long === name));
  return unknown === undefined ? undefined : `"${words.join(' ')}" has no option ${unknown}`;
}
