// Makes the code that Ajv generates spend steps for each turn of a loop over client data. Code without loops is as long as its schema, and
// references spend steps for their schemas (references.ts). Together, these bound the time of a check.

import { _, type Ajv2020, type Code, type CodeGen, type KeywordCxt, type Name } from 'ajv/dist/2020.js';
import { takeSteps } from './check-scope.ts';

/** Keywords whose loops apply the schema that is their value. Other loops only compare names. */
const APPLYING_KEYWORDS = new Set([
  'items',
  'contains',
  'additionalProperties',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const LOOPS = ['forRange', 'forOf'] as const;
/** Keywords whose code lists all members of the value without a loop. */
const LISTING_KEYWORDS = new Set(['minProperties', 'maxProperties']);
const weights = new WeakMap<object, number>();

/** Steps that one keyword takes, with the error that it may report. */
const STEPS_PER_KEYWORD = 10;
/** Steps for each name, when the members of a large object are listed. */
const STEPS_PER_NAME = 20;

/** Returns the number of keywords and members in a schema, without the keywords behind references. Lists of values count an eighth. */
function weightOf(schema: unknown): number {
  if (typeof schema !== 'object' || schema === null) return 1;
  const known = weights.get(schema);
  if (known !== undefined) return known;
  let weight = 1;
  for (const [keyword, below] of Object.entries(schema)) {
    if (!Array.isArray(below)) weight += weightOf(below);
    else weight += keyword === 'required' ? below.length : listWeight(below);
  }
  weights.set(schema, weight);
  return weight;
}

function listWeight(list: readonly unknown[]): number {
  return list.reduce<number>((sum, one) => sum + (typeof one === 'object' ? weightOf(one) : 1 / 8), 1);
}

/** Returns the steps that one check of a value by the schema takes, without the steps of its loops and references. */
export function stepsOf(schema: unknown): number {
  return STEPS_PER_KEYWORD * Math.ceil(1 + weightOf(schema));
}

/** Spends the steps of listing the names of an object's members. */
function countedNames<Names extends ArrayLike<unknown>>(names: Names): Names {
  takeSteps(STEPS_PER_NAME * names.length);
  return names;
}

/** Adds the code that spends steps. */
export function spendSteps({ gen }: KeywordCxt, steps: number | Code): void {
  gen.code(_`${gen.scopeValue('func', { ref: takeSteps })}(${steps})`);
}

/** Adds the code that spends steps for the errors so far, because they are copied when the errors of a referred schema are added. */
export function spendErrors(cxt: KeywordCxt): void {
  spendSteps(cxt, _`errors`);
}

/** Makes the loops of all keywords of one Ajv spend steps. Call it after all keywords are added. */
export function countTurns(ajv: Ajv2020): void {
  /** The keyword whose code is being generated, and the code generators whose loops spend. */
  let inner: KeywordCxt | undefined;
  const counted = new WeakSet<CodeGen>();

  function countLoops(gen: CodeGen): void {
    if (counted.has(gen)) return;
    counted.add(gen);
    for (const loop of LOOPS) {
      const make = gen[loop] as (...settings: unknown[]) => CodeGen;
      const counting = (name: unknown, over: Code, ...settings: unknown[]) =>
        make.apply(gen, [
          name,
          loop === 'forOf' ? _`${gen.scopeValue('func', { ref: countedNames })}(${over})` : over,
          ...settings.map((one) => (typeof one === 'function' ? countTurn(one as (turn: Name) => void) : one)),
        ]);
      Object.assign(gen, { [loop]: counting });
    }
  }

  function countTurn(body: (turn: Name) => void): (turn: Name) => void {
    return (turn) => {
      if (inner !== undefined) spendSteps(inner, APPLYING_KEYWORDS.has(inner.keyword) ? stepsOf(inner.schema) : 1);
      body(turn);
    };
  }

  for (const rule of Object.values(ajv.RULES.all)) {
    if (typeof rule !== 'object' || !('code' in rule.definition)) continue;
    const { definition } = rule;
    const generate = definition.code as (cxt: KeywordCxt, type?: string) => void;
    rule.definition = {
      ...definition,
      code(cxt: KeywordCxt, type?: string) {
        const outer = inner;
        inner = cxt;
        countLoops(cxt.gen);
        if (LISTING_KEYWORDS.has(cxt.keyword))
          spendSteps(cxt, _`${2 * STEPS_PER_NAME} * Object.keys(${cxt.data}).length`);
        if (cxt.keyword === '$dynamicAnchor') spendSteps(cxt, stepsOf(cxt.parentSchema));
        generate.call(definition, cxt, type);
        if (cxt.keyword === '$dynamicRef') spendErrors(cxt);
        inner = outer;
      },
    } as typeof definition;
  }
}
