// The sections of the pages for operators that the console shows: what to do about an alert, and how alerts are set up.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface RunbookSection {
  readonly title: string;
  /** Markdown without the heading. */
  readonly text: string;
}

const PAGES = ['alerts', 'operations'].map((name) => new URL(`../../docs/${name}.md`, import.meta.url));

let pages: Promise<ReadonlyMap<string, RunbookSection>> | undefined;

/**
 * Takes a title, or its anchor as links have it. Returns undefined for an unknown section, and if its file is not installed. Reads the files once.
 *
 * @param directory of the configuration: the page says `config/`, where the shipped one is
 */
export async function runbookSection(title: string, directory: string): Promise<RunbookSection | undefined> {
  pages ??= Promise.all(PAGES.map((page) => readFile(page, 'utf8').catch(() => ''))).then((texts) =>
    sectionsOf(texts.join('\n')),
  );
  const section = (await pages).get(anchorOf(title));
  return (
    section && {
      ...section,
      text: section.text.replace(/`(?:config\/)?(\w+\.yaml)`/g, (_, file) => `\`${join(directory, file)}\``),
    }
  );
}

function sectionsOf(page: string): ReadonlyMap<string, RunbookSection> {
  const sections = page.split(/^#+ /m).slice(1);
  return new Map(
    sections.map((section) => {
      const end = section.indexOf('\n');
      const title = section.slice(0, end).trim();
      return [anchorOf(title), { title, text: section.slice(end + 1).trim() }];
    }),
  );
}

function anchorOf(title: string): string {
  return title.toLowerCase().replaceAll(' ', '-');
}
