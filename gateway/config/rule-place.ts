// Finds the file and the line of a rule of limits.yaml. Pure.

import { shownPath } from '../shared/file-text.ts';
import type { Source } from '../shared/yaml-source.ts';

/** Returns the place of a rule by its path, such as `tiers.standard`; undefined for a rule that no file contains, such as a default. */
export function placeOfRule(
  { limits }: { readonly limits: Pick<Source, 'mistakeAtKey'> },
  rule: string,
): string | undefined {
  // Only the first dot is a separator, because ids may contain dots.
  const [, section = '', name = ''] = /^([^.]+)\.(.*)$/.exec(rule) ?? [];
  const { file, line } = limits.mistakeAtKey([section, name], '', '');
  return line === undefined ? undefined : `${shownPath(file)}:${line}`;
}
