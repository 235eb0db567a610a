// Finds rules of a contract that the gateway does not enforce: bodies that it does not read, unknown formats, patterns that it checks in
// part, and extensions. `check` lists them, because the service has to enforce them.

import { wordSet } from '../../shared/text.ts';
import { isJson, MULTIPART, mediaTypesOf, URLENCODED } from '../media-types.ts';
import type { ContractOperation } from '../operations/operations.ts';
import {
  isRecord,
  type JsonObject,
  type LocatedValue,
  member,
  memberNames,
  pathOf,
  uriDecoded,
  valueAt,
} from '../pointer.ts';
import { formatCheck } from '../scalars/formats.ts';
import { toPattern } from '../scalars/patterns.ts';

type UnenforcedKind = 'request bodies' | 'answers' | 'formats' | 'patterns' | 'extensions';

/** A rule that is not enforced, and the operations that have it in their contracts. */
export interface UnenforcedPart {
  readonly kind: UnenforcedKind;
  /** A media type, a format, a pattern, or a name of an extension. */
  readonly name: string;
  /** Their ids, in the order of the contracts. */
  readonly operations: readonly string[];
}

/** The facts of one part of a document, and the parts to which it refers. */
interface Facts {
  readonly found: Set<string>;
  readonly references: Set<string>;
}

const ORDER: readonly UnenforcedKind[] = ['request bodies', 'answers', 'formats', 'patterns', 'extensions'];
/** Members whose values the author chooses freely. They contain no schemas. */
const VALUE_KEYWORDS = new Set(['example', 'examples', 'default', 'enum', 'const', 'value', 'description', 'summary']);
/** The author chooses the member names of these objects of an operation. */
const OPERATION_MAPS = wordSet('properties patternProperties $defs definitions dependentSchemas headers content');
/** Formats that say how a value is shown or sent, and exclude no value. */
const DESCRIPTIVE_FORMATS = new Set(['password', 'binary', 'float', 'double', 'int32', 'int64']);

/** Extensions for generators and documentation, which ask for no check. */
const PRESENTATION_EXTENSION =
  /^x-(enum-?(varnames|names|descriptions)|code-?samples|display-?name|examples?|logo|tags|summary|internal|order|group|traitTag)$/i;

/**
 * Lists the rules that are not enforced, for all operations. Each rule is listed once, with its operations, because thousands of operations
 * may have the same rules.
 */
export function unenforcedIn(operations: readonly ContractOperation[]): UnenforcedPart[] {
  const known = new Map<JsonObject, Reading>();
  const groups = new Map<string, string[]>();
  for (const entry of operations) {
    for (const one of ofOperation(entry, known)) {
      const ids = groups.get(one);
      if (ids === undefined) groups.set(one, [entry.operation.id]);
      else ids.push(entry.operation.id);
    }
  }
  const all = [...groups].map(([one, ids]): UnenforcedPart => {
    const [kind, name] = JSON.parse(one) as [UnenforcedKind, string];
    return { kind, name, operations: ids };
  });
  return all.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || b.operations.length - a.operations.length);
}

function noteOf(kind: UnenforcedKind, name: string): string {
  return JSON.stringify([kind, name]);
}

function ofOperation(entry: ContractOperation, known: Map<JsonObject, Reading>): Set<string> {
  const { document, located, parameters, operation } = entry;
  const { root } = document;
  const reading = known.get(root) ?? createReading(root);
  known.set(root, reading);
  const { found, references } = factsOf([located.value, parameters.map(({ value }) => value)]);
  for (const type of uncheckedTypes(root, member(root, located, 'requestBody')))
    found.add(noteOf('request bodies', type));
  const responses = member(root, located, 'responses');
  for (const status of operation.answerCheck === 'off' ? [] : memberNames(responses))
    for (const type of uncheckedTypes(root, member(root, responses, status))) found.add(noteOf('answers', type));
  for (const reference of references) for (const one of reading(reference)) found.add(one);
  return found;
}

/** Returns the facts behind a reference, through other references. */
type Reading = (reference: string) => ReadonlySet<string>;

/**
 * Returns a function that follows each reference only once. Operations share most of their references, and a reference may lead to
 * thousands of schemas.
 */
function createReading(root: JsonObject): Reading {
  const facts = new Map<string, Facts>();
  const behind = new Map<string, Set<string>>();

  function factsAt(reference: string): Facts {
    const known = facts.get(reference) ?? factsOf(valueAt(root, pathOf(uriDecoded(reference.slice(1)))));
    facts.set(reference, known);
    return known;
  }

  return function readingOf(reference) {
    const known = behind.get(reference);
    if (known !== undefined) return known;
    const found = new Set<string>();
    const references = new Set([reference]);
    // The iterator also visits references that are added during the loop.
    for (const one of references) {
      const at = factsAt(one);
      for (const note of at.found) found.add(note);
      for (const further of at.references) references.add(further);
    }
    behind.set(reference, found);
    return found;
  };
}

/** Returns the media types of a body or an answer that have a schema, but are not read. */
function uncheckedTypes(root: JsonObject, owner: LocatedValue): string[] {
  const content = member(root, owner, 'content');
  const types = mediaTypesOf(content.value);
  return memberNames(content).flatMap((name, index) => {
    const type = types[index] as string;
    if (isJson(type) || type === URLENCODED || type === MULTIPART) return [];
    const media = member(root, content, name);
    // Items of streams are checked one by one.
    if (!isRecord(media.value) || media.value.itemSchema !== undefined) return [];
    return saysSomething(member(root, media, 'schema').value) ? [type] : [];
  });
}

/** Whether a schema excludes some values. A text without bounds stands for any bytes. */
function saysSomething(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  const { type, format, ...rest } = schema;
  const isAny =
    (type === undefined || type === 'string') && (format === undefined || DESCRIPTIVE_FORMATS.has(String(format)));
  const constraints = Object.keys(rest).filter(
    (name) => !VALUE_KEYWORDS.has(name) && name !== 'title' && !name.startsWith('x-'),
  );
  return !isAny || constraints.length > 0 || rest.enum !== undefined || rest.const !== undefined;
}

function factsOf(part: unknown): Facts {
  const facts: Facts = { found: new Set(), references: new Set() };
  const seen = new Set<unknown>();

  function visit(value: unknown, areNames: boolean): void {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    if (Array.isArray(value)) {
      for (const item of value) visit(item, false);
      return;
    }
    for (const [name, below] of Object.entries(value)) {
      if (areNames) visit(below, false);
      else if (name.startsWith('x-')) noteExtension(name);
      else if (name === '$ref' && typeof below === 'string' && below.startsWith('#/')) facts.references.add(below);
      else if (!VALUE_KEYWORDS.has(name)) visit(below, OPERATION_MAPS.has(name));
    }
    if (!areNames) noteKeywords(value as JsonObject);
  }

  function noteExtension(name: string): void {
    if (!name.startsWith('x-gateway-') && !PRESENTATION_EXTENSION.test(name))
      facts.found.add(noteOf('extensions', name));
  }

  function noteKeywords({ format, pattern, maxLength }: JsonObject): void {
    if (typeof format === 'string' && !isChecked(format)) facts.found.add(noteOf('formats', format));
    if (typeof pattern === 'string' && isCheckedInPart(pattern, maxLength))
      facts.found.add(noteOf('patterns', pattern));
  }

  visit(part, false);
  return facts;
}

function isChecked(format: string): boolean {
  if (DESCRIPTIVE_FORMATS.has(format)) return true;
  return formatCheck(format, 'string') !== undefined || formatCheck(format, 'number') !== undefined;
}

/**
 * Whether the gateway checks only a part of the pattern, because it ignores look-around and back references in long texts. `check` also
 * warns of the place.
 */
function isCheckedInPart(source: string, maxLength: unknown): boolean {
  try {
    const { exactLength } = toPattern(source);
    return exactLength !== Number.POSITIVE_INFINITY && !(typeof maxLength === 'number' && maxLength <= exactLength);
  } catch {
    // Another rule reports it.
    return false;
  }
}
