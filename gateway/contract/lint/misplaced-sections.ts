// Finds the sections of a document that stand in the wrong block, or under a wrong name. Every reference into such a section dangles, and
// every operation in it is missing, so the document is not read further.

import type { Source } from '@redocly/openapi-core';
import { shownPath } from '../../shared/file-text.ts';
import { closest, type Mistake } from '../../shared/mistakes.ts';
import { wordSet } from '../../shared/text.ts';
import { positionsIn } from '../../shared/yaml-source.ts';
import { isRecord, type JsonObject, objectAt, pathOf, valueAt } from '../pointer.ts';

/** A mistake at a key of the document. */
interface MisplacedSection extends Pick<Mistake, 'reason' | 'remedy'> {
  readonly path: readonly string[];
}

const AT_THE_TOP = wordSet('paths components servers tags security info definitions securityDefinitions');

/** Sections whose members are no names by the author, except for paths, which begin with a slash. */
const HOLDERS = wordSet('info components paths servers tags externalDocs');

const OF_COMPONENTS = wordSet(
  'schemas responses parameters examples requestBodies headers securitySchemes links callbacks pathItems mediaTypes',
);

/** Returns a mistake at the key of each misplaced section. */
export function misplacedSections(root: JsonObject, { absoluteRef: file, body }: Source): Mistake[] {
  const found = sectionsTooDeep(root);
  const sections = found.length > 0 ? found : sectionsReferred(root, body);
  return sections.map(({ path, ...mistake }) => ({
    file: shownPath(file),
    ...positionsIn(file, [{ path, isKey: true }])[0],
    place: path.join('.'),
    ...mistake,
  }));
}

/** Returns the sections of the document that stand in another one. */
function sectionsTooDeep(root: JsonObject): MisplacedSection[] {
  const tooDeep = Object.keys(root)
    .filter((holder) => HOLDERS.has(holder))
    .flatMap((holder) => blocksIn(root, holder))
    .flatMap((path) => Object.keys(objectOf(root, path)).map((name) => [...path, name]));
  return tooDeep
    .filter((path) => AT_THE_TOP.has(String(path.at(-1))) && !(String(path.at(-1)) in root))
    .map((path) => ({
      path,
      reason: `${path.at(-1)} belongs at the top level, not below ${path[0]}.`,
      remedy: 'Do not indent it.',
    }));
}

/** Returns the sections of components to which references lead, and which have another place or name. */
function sectionsReferred(root: JsonObject, text: string): MisplacedSection[] {
  const referred = [...text.matchAll(/\$ref["']?\s*:\s*["']#(\/components\/(\w+)\/[^"'\s]+)["']/g)];
  const written = 'components' in root ? undefined : closest('components', Object.keys(root));
  if (written !== undefined && referred.length > 0) return [misspelt([written], 'components')];
  const bySection = Map.groupBy(referred, ([, , section]) => String(section));
  return [...bySection].flatMap(([section, references]) => {
    if (!OF_COMPONENTS.has(section) || section in objectAt(root, 'components')) return [];
    const names = references.map(([, pointer]) => String(pathOf(String(pointer))[2]));
    return sectionWith(names, section, root) ?? [];
  });
}

function misspelt(path: readonly string[], meant: string): MisplacedSection {
  const reason = `there is no section "${path.at(-1)}", so references to "${meant}" lead nowhere.`;
  return { path, reason, remedy: `Did you mean "${meant}"?` };
}

/** Returns the paths of the blocks of a section: its own, or those of its items. */
function blocksIn(root: JsonObject, holder: string): string[][] {
  const value = root[holder];
  return Array.isArray(value) ? value.map((_, index) => [holder, String(index)]) : [[holder]];
}

function objectOf(root: JsonObject, path: readonly string[]): JsonObject {
  const value = valueAt(root, path);
  return isRecord(value) ? value : {};
}

/** Returns the section with these names that components lack; undefined if it is nowhere. */
function sectionWith(names: readonly string[], section: string, root: JsonObject): MisplacedSection | undefined {
  const has = (held: unknown) => isRecord(held) && names.some((name) => name in held);
  const reason = `references to #/components/${section} lead nowhere, because ${section} stands`;
  if (has(root[section]))
    return { path: [section], reason: `${reason} beside components.`, remedy: 'Indent it below "components".' };
  const components = objectAt(root, 'components');
  const holder = Object.keys(components).find((other) => has(objectAt(components[other], section)));
  if (holder !== undefined)
    return {
      path: ['components', holder, section],
      reason: `${reason} in ${holder}.`,
      remedy: `Indent it as "${holder}".`,
    };
  const unknown = Object.keys(components).filter((other) => !OF_COMPONENTS.has(other) && !other.startsWith('x-'));
  const written = closest(section, unknown) ?? unknown.find((other) => has(components[other]));
  return written === undefined ? undefined : misspelt(['components', written], section);
}
