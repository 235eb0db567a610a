// Reads the files that `portal` in gateway.yaml names: the logo and the guides. Mistakes have file and line.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { shownPath, textOf } from '../../shared/file-text.ts';
import type { GuideSource } from '../../shared/guide-source.ts';
import { type Mistake, suggest } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';
import type { PortalSection } from './portal.ts';
import { day } from './versions.ts';

export interface PortalFiles {
  readonly logo: { readonly type: string; readonly body: Buffer } | undefined;
  readonly guides: readonly GuideSource[];
  /** Absolute paths of everything that was read. */
  readonly files: readonly string[];
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
};
const LOGO_BYTES_MAX = 200_000;
const GUIDE_BYTES_MAX = 500_000;
const ORDER_LAST = 1000;

interface PortalFilesOptions {
  readonly portal: PortalSection;
  /** The directory of the configuration. */
  readonly directory: string;
  readonly source: Source;
  /** The names of the guides that the gateway brings. */
  readonly builtIn: readonly string[];
}

/** Reads the files of the portal. Pushes mistakes, and leaves out files with mistakes. */
export function readPortalFiles(options: PortalFilesOptions, mistakes: Mistake[]): PortalFiles {
  const { portal, source, builtIn } = options;
  const logo = readLogo(options, mistakes);
  const guides = readGuides(options, mistakes);
  const chosen = Array.isArray(portal.builtInGuides) ? portal.builtInGuides : [];
  for (const [index, name] of chosen.entries()) {
    if (builtIn.includes(name)) continue;
    const reason = `the gateway brings no guide "${name}".`;
    mistakes.push(source.mistakeAt(['portal', 'builtInGuides', index], reason, suggest(name, builtIn)));
  }
  return {
    logo: logo?.logo,
    guides: guides.map(({ guide }) => guide),
    files: [...(logo?.files ?? []), ...guides.map(({ file }) => file)],
  };
}

function readLogo({ portal, directory, source }: PortalFilesOptions, mistakes: Mistake[]) {
  if (portal.logo === undefined) return undefined;
  const file = join(directory, portal.logo);
  try {
    const body = readFileSync(file);
    if (body.length <= LOGO_BYTES_MAX) return { logo: { type: MEDIA_TYPES[extname(file)] ?? '', body }, files: [file] };
    const reason = `the logo has ${body.length} bytes; every page loads it.`;
    mistakes.push(source.mistakeAt(['portal', 'logo'], reason, `Use a file of at most ${LOGO_BYTES_MAX} bytes.`));
  } catch (error) {
    const reason = `the file cannot be read (${(error as NodeJS.ErrnoException).code}).`;
    mistakes.push(source.mistakeAt(['portal', 'logo'], reason, 'Create it, or correct the path.'));
  }
  return undefined;
}

interface ReadGuide {
  readonly guide: GuideSource;
  readonly file: string;
}

function readGuides(options: PortalFilesOptions, mistakes: Mistake[]): ReadGuide[] {
  const { portal, directory, source } = options;
  if (portal.guides === undefined) return [];
  const folder = join(directory, portal.guides);
  let names: string[];
  try {
    names = readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .sort();
  } catch (error) {
    const reason = `the directory cannot be read (${(error as NodeJS.ErrnoException).code}).`;
    mistakes.push(source.mistakeAt(['portal', 'guides'], reason, 'Create it, or correct the path.'));
    return [];
  }
  if (names.length === 0) {
    const remedy = 'Add a guide such as welcome.md, or remove the key.';
    mistakes.push(source.mistakeAt(['portal', 'guides'], 'the directory has no .md files.', remedy));
  }
  const known = [...options.builtIn, ...names.map((name) => basename(name, '.md'))];
  return names.flatMap((name) => readGuide(join(folder, name), known, mistakes));
}

function readGuide(file: string, known: readonly string[], mistakes: Mistake[]): ReadGuide[] {
  const shown = shownPath(file);
  const name = basename(file, '.md');
  const before = mistakes.length;
  const complain = (line: number | undefined, reason: string, remedy: string) =>
    mistakes.push({ file: shown, line, reason, remedy });
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name)) {
    complain(undefined, 'the name of the file becomes an address.', 'Use lower-case letters, digits and hyphens.');
  }
  const text = textOf(file);
  if (typeof text !== 'string') {
    mistakes.push({ file: shown, ...text });
    return [];
  }
  if (text.length > GUIDE_BYTES_MAX) complain(undefined, `the guide has ${text.length} characters.`, 'Split it.');
  const { members, unreadable, body, bodyLine } = readFrontMatter(text);
  for (const line of unreadable) complain(line, 'this is not of the form name: value.', 'Correct or remove the line.');
  checkMembers(members, complain);
  const lines = body.split('\n');
  const [, title = ''] = /^# +(.+?)\s*$/.exec(lines.find((line) => line.trim() !== '') ?? '') ?? [];
  if (title === '') complain(bodyLine, 'the guide has no title.', 'Begin it with a line such as "# Getting started".');
  checkLinks(lines, bodyLine, known, complain);
  if (mistakes.length > before) return [];
  const updated = members.get('updated')?.value;
  const guide = {
    name,
    title: title.replaceAll('`', ''),
    summary: members.get('summary')?.value ?? '',
    order: Number(members.get('order')?.value ?? ORDER_LAST),
    markdown: body,
    updatedMs: updated === undefined ? statSync(file).mtimeMs : Date.parse(updated),
  };
  return [{ guide, file }];
}

type Complain = (line: number | undefined, reason: string, remedy: string) => void;

const MEMBER_NAMES = ['summary', 'order', 'updated'];

function checkMembers(members: WithFrontMatter['members'], complain: Complain): void {
  for (const [name, { value, line }] of members) {
    if (!MEMBER_NAMES.includes(name)) complain(line, `a guide has no "${name}".`, suggest(name, MEMBER_NAMES));
    if (name === 'order' && !/^\d{1,4}$/.test(value))
      complain(line, 'order must be a whole number.', 'Write 1 for the first guide.');
    if (name === 'updated' && !day.safeParse(value).success)
      complain(
        line,
        'updated must be a day.',
        'Write it as 2027-01-15, or remove the line: then the date of the file is shown.',
      );
    if (name === 'summary' && value.length > 200)
      complain(line, 'the summary is longer than 200 characters.', 'Shorten it.');
  }
}

/** Checks that links to other guides exist, such as `errors.md` or `/docs/guides/errors`. */
function checkLinks(lines: readonly string[], first: number, known: readonly string[], complain: Complain): void {
  for (const [index, line] of lines.entries()) {
    for (const [, own, absolute] of line.matchAll(
      /\]\((?:\.\/)?(?:([\w-]+)\.md|\/docs\/guides\/([\w-]+))(?:#[^)]*)?\)/g,
    )) {
      const name = own ?? absolute ?? '';
      if (!known.includes(name)) complain(first + index, `there is no guide "${name}".`, suggest(name, known));
    }
  }
}

interface WithFrontMatter {
  /** The members by name. Line numbers begin with 1. */
  readonly members: ReadonlyMap<string, { readonly value: string; readonly line: number }>;
  /** Lines that are not a member. */
  readonly unreadable: readonly number[];
  /** The text behind the head. */
  readonly body: string;
  /** The number of the first line of the body, 1-based. */
  readonly bodyLine: number;
}

function readFrontMatter(text: string): WithFrontMatter {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const end = lines[0] === '---' ? lines.indexOf('---', 1) : -1;
  const members = new Map<string, { value: string; line: number }>();
  const unreadable: number[] = [];
  for (let index = 1; index < end; index += 1) {
    const [, name, value = ''] = /^([a-z][A-Za-z]*):\s*(.*?)\s*$/.exec(lines[index] as string) ?? [];
    if (name !== undefined) members.set(name, { value: value.replace(/^(["'])(.*)\1$/, '$2'), line: index + 1 });
    else if (lines[index] !== '') unreadable.push(index + 1);
  }
  let first = end + 1;
  while (first < lines.length && lines[first]?.trim() === '') first += 1;
  return { members, unreadable, body: lines.slice(first).join('\n'), bodyLine: first + 1 };
}
