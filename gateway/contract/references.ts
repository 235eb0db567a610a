// Validates a value once per recursive schema that refers to it. Otherwise Ajv would check the nested values of a recursive union once
// per branch at each level: time exponential in the depth of the body.

import type { Ajv2020, ErrorObject, KeywordCxt, ValidateFunction } from 'ajv/dist/2020.js';
import { resolveRef, SchemaEnv } from 'ajv/dist/compile/index.js';
import ref from 'ajv/dist/vocabularies/core/ref.js';

/** Maximum number of errors kept per value, because the errors of all branches add up at each level. */
const ERRORS_MAX = 2000;

interface Judgement {
  readonly errors: ErrorObject[] | null;
  readonly evaluated: ValidateFunction['evaluated'];
}

let check = 0;

/** Discards all remembered results at the beginning of a check. */
export function forgetResults(): void {
  check++;
}

/**
 * Makes one Ajv remember results per reference and value. Must not be used with dynamic references, whose target depends on the path
 * to the value.
 *
 * @param isRecursive whether the schema of a reference can be reached from itself; Ajv compiles other references its own way, often in place
 */
export function rememberReferences(ajv: Ajv2020, isRecursive: (reference: string) => boolean): void {
  const remembered = new WeakMap<SchemaEnv, ValidateFunction>();
  ajv.removeKeyword('$ref');
  ajv.addKeyword({
    keyword: '$ref',
    schemaType: 'string',
    code(cxt: KeywordCxt) {
      const { baseId, schemaEnv, self } = cxt.it;
      const target =
        cxt.schema === '#' || !isRecursive(cxt.schema as string)
          ? undefined
          : resolveRef.call(self, schemaEnv.root, baseId, cxt.schema as string);
      if (!(target instanceof SchemaEnv)) {
        (ref.default as { code(cxt: KeywordCxt): void }).code(cxt);
        return;
      }
      const validate = remembered.get(target) ?? remembering(target);
      remembered.set(target, validate);
      ref.callRef(cxt, cxt.gen.scopeValue('validate', { ref: validate }), target);
    },
  });
}

function remembering(target: SchemaEnv): ValidateFunction {
  let known = new Map<unknown, Judgement>();
  let knownIn = check;

  function judge(data: unknown, context: unknown): Judgement {
    const validate = target.validate as ValidateFunction;
    (validate as (data: unknown, context: unknown) => unknown)(data, context);
    // A validator reuses its object of evaluated members on the next call, so it is copied.
    return { errors: fewer(validate.errors), evaluated: validate.evaluated && { ...validate.evaluated } };
  }

  const validate = ((data: unknown, context: unknown) => {
    if (knownIn !== check) {
      known = new Map();
      knownIn = check;
    }
    const isShared = typeof data === 'object' && data !== null;
    const judgement = (isShared ? known.get(data) : undefined) ?? judge(data, context);
    if (isShared) known.set(data, judgement);
    Object.assign(validate, judgement);
    return judgement.errors === null;
  }) as ValidateFunction;
  return validate;
}

/** If there are too many errors, keeps the error of the union, if that is the last one, or else the first ones. */
function fewer(errors: ErrorObject[] | null | undefined): ErrorObject[] | null {
  if (errors === null || errors === undefined) return null;
  if (errors.length <= ERRORS_MAX) return errors;
  const last = errors.at(-1)?.keyword ?? '';
  return /^(oneOf|anyOf)$/.test(last) ? errors.slice(-1) : errors.slice(0, ERRORS_MAX);
}
