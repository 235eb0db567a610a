// Finds schemas of a document that can take more steps than the checks of one request may take (contract/schemas/check-scope.ts). `check`
// warns of them.

import type { Mistake } from '../../shared/mistakes.ts';
import { follow, isRecord, type JsonObject, pathOf } from '../pointer.ts';
import type { ContractDocument } from '../reading/document.ts';
import { toPattern } from '../scalars/patterns.ts';
import { allowFor, createCheckScope, isTooComplex, STEPS_MAX, withinScope } from '../schemas/check-scope.ts';
import { stepsOf } from '../schemas/counted-keywords.ts';
import { eachSchema } from '../schemas/dialect.ts';

/** The default of `limits.bodyBytesMax`. A text may be that long. */
const TEXT_LENGTH_MAX = 1_048_576;
/** Patterns are tried with texts of this length, within a part of the budget. */
const TRIED_LENGTH = 20_000;
/** A schema is named if fewer values of its kind fit into one request. */
const VALUES_MIN = 1000;

/** Returns one finding per place. */
export function costlySchemas(document: ContractDocument): Mistake[] {
  const positions = document.position();
  const costOf = createCostOf(document.root);
  const patterns = new Map<string, boolean>();
  const found: Mistake[] = [];
  eachSchema(document.root, undefined, (schema, pointer) => {
    const at = (keyword: string, reason: string, remedy: string) =>
      found.push(positions.mistakeAt([...pathOf(pointer), keyword], reason, remedy));
    const { pattern, maxLength } = schema;
    if (typeof pattern === 'string' && isCostly(pattern, maxLength, patterns))
      at('pattern', 'long texts can take too many steps to compare, and are refused.', 'Set maxLength beside it.');
    if (typeof schema.$dynamicRef === 'string')
      at('$dynamicRef', 'what is nested below it can take too many steps to check, and is refused.', 'Use $ref.');
    const union = COMBINING_KEYWORDS.find((keyword) => Array.isArray(schema[keyword]));
    if (union !== undefined && costOf.isCause(schema))
      at(
        union,
        `fewer than ${VALUES_MIN} such values fit into one request; more are refused.`,
        'Combine fewer schemas.',
      );
    return undefined;
  });
  return found;
}

const COMBINING_KEYWORDS = ['allOf', 'anyOf', 'oneOf'];
const APPLICATORS = [...COMBINING_KEYWORDS, 'not', 'if', 'then', 'else', 'dependentSchemas'];

/** Creates a function that counts the steps for one value. It follows references that describe the same value. */
function createCostOf(root: JsonObject) {
  const known = new Map<unknown, number>();

  function costOf(schema: unknown): number {
    const before = known.get(schema);
    if (before !== undefined) return before;
    // A schema that refers to itself for the same value would take steps without end.
    known.set(schema, Number.POSITIVE_INFINITY);
    const cost = referredFrom(schema).reduce<number>((sum, target) => sum + costOf(target), stepsOf(schema));
    known.set(schema, cost);
    return cost;
  }

  function referredFrom(schema: unknown): unknown[] {
    if (Array.isArray(schema)) return schema.flatMap(referredFrom);
    if (!isRecord(schema)) return [];
    const own = typeof schema.$ref === 'string' ? [follow(root, { value: schema, pointer: '' }).value] : [];
    return [...own, ...APPLICATORS.flatMap((keyword) => (keyword in schema ? referredFrom(schema[keyword]) : []))];
  }

  const isTooMuch = (schema: unknown) => costOf(schema) * VALUES_MIN > STEPS_MAX;
  /** Whether a schema costs too much although none of the schemas that it refers to does. */
  const isCause = (schema: unknown) =>
    isTooMuch(schema) && !referredFrom(schema).some((target) => target !== schema && isTooMuch(target));
  return { isCause };
}

function isCostly(source: string, maxLength: unknown, known: Map<string, boolean>): boolean {
  const longest = typeof maxLength === 'number' ? Math.min(maxLength, TEXT_LENGTH_MAX) : TEXT_LENGTH_MAX;
  const key = `${longest} ${source}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const isFound = triedTexts(source, Math.min(longest, TRIED_LENGTH)).some((text) =>
    takesTooMuch(source, text, longest),
  );
  known.set(key, isFound);
  return isFound;
}

/** Estimates from this text whether the longest possible text would take too many steps. */
function takesTooMuch(source: string, text: string, longest: number): boolean {
  try {
    const pattern = toPattern(source);
    const scope = createCheckScope();
    // The first run is not measured, because it includes work that a pattern does only once.
    withinScope(createCheckScope(), () => pattern.test(text));
    withinScope(scope, () => allowFor(0, longest));
    scope.stepsLeft *= text.length / longest;
    withinScope(scope, () => pattern.test(text));
    return false;
  } catch (error) {
    // A pattern that cannot run at all is reported by a rule of the linter.
    return isTooComplex(error);
  }
}

/** Returns random texts of letters in the pattern, and of common letters. */
function triedTexts(source: string, length: number): string[] {
  const named = [...new Set(source.match(/[A-Za-z0-9]/g))].slice(0, 8).join('');
  return ['ab', named, 'a1-. '].filter((letters) => letters !== '').map((letters) => textOf(letters).slice(0, length));
}

/** A cache of texts, because most patterns are tried with the same texts. */
const texts = new Map<string, string>();
const TEXTS_KEPT = 32;

/** Returns a text of these letters that is as long as trials need. */
function textOf(letters: string): string {
  const before = texts.get(letters);
  if (before !== undefined) return before;
  let state = 1;
  let text = '';
  for (let count = 0; count < TRIED_LENGTH; count += 1) {
    state = (state * 48_271) % 2_147_483_647;
    text += letters[state % letters.length];
  }
  if (texts.size >= TEXTS_KEPT) texts.clear();
  texts.set(letters, text);
  return text;
}
