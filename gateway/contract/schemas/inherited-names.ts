// Handles members whose names every JavaScript object inherits, such as `__proto__`, `constructor` and `toString`. Ajv leaves `__proto__`
// out where a schema names members, and takes inherited names for members that were evaluated.

import { _, type Ajv2020, type CodeKeywordDefinition, type KeywordCxt, Name } from 'ajv/dist/2020.js';
import { not } from 'ajv/dist/compile/codegen/index.js';
import { Type } from 'ajv/dist/compile/util.js';
import unevaluatedProperties from 'ajv/dist/vocabularies/unevaluated/unevaluatedProperties.js';
import { isRecord, type JsonObject } from '../pointer.ts';

const INHERITED = '__proto__';
/** Patterns that match this name alone, spelled in another way. */
const AS_PATTERN = '^__proto__$';
const UNANCHORED = '(?:__proto__)';

/** Lets patterns stand for members that Ajv would leave out. Adds the patterns to the schema in place. */
export function declareInherited(schema: JsonObject): void {
  const { properties, patternProperties } = schema;
  const patterns = isRecord(patternProperties) ? patternProperties : {};
  const own = (holder: unknown) => isRecord(holder) && Object.hasOwn(holder, INHERITED);
  if (own(properties)) patterns[AS_PATTERN] ??= (properties as JsonObject)[INHERITED];
  if (own(patterns)) patterns[UNANCHORED] ??= patterns[INHERITED];
  if (Object.keys(patterns).length > 0) schema.patternProperties = patterns;
}

/** Makes `unevaluatedProperties` of one Ajv look at the members themselves. */
export function replaceUnevaluated(ajv: Ajv2020): void {
  const definition = unevaluatedProperties.default as unknown as CodeKeywordDefinition;
  ajv.removeKeyword('unevaluatedProperties');
  ajv.addKeyword({
    ...definition,
    code(cxt: KeywordCxt) {
      const { it, gen, data, errsCount } = cxt;
      const { props } = it;
      if (!(props instanceof Name)) {
        definition.code(cxt);
        return;
      }
      const isOwn = gen.scopeValue('func', { ref: Object.prototype.hasOwnProperty });
      gen.if(_`${props} !== true`, () =>
        gen.forIn('key', data, (key) =>
          gen.if(_`!${props} || !${isOwn}.call(${props}, ${key})`, () => checkUnevaluated(cxt, key)),
        ),
      );
      it.props = true;
      cxt.ok(_`${errsCount} === errors`);
    },
  });
}

/** The code of Ajv's own keyword for one member. */
function checkUnevaluated(cxt: KeywordCxt, key: Name): void {
  const { gen, it, schema } = cxt;
  if (schema === false) {
    cxt.setParams({ unevaluatedProperty: key });
    cxt.error();
    if (!it.allErrors) gen.break();
    return;
  }
  const valid = gen.name('valid');
  cxt.subschema({ keyword: 'unevaluatedProperties', dataProp: key, dataPropType: Type.Str }, valid);
  if (!it.allErrors) gen.if(not(valid), () => gen.break());
}
