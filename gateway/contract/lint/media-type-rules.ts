// The lint rules about the media types of bodies. A body of a type that is misspelt would not be checked.

import { isRef, type Oas3Rule } from '@redocly/openapi-core';
import { isRecord } from '../../shared/is-record.ts';
import { closest } from '../../shared/mistakes.ts';
import { wordSet } from '../../shared/text.ts';
import { essenceOf, isJson, MULTIPART, URLENCODED } from '../media-types.ts';

const MEDIA_TYPES = [
  ...wordSet(
    'application/json application/xml application/pdf application/octet-stream application/problem+json text/plain text/html',
    'application/x-www-form-urlencoded multipart/form-data text/csv text/event-stream',
  ),
];
/** The types in front of the slash (IANA). Others exist, such as `chemical`, and may be right. */
const TOP_LEVEL_TYPE = /^(application|audio|font|haptics|image|message|model|multipart|text|video|x-.*|\*)\//;

/** Subtypes that exist, and differ from `json` in a letter. */
const NEARLY_JSON = wordSet('bson cson hjson ijson json5 jsonc jsonl jsonp jsonx');

/** Returns the media type whose bodies are checked, and of which this is a misspelling; undefined for any other type. */
function misspeltType(essence: string): string | undefined {
  const [, before = '', subtype = ''] = /^(.*[/+])([^/+]+)$/.exec(essence) ?? [];
  if (subtype !== 'json' && !NEARLY_JSON.has(subtype) && closest(subtype, ['json'], 1)) return `${before}json`;
  const checked = [URLENCODED, MULTIPART];
  return checked.includes(essence) ? undefined : closest(essence, checked, 2);
}

/** No body has a media type that is misspelt, or has no slash. */
export const contentHasMediaTypes: Oas3Rule = () => ({
  MediaTypesMap(map, { report, location }) {
    // Beside an empty media type, its content is indented too little, which the linter reports.
    if (Object.values(map).includes(null as never)) return;
    for (const [name, media] of Object.entries(map)) {
      const essence = essenceOf(name);
      const at = location.child([name]).key();
      const isType = /^[^/\s]+\/\S/.test(essence);
      const near = MEDIA_TYPES.find((type) => type.endsWith(`/${essence}`)) ?? closest(essence, MEDIA_TYPES, 2);
      const meant = isType && isRecord(media) && 'schema' in media ? misspeltType(essence) : undefined;
      if (name.startsWith('x-')) continue;
      if (!isType || (near !== undefined && !TOP_LEVEL_TYPE.test(essence))) {
        const message = `${JSON.stringify(name)} is not a media type, so no body has it`;
        report({ message, suggest: near === undefined ? [] : [near], location: at });
      } else if (meant !== undefined) {
        const message = `${JSON.stringify(name)} is not a known media type, so nothing is checked against its schema`;
        report({ message, suggest: [meant], location: at });
      }
    }
  },
});

/** A body of JSON without a schema is probably misindented or forgotten. */
export const jsonHasASchema: Oas3Rule = () => ({
  MediaTypesMap(map, { report, location }) {
    for (const [type, media] of Object.entries(map)) {
      if (!isJson(essenceOf(type)) || typeof media !== 'object' || media === null || isRef(media)) continue;
      if ('schema' in media || 'itemSchema' in media) continue;
      report({ message: 'the body has no schema, so any JSON passes', location: location.child([type]).key() });
    }
  },
});
