// Finds entries that stand at the top level of a file, because their indentation or the line above them is lost.

import type { z } from 'zod';
import { isRecord, objectAt } from '../shared/is-record.ts';
import type { Mistake } from '../shared/mistakes.ts';
import type { Source } from '../shared/yaml-source.ts';
import { keysAt } from './schema-places.ts';

const LIST = new Intl.ListFormat('en-GB');

interface Misplaced {
  readonly mistake: Mistake;
  /** Whether an issue is about these entries, or about their section, which lacks them. */
  covers(issue: z.core.$ZodIssue): boolean;
}

/** Returns one mistake for the misplaced entries of each section. */
export function misplacedEntries(source: Source, schema: z.ZodType): Misplaced[] {
  const root = isRecord(source.value) ? source.value : {};
  const known = keysAt(schema, []);
  const unknown = Object.keys(root).filter((key) => !known.includes(key));
  const settings =
    unknown.length > 1 ? known.find((section) => !(section in root) && fits(unknown, section)) : undefined;
  if (settings !== undefined)
    return [misplaced(unknown, settings, `${settings}:, and below it a line with the name of the entry,`)];
  const bySection = Map.groupBy(unknown, sectionOf);
  const entries = [...bySection].flatMap(([section, names]) => {
    if (section === undefined) return [];
    return [misplaced(names, section, section in root ? undefined : `${section}:`)];
  });
  return [...entries, ...known.flatMap(misplacedSettings)];

  /** Returns the blocks of settings that stand beside the entries of a section. */
  function misplacedSettings(section: string): Misplaced[] {
    const names = Object.entries(objectAt(root, section));
    return names.flatMap(([name, block], index) => {
      const known = keysAt(schema, [section, 'entry', name]);
      const isSetting = isRecord(block) && Object.keys(block).length > 0 && known.length > 0;
      if (!isSetting || !Object.keys(block).every((key) => known.includes(key))) return [];
      const entry = names[index - 1]?.[0];
      const remedy = `Indent it deeper, so that it belongs to ${entry === undefined ? 'an entry' : `"${entry}"`}.`;
      const path = [section, name];
      const mistake = source.mistakeAtKey(path, `the key "${name}" does not belong here.`, remedy);
      return [{ mistake, covers: (issue) => path.every((step, at) => issue.path[at] === step) }];
    });
  }

  /** Whether all keys are settings of an entry of the section. */
  function fits(keys: readonly string[], section: string): boolean {
    const ofEntry = keysAt(schema, [section, 'entry']);
    return ofEntry.length > 0 && keys.length > 0 && keys.every((key) => ofEntry.includes(key));
  }

  /** Returns the nearest section above an entry that has such entries, otherwise the missing section that has them. */
  function sectionOf(name: string): string | undefined {
    const entry = root[name];
    if (!isRecord(entry)) return undefined;
    const names = Object.keys(root);
    const above = names.slice(0, names.indexOf(name)).reverse();
    return [...above, ...known.filter((section) => !(section in root))].find((section) =>
      fits(Object.keys(entry), section),
    );
  }

  function misplaced(names: readonly string[], section: string, missing: string | undefined): Misplaced {
    const [them, belong] = names.length === 1 ? ['it', 'belongs'] : ['them', 'belong'];
    const shown = LIST.format(names.map((name) => `"${name}"`));
    const remedy =
      missing === undefined
        ? `Indent ${them} deeper than "${section}".`
        : `Write ${missing} above ${them}, and indent ${them} deeper.`;
    return {
      mistake: source.mistakeAtKey([names[0] as string], `${shown} ${belong} below "${section}".`, remedy),
      covers: ({ code, path, ...issue }) => {
        if (code === 'unrecognized_keys')
          return path.length === 0 && 'keys' in issue && issue.keys.every((key) => names.includes(key));
        return path.length === 1 && path[0] === section && issue.input == null;
      },
    };
  }
}
