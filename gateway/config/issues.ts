// Turns zod's issues with a configuration file into mistakes that an operator can act on.

import type { z } from 'zod';
import { isRecord, objectAt } from '../shared/is-record.ts';
import { closest, type Mistake, suggest } from '../shared/mistakes.ts';
import { entryFor, entryMeant, meantEntry, NO_SECRET_ENTRY } from '../shared/secret-names.ts';
import type { Source } from '../shared/yaml-source.ts';
import { credentialMistake, credentialsInAddress, headersMistake } from './credential-forms.ts';
import { misplacedEntries } from './misplaced-entries.ts';
import { meantInstead } from './nearly-right.ts';
import { SECRET_ENTRY_RULE } from './parts.ts';
import { keysAt } from './schema-places.ts';
import { variableFor } from './settings.ts';
import { remedyElsewhere } from './settings-elsewhere.ts';

/** Checks the shape of one file. Pushes mistakes; returns `undefined` after one. */
export function checkShape<S extends z.ZodType>(
  source: Source,
  schema: S,
  mistakes: Mistake[],
): z.output<S> | undefined {
  if (source.value === undefined) return undefined;
  const result = schema.safeParse(source.value ?? {}, { reportInput: true });
  if (result.success) return result.data;
  const { issues } = result.error;
  const misplaced = misplacedEntries(source, schema);
  const shaped = issues.filter((issue) => !misplaced.some(({ covers }) => covers(issue)));
  const causes = shaped.filter((issue) => !shaped.some((other) => isConsequence(issue, other, schema)));
  const explained = explainedCredentials(source, causes);
  const others = causes.filter((issue) => !explained.has(credentialPlace(issue)?.join('\n') ?? ''));
  mistakes.push(...misplaced.map(({ mistake }) => mistake), ...explained.values());
  mistakes.push(...others.flatMap((issue) => toMistakes(source, schema, issue)));
  return undefined;
}

/** Returns the mistakes of credentials that have the form of another gateway, by their places. Each stands for all issues there. */
function explainedCredentials(source: Source, issues: readonly z.core.$ZodIssue[]): Map<string, Mistake> {
  const places = issues.flatMap((issue) => {
    const place = credentialPlace(issue);
    return place === undefined ? [] : [place];
  });
  return new Map(
    places.flatMap((place) => {
      const mistake = credentialMistake(source, place);
      return mistake === undefined ? [] : [[place.join('\n'), mistake] as const];
    }),
  );
}

function credentialPlace(issue: z.core.$ZodIssue): (string | number)[] | undefined {
  const path = pathIn(issue);
  return path[2] === 'credential' ? path.slice(0, 3) : undefined;
}

/**
 * Whether an issue only follows from a mistake that is reported. After a misspelt key, the right key is missing, or the keys of the block
 * do not fit together. After a wrong indentation, keys are beside the block to which they belong, so that the block is empty or lacks them.
 */
function isConsequence(issue: z.core.$ZodIssue, other: z.core.$ZodIssue, schema: z.ZodType): boolean {
  const isIn = (path: readonly PropertyKey[], holder: readonly PropertyKey[]) => path.join('\n') === holder.join('\n');
  const [holder, name] = [other.path.slice(0, -1), other.path.at(-1)];
  if (isEmptyBlock(other) && !isEmptyBlock(issue))
    return isIn(issue.code === 'unrecognized_keys' ? issue.path : issue.path.slice(0, -1), holder);
  if (isMisplaced(other, schema) && issue.code === 'invalid_key')
    return isIn(issue.path.slice(0, -1), holder) && keysAt(schema, pathIn(issue)).includes(String(issue.path.at(-1)));
  if (isMisplaced(other, schema))
    return issue.input === undefined && issue.path.at(-1) === name && isIn(issue.path.slice(0, -2), holder);
  if (other.code !== 'unrecognized_keys') return false;
  if (issue.code === 'custom') return isIn(issue.path, other.path);
  if (issue.input !== undefined || !isIn(issue.path.slice(0, -1), other.path)) return false;
  const known = keysAt(schema, pathIn(other));
  return other.keys.some((key) => closest(meantBy(key, known), known) === issue.path.at(-1));
}

/** Whether there is nothing where a block belongs. */
function isEmptyBlock(issue: z.core.$ZodIssue): boolean {
  return issue.input === null && ['object', 'record'].includes(String(expectedOf(issue)));
}

/** Whether a key of an entry stands beside the entries. */
function isMisplaced(issue: z.core.$ZodIssue, schema: z.ZodType): boolean {
  const path = pathIn(issue);
  return expectedOf(issue) === 'object' && keysAt(schema, path).includes(String(path.at(-1)));
}

function pathIn({ path }: z.core.$ZodIssue): (string | number)[] {
  return path.filter((part): part is string | number => typeof part !== 'symbol');
}

function toMistakes(source: Source, schema: z.ZodType, issue: z.core.$ZodIssue): Mistake[] {
  const path = pathIn(issue);
  const { input } = issue;
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, path);
    return issue.keys.map((key) => {
      const [block] = path;
      const ofHeaders = path.length === 2 && block === 'upstreams' ? headersMistake(source, [...path, key]) : undefined;
      if (ofHeaders !== undefined) return ofHeaders;
      if (block !== undefined && keysAt(schema, []).includes(key)) {
        const remedy = `Move it to the top level of the file, beside "${block}".`;
        return source.mistakeAtKey([...path, key], `the key "${key}" does not belong here.`, remedy);
      }
      const [, name = '', value] = /^([\w-]+):(.+)$/.exec(key) ?? [];
      if (known.includes(name))
        return source.mistakeAtKey(
          [...path, key],
          'a colon without a space after it is part of a text.',
          `Write ${name}: ${value}, with a space.`,
        );
      const variable = path.length === 0 && known.includes('publicUrl') ? variableFor(key) : undefined;
      if (variable !== undefined) {
        const remedy = `Remove it here, and set the environment variable ${variable}.`;
        return source.mistakeAtKey([key], 'this is no setting of a file.', remedy);
      }
      const meant = meantBy(key, known);
      const isMisspelling = meant !== key || closest(key, known) !== undefined;
      const elsewhere = remedyElsewhere(path, key, isRecord(input) ? input[key] : undefined, isMisspelling);
      if (elsewhere !== undefined)
        return source.mistakeAtKey([...path, key], `the key "${key}" does not belong here.`, elsewhere);
      const remedy = known.length > 0 ? suggest(meant, known) : 'Remove it: nothing can be set here yet.';
      if (meant === 'secret' && meant !== key)
        return source.mistakeAtKey([...path, key], `the key "${key}" is not known here.`, `${remedy} ${inStore(path)}`);
      return source.mistakeAtKey([...path, key], `the key "${key}" is not known here.`, remedy);
    });
  }
  if (isEmptyBlock(issue) && path.length > 0) {
    const remedy = 'Indent what belongs to it deeper than itself, or remove it.';
    return [source.mistakeAtKey(path, `"${path.at(-1)}" has no content.`, remedy)];
  }
  if (isMisplaced(issue, schema)) {
    const [section, key] = path as [string, string];
    const entries = Object.entries(objectAt(source.value, section));
    const above = entries.slice(
      0,
      entries.findIndex(([name]) => name === key),
    );
    const form = `${section}: { ${section === 'cors' ? '<host>' : '<name>'}: { ${key}: … } }`;
    const remedy = above.some(([, entry]) => isRecord(entry))
      ? 'Indent it deeper, so that it belongs to the entry above it.'
      : `Write ${form}.`;
    return [source.mistakeAtKey(path, `the key "${path.at(-1)}" does not belong here.`, remedy)];
  }
  // The unset variable is already reported.
  if (isUnresolved(input)) return [];
  const inAddress = credentialsInAddress(issue.code === 'invalid_key' ? path.at(-1) : input, path);
  if (inAddress !== undefined) return [{ ...source.mistakeAt(path, '', ''), ...inAddress }];
  if (issue.code === 'invalid_key') {
    const rule = issue.issues[0]?.message ?? 'must be another one';
    return [source.mistakeAtKey(path, `"${path.at(-1)}" cannot be a name here.`, `It ${rule}.`)];
  }
  if (input === undefined) {
    const name = String(path.at(-1));
    return [source.mistakeAt(path, `the key "${name}" is missing.`, `Add "${name}: …" here.`)];
  }
  if (issue.code === 'invalid_value')
    return [
      source.mistakeAt(
        path,
        `${shown(source, input)} is not a possible value.`,
        suggest(String(input), issue.values.map(String)),
      ),
    ];
  if (issue.message === SECRET_ENTRY_RULE) {
    const entry = entryMeant(String(input));
    const remedy =
      entry === undefined
        ? `${inStore(path)} A name has lower-case letters, digits and underscores.`
        : meantEntry(entry);
    return [source.mistakeAt(path, NO_SECRET_ENTRY, remedy)];
  }
  const keys = keysAt(schema, path);
  // The text may be the secret itself, so the message does not repeat it.
  if (typeof input === 'string' && [path, ...keys.map((key) => [...path, key])].some((one) => hasSecret(schema, one)))
    return [
      source.mistakeAt(
        path,
        'a text is not possible here.',
        `It must be a block with ${keys.join(', ')}. ${inStore(path)}`,
      ),
    ];
  if (Array.isArray(input) && expectedOf(issue) === 'record') {
    const named = input.map((item) => (isRecord(item) ? (item.name ?? Object.keys(item)[0]) : item));
    const remedy = `Write ${source.masked(named.length > 0 ? `"${named.join(':", "')}:"` : '{}')} in place of the items.`;
    return [source.mistakeAt([...path, 0], 'entries are named by their key, not listed with a dash.', remedy)];
  }
  const rule = ruleOf(issue);
  const isShown = source.masked(String(input)) === String(input);
  const meant = isShown ? meantInstead(schema, path, input, rule) : undefined;
  const remedy = `It ${rule}.${meant === undefined ? '' : ` ${meant}`}`;
  return [source.mistakeAt(path, `${shown(source, input)} is not possible here.`, remedy)];
}

function hasSecret(schema: z.ZodType, path: readonly (string | number)[]): boolean {
  return keysAt(schema, path).includes('secret');
}

/** Returns the key of this block for which other gateways use this name; the name itself if there is no such key. */
function meantBy(key: string, known: readonly string[]): string {
  const here = NAMES_ELSEWHERE[key.replace(/[_-]/g, '').toLowerCase()] ?? [];
  return here.find((one) => known.includes(one)) ?? key;
}

/** The names of settings in other gateways, with their names here. */
const NAMES_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  rate: ['requests'],
  limit: ['requests'],
  per: ['windowSeconds'],
  window: ['windowSeconds'],
  period: ['windowSeconds'],
  interval: ['windowSeconds'],
  url: ['live', 'path'],
  uri: ['live'],
  target: ['live'],
  targets: ['live'],
  backend: ['live'],
  spec: ['contracts'],
  openapi: ['contracts'],
  retries: ['retry'],
  strippath: ['basePath'],
  stripprefix: ['basePath'],
  prefix: ['basePath'],
  path: ['basePath'],
  paths: ['basePath'],
  auth: ['credential'],
  authentication: ['credential'],
  apikey: ['apiKey', 'credential'],
  basic: ['credential'],
  basicauth: ['basic', 'credential'],
  bearer: ['credential'],
  jwt: ['bearer'],
  headers: ['requestHeaders'],
  name: ['header'],
  username: ['user'],
  value: ['secret'],
  token: ['secret', 'bearer', 'credential'],
  password: ['secret'],
};

function inStore(path: readonly (string | number)[]): string {
  const { entry, store } = entryFor(String((path[0] === 'upstreams' ? path[1] : path[2]) ?? path[0]));
  return `${store}, for example, and ${entry} here.`;
}

function isUnresolved(input: unknown): boolean {
  const texts = Array.isArray(input) ? input : [input];
  return texts.some((text) => typeof text === 'string' && /\$\{\w+\}/.test(text));
}

function expectedOf(issue: z.core.$ZodIssue): string | undefined {
  return issue.code === 'invalid_type' ? issue.expected : undefined;
}

/** Returns the rule in the form "must …", which is the schema's message, or a rewording of zod's message. */
function ruleOf(issue: z.core.$ZodIssue): string {
  if (issue.message.startsWith('must ')) return issue.message;
  switch (expectedOf(issue)) {
    case 'object':
    case 'record':
      return 'must be a block of keys and values';
    case 'array':
      return 'must be a list, such as [a, b]';
    case 'boolean':
      return 'must be true or false';
    case 'string':
      return 'must be text';
    default:
      return `must be something else (${issue.message})`;
  }
}

function shown({ masked }: Source, input: unknown): string {
  // JSON.stringify returns null for .inf and .nan.
  const text = masked((typeof input === 'number' ? String(input) : JSON.stringify(input)) ?? 'nothing');
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
