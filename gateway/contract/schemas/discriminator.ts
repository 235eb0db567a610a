// Lets a discriminator decide a `oneOf`, so that a value that names one of the schemas is checked only by this schema. In many documents,
// only the discriminator distinguishes the schemas, and values would match several of them (OpenAPI 3.1.1, section 4.8.25).

import { _, type Ajv2020, type CodeKeywordDefinition, type KeywordCxt, Name } from 'ajv/dist/2020.js';
import { or } from 'ajv/dist/compile/codegen/index.js';
import oneOf from 'ajv/dist/vocabularies/applicator/oneOf.js';
import { isRecord, type JsonObject } from '../pointer.ts';

/** Returns the values of the discriminator that name each branch, by its mapping, or otherwise by the name of the schema. */
export function branchNames(discriminator: JsonObject, branches: readonly unknown[]): readonly (readonly string[])[] {
  const mapping = isRecord(discriminator.mapping) ? discriminator.mapping : {};
  return branches.map((branch) => {
    const reference = isRecord(branch) ? branch.$ref : undefined;
    if (typeof reference !== 'string') return [];
    const name = reference.split('/').at(-1) as string;
    const mapped = Object.keys(mapping).filter((key) => mapping[key] === reference || mapping[key] === name);
    return mapped.length > 0 ? mapped : [name];
  });
}

/** Replaces `oneOf` in one Ajv. Values that name no branch are checked as before, so exactly one branch has to fit. */
export function letDiscriminatorsDecide(ajv: Ajv2020): void {
  const definition = oneOf.default as unknown as CodeKeywordDefinition;
  ajv.removeKeyword('oneOf');
  ajv.addKeyword({
    ...definition,
    code(cxt: KeywordCxt) {
      const { discriminator } = cxt.parentSchema as JsonObject;
      if (isRecord(discriminator) && typeof discriminator.propertyName === 'string')
        decide(cxt, discriminator.propertyName, branchNames(discriminator, cxt.schema as unknown[]));
      else definition.code(cxt);
    },
  });
}

function decide(cxt: KeywordCxt, property: string, names: readonly (readonly string[])[]): void {
  const { gen, data } = cxt;
  const valid = gen.let('valid', false);
  const passing = gen.let('passing', null);
  const isValid = gen.name('_valid');
  cxt.setParams({ passing });
  const isObjectData = _`${data} && typeof ${data} == "object" && Object.prototype.hasOwnProperty.call(${data}, ${property})`;
  const tag = gen.const('tag', _`${isObjectData} ? ${data}[${property}] : undefined`);
  gen.if(false);
  for (const [index, own] of names.entries()) {
    if (own.length === 0) continue;
    gen.elseIf(or(...own.map((name) => _`${tag} === ${name}`)));
    const branch = cxt.subschema({ keyword: 'oneOf', schemaProp: index, compositeRule: true }, isValid);
    gen.assign(valid, isValid);
    cxt.mergeEvaluated(branch, Name);
  }
  gen.else();
  gen.block(() => fitExactlyOne(cxt, { valid, passing, isValid }));
  gen.endIf();
  cxt.result(
    valid,
    () => cxt.reset(),
    () => cxt.error(true),
  );
}

interface Outcome {
  readonly valid: Name;
  readonly passing: Name;
  readonly isValid: Name;
}

/** The code of Ajv's own `oneOf`. */
function fitExactlyOne(cxt: KeywordCxt, { valid, passing, isValid }: Outcome): void {
  const { gen } = cxt;
  for (const index of (cxt.schema as unknown[]).keys()) {
    const branch = cxt.subschema({ keyword: 'oneOf', schemaProp: index, compositeRule: true }, isValid);
    if (index > 0) {
      gen.if(_`${isValid} && ${valid}`);
      gen.assign(valid, false);
      gen.assign(passing, _`[${passing}, ${index}]`);
      gen.else();
    }
    gen.if(isValid, () => {
      gen.assign(valid, true);
      gen.assign(passing, index);
      cxt.mergeEvaluated(branch, Name);
    });
  }
}
