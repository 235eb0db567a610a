// Validates a value once per recursive schema that refers to it. Otherwise Ajv would check the nested values of a recursive union once per
// branch at each level, in time exponential in the depth of the body.

import type { Ajv2020, ErrorObject, KeywordCxt, ValidateFunction } from 'ajv/dist/2020.js';
import { resolveRef, SchemaEnv } from 'ajv/dist/compile/index.js';
import ref from 'ajv/dist/vocabularies/core/ref.js';
import { spendErrors, spendSteps, stepsOf } from './counted-keywords.ts';

/** Maximum number of errors kept per value, because the errors of all branches add up at each level. */
const ERRORS_MAX = 2000;

interface Judgement {
  readonly errors: ErrorObject[] | null;
  readonly evaluated: ValidateFunction['evaluated'];
  /** Number of dynamic anchors that were known. */
  readonly anchors: number;
}

/** The context that Ajv passes from schema to schema. Dynamic anchors are only added on the way to a value. */
interface Context {
  readonly dynamicAnchors?: object;
}

let check = 0;

/** Discards all remembered results at the beginning of a check. */
export function forgetResults(): void {
  check++;
}

/**
 * Makes one Ajv remember results per reference and value, and spend the steps that the schema of a reference takes. The target of a dynamic
 * reference depends on the anchors on the way to the value, so a result is used only while these are the same.
 *
 * @param isRecursive whether the schema of a reference can be reached from itself; Ajv compiles other references in its own way, often in
 *   place
 */
export function rememberReferences(ajv: Ajv2020, isRecursive: (reference: string) => boolean): void {
  const remembered = new WeakMap<SchemaEnv, ValidateFunction>();
  ajv.removeKeyword('$ref');
  ajv.addKeyword({
    keyword: '$ref',
    schemaType: 'string',
    code(cxt: KeywordCxt) {
      const { baseId, schemaEnv, self } = cxt.it;
      const isWhole = cxt.schema === '#' && baseId === schemaEnv.root.baseId;
      const found = isWhole ? schemaEnv.root : resolveRef.call(self, schemaEnv.root, baseId, cxt.schema as string);
      spendSteps(cxt, stepsOf(found instanceof SchemaEnv ? found.schema : found));
      if (!isWhole && found instanceof SchemaEnv && isRecursive(cxt.schema as string)) {
        const validate = remembered.get(found) ?? remembering(found);
        remembered.set(found, validate);
        ref.callRef(cxt, cxt.gen.scopeValue('validate', { ref: validate }), found);
      } else (ref.default as { code(cxt: KeywordCxt): void }).code(cxt);
      spendErrors(cxt);
    },
  });
}

function remembering(target: SchemaEnv): ValidateFunction {
  let known = new Map<unknown, Judgement>();
  let knownIn = check;

  function judge(data: unknown, context: Context, anchors: number): Judgement {
    const validate = target.validate as ValidateFunction;
    (validate as (data: unknown, context: unknown) => unknown)(data, context);
    // A validator reuses its object of evaluated members on the next call, so it is copied.
    return { errors: fewer(validate.errors), evaluated: validate.evaluated && { ...validate.evaluated }, anchors };
  }

  const validate = ((data: unknown, context: Context) => {
    if (knownIn !== check) {
      known = new Map();
      knownIn = check;
    }
    const isShared = typeof data === 'object' && data !== null;
    const anchors = countOf(context.dynamicAnchors);
    const before = isShared ? known.get(data) : undefined;
    const judgement = before?.anchors === anchors ? before : judge(data, context, anchors);
    if (isShared) known.set(data, judgement);
    Object.assign(validate, { errors: judgement.errors, evaluated: judgement.evaluated });
    return judgement.errors === null;
  }) as unknown as ValidateFunction;
  return validate;
}

/** Returns the number of members without a list of their names, because few documents have dynamic anchors. */
function countOf(members: object | undefined): number {
  let count = 0;
  for (const _name in members) count += 1;
  return count;
}

/** Reduces too many errors to the error of the union if it is the last error, otherwise to the first errors. */
function fewer(errors: ErrorObject[] | null | undefined): ErrorObject[] | null {
  if (errors === null || errors === undefined) return null;
  if (errors.length <= ERRORS_MAX) return errors;
  const last = errors.at(-1)?.keyword ?? '';
  return /^(oneOf|anyOf)$/.test(last) ? errors.slice(-1) : errors.slice(0, ERRORS_MAX);
}
