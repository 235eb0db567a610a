// References between schemas, each judged once per value. A tree whose nodes have several kinds asks each kind about all nodes below, so
// that the time of a check would be exponential in the depth of a body.

import type { Ajv2020, ErrorObject, KeywordCxt, ValidateFunction } from 'ajv/dist/2020.js';
import { resolveRef, SchemaEnv } from 'ajv/dist/compile/index.js';
import ref from 'ajv/dist/vocabularies/core/ref.js';

/** Errors of one value that are kept: those of its kinds add up at each level. */
const ERRORS_MAX = 2000;

interface Judgement {
  readonly errors: ErrorObject[] | null;
  readonly evaluated: ValidateFunction['evaluated'];
}

let check = 0;

/** A check begins: nothing is known of its values. */
export function forgetJudgements(): void {
  check++;
}

/** Has one Ajv remember. Not for schemas with dynamic references, where it matters by which way a value was come to. */
export function rememberReferences(ajv: Ajv2020): void {
  const remembered = new WeakMap<SchemaEnv, ValidateFunction>();
  ajv.removeKeyword('$ref');
  ajv.addKeyword({
    keyword: '$ref',
    schemaType: 'string',
    code(cxt: KeywordCxt) {
      const { baseId, schemaEnv, self } = cxt.it;
      const target =
        cxt.schema === '#' ? undefined : resolveRef.call(self, schemaEnv.root, baseId, cxt.schema as string);
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
    // A validator has one object of what was evaluated, which the next call changes.
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

/** Of too many errors the one that speaks for all kinds, or the first. */
function fewer(errors: ErrorObject[] | null | undefined): ErrorObject[] | null {
  if (errors === null || errors === undefined) return null;
  if (errors.length <= ERRORS_MAX) return errors;
  const last = errors.at(-1)?.keyword ?? '';
  return /^(oneOf|anyOf)$/.test(last) ? errors.slice(-1) : errors.slice(0, ERRORS_MAX);
}
