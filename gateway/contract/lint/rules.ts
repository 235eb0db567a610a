// Lists the gateway's own lint rules for contracts, each with the file of its subject. They run inside the linter, which supplies file and
// line.

import type { Oas2Rule, Oas3Rule, Plugin } from '@redocly/openapi-core';
import { withoutFurtherReferences } from './document-types.ts';
import { extensionsHaveAMeaning } from './extension-rules.ts';
import { headerNamesFitHeaders, mediaTypesFitHeaders } from './header-rules.ts';
import { contentHasMediaTypes, jsonHasASchema } from './media-type-rules.ts';
import {
  membersAreInAnOperation,
  operationsHaveAMethod,
  parametersAreDeclaredOnce,
  parametersHaveASchema,
  pathParametersAreRequired,
  statusesExist,
  textsAreNoReferences,
} from './misplaced-rules.ts';
import {
  methodsAreServed,
  pathsAreWrittenOnce,
  pathsCanBeRequested,
  pathsHaveTemplates,
  securitySchemesExist,
  serversAreServed,
  serversHaveNoCredentials,
} from './path-rules.ts';
import { keywordsExist, referencesFitTheirPlace, referencesStandAlone } from './reference-rules.ts';
import {
  enumsHaveValues,
  formatsAreExact,
  nullableAdmitsNull,
  patternsAreExact,
  patternsCanRun,
  patternsMeanWhatTheySay,
} from './schema-rules.ts';
import { boundsFitTheirType, formatsAreSpeltRight } from './type-rules.ts';

/** Applies a rule for schemas to Swagger 2.0, where parameters themselves have the keywords of schemas. */
function inSwagger(rule: Oas3Rule): Oas2Rule {
  return (options) => {
    const { Schema } = rule(options) as { readonly Schema: object };
    return { Schema, Parameter: Schema, ParameterItems: Schema } as ReturnType<Oas2Rule>;
  };
}

export const OWN_RULES: Plugin = {
  id: 'gateway',
  typeExtension: { oas2: withoutFurtherReferences, oas3: withoutFurtherReferences },
  rules: {
    oas2: {
      'extensions-have-a-meaning': extensionsHaveAMeaning as Oas2Rule,
      'texts-are-no-references': textsAreNoReferences as Oas2Rule,
      'operations-have-a-method': operationsHaveAMethod as Oas2Rule,
      'members-are-in-an-operation': membersAreInAnOperation as Oas2Rule,
      'statuses-exist': statusesExist as Oas2Rule,
      'parameters-are-declared-once': parametersAreDeclaredOnce as Oas2Rule,
      'path-parameters-are-required': pathParametersAreRequired as Oas2Rule,
      'paths-have-templates': pathsHaveTemplates as Oas2Rule,
      'paths-can-be-requested': pathsCanBeRequested as Oas2Rule,
      'patterns-can-run': inSwagger(patternsCanRun),
      'patterns-are-exact': inSwagger(patternsAreExact),
      'patterns-mean-what-they-say': inSwagger(patternsMeanWhatTheySay),
      'enums-have-values': inSwagger(enumsHaveValues),
      'bounds-fit-their-type': inSwagger(boundsFitTheirType),
      'formats-are-exact': inSwagger(formatsAreExact),
      'formats-are-spelt-right': inSwagger(formatsAreSpeltRight),
    },
    oas3: {
      'extensions-have-a-meaning': extensionsHaveAMeaning,
      'texts-are-no-references': textsAreNoReferences,
      'operations-have-a-method': operationsHaveAMethod,
      'members-are-in-an-operation': membersAreInAnOperation,
      'statuses-exist': statusesExist,
      'parameters-are-declared-once': parametersAreDeclaredOnce,
      'path-parameters-are-required': pathParametersAreRequired,
      'content-has-media-types': contentHasMediaTypes,
      'references-fit-their-place': referencesFitTheirPlace,
      'references-stand-alone': referencesStandAlone,
      'keywords-exist': keywordsExist,
      'parameters-have-a-schema': parametersHaveASchema,
      'paths-have-templates': pathsHaveTemplates,
      'paths-can-be-requested': pathsCanBeRequested,
      'paths-are-written-once': pathsAreWrittenOnce,
      'methods-are-served': methodsAreServed,
      'security-schemes-exist': securitySchemesExist,
      'servers-are-served': serversAreServed,
      'servers-have-no-credentials': serversHaveNoCredentials,
      'patterns-can-run': patternsCanRun,
      'patterns-are-exact': patternsAreExact,
      'patterns-mean-what-they-say': patternsMeanWhatTheySay,
      'enums-have-values': enumsHaveValues,
      'bounds-fit-their-type': boundsFitTheirType,
      'formats-are-exact': formatsAreExact,
      'formats-are-spelt-right': formatsAreSpeltRight,
      'nullable-admits-null': nullableAdmitsNull,
      'media-types-fit-headers': mediaTypesFitHeaders,
      'json-has-a-schema': jsonHasASchema,
      'header-names-fit-headers': headerNamesFitHeaders,
    },
  },
};
