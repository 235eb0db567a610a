// The lint rules about references to the wrong section, about members beside a reference, and about short keywords. From OpenAPI 3.1 on, a
// schema may have unknown members, so the linter accepts what would switch a check off.

import type { Oas3Rule } from '@redocly/openapi-core';
import { closest } from '../../shared/mistakes.ts';
import { wordSet } from '../../shared/text.ts';

/** The section of components for each type of object that a reference may stand for. */
const SECTIONS: Readonly<Record<string, string>> = {
  Schema: 'schemas',
  Response: 'responses',
  Parameter: 'parameters',
  RequestBody: 'requestBodies',
  Header: 'headers',
  MediaType: 'mediaTypes',
};

/** Lists of OpenAPI whose items may be references. */
const LISTS = /^(AllOf|OneOf|AnyOf|ParameterList)$/;

/** A reference to another section would check the members of one object as those of another. */
export const referencesFitTheirPlace: Oas3Rule = () => ({
  ref: {
    enter({ $ref: target }, { report, location, type, key }, resolved) {
      if (LISTS.test(type.name) && resolved.location !== undefined) {
        report({
          message: `${key} is a list, not a reference`,
          suggest: [`${key}: [{ $ref: "${target}" }]`],
          location: [location.child(['$ref']), resolved.location],
        });
        return;
      }
      const wanted = SECTIONS[type.name];
      const [, section] = /^[^#]*#\/components\/(\w+)\/[^/]+$/.exec(target) ?? [];
      if (wanted === undefined || section === undefined || section === wanted) return;
      // The linter itself reports a reference to nothing.
      if (resolved.node === undefined || resolved.location === undefined) return;
      // Another rule says that a name without a slash is not a media type.
      if (type.name === 'MediaType' && !String(key).includes('/')) return;
      report({
        message: `the reference leads to ${section}, and this place takes one to ${wanted}`,
        // The linter also reads the target as the object that belongs here, and reports it. These problems are left out.
        location: [location.child(['$ref']), resolved.location],
      });
    },
  },
});

/** A dash is missing in a list of parameters, or members were added to a reference. They have no effect. */
export const referencesStandAlone: Oas3Rule = () => ({
  ref: {
    enter(reference, { report, location, type }) {
      if (type.name === 'Schema' || type.name === 'PathItem') return;
      const beside = Object.keys(reference).filter(
        (name) => !['$ref', 'summary', 'description'].includes(name) && !name.startsWith('x-'),
      );
      const [first] = beside;
      if (first === undefined) return;
      report({
        message: `${beside.join(', ')} beside a $ref: only the reference has an effect`,
        location: location.child([first]).key(),
        forceSeverity: type.name === 'Parameter' && beside.includes('name') ? 'error' : 'warn',
      });
    },
  },
});

/** Words of other languages for schemas. */
const KEYWORDS_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  min: ['minimum', 'minLength', 'minItems'],
  max: ['maximum', 'maxLength', 'maxItems'],
  length: ['maxLength', 'minLength'],
  lenght: ['maxLength', 'minLength'],
  size: ['maxLength', 'maxItems'],
  choices: ['enum'],
  optional: ['required'],
  regex: ['pattern'],
  regexp: ['pattern'],
  values: ['enum'],
  mandatory: ['required'],
};

/** Keywords that a name of three letters may stand for. The verdict on longer names is in lint-verdict.ts. */
const SHORT_KEYWORDS = [...wordSet('type enum $ref then else')];

/** A keyword that is misspelt, or of another language, checks nothing. */
export const keywordsExist: Oas3Rule = () => ({
  Schema(schema, { report, location }) {
    const { $ref: reference } = schema as { readonly $ref?: unknown };
    if (reference === null)
      report({
        message: '$ref has no value, because outside quotes # begins a comment',
        location: location.child(['$ref']).key(),
      });
    for (const name of Object.keys(schema)) {
      const elsewhere = Object.hasOwn(KEYWORDS_ELSEWHERE, name) ? KEYWORDS_ELSEWHERE[name] : undefined;
      const near = closest(name, name.length === 3 ? SHORT_KEYWORDS : ['$ref'], 1);
      const meant = elsewhere ?? (near === undefined || near === name ? [] : [near]);
      if (meant.length === 0 || meant.some((keyword) => Object.hasOwn(schema, keyword))) continue;
      report({
        message: `${JSON.stringify(name)} is not a keyword of schemas, so it checks nothing`,
        suggest: [...meant],
        location: location.child([name]).key(),
        forceSeverity: elsewhere === undefined ? 'error' : 'warn',
      });
    }
  },
});
