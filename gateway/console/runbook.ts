// The sections of docs/operations.md that say what to do about an alert, for the page to show.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface RunbookSection {
  readonly title: string;
  /** Markdown without the heading. */
  readonly text: string;
}

const PAGE = new URL('../../docs/operations.md', import.meta.url);

let pages: Promise<ReadonlyMap<string, RunbookSection>> | undefined;

/**
 * Takes a title in any case, as links do. Returns undefined for an unknown section, and if the file is not installed. Reads the file once.
 *
 * @param directory of the configuration: the page says `config/`, where the shipped one is
 */
export async function runbookSection(title: string, directory: string): Promise<RunbookSection | undefined> {
  pages ??= readFile(PAGE, 'utf8').then(sectionsOf, () => new Map());
  const section = (await pages).get(title.toLowerCase());
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
      return [title.toLowerCase(), { title, text: section.slice(end + 1).trim() }];
    }),
  );
}
