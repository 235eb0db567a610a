// The lint rules about names that the gateway writes into headers.

import type { Oas3Rule } from '@redocly/openapi-core';
import { isFieldName, isFieldText } from '../../shared/http/words.ts';

/** Media types must fit a header, because refusals list the accepted media types in a header. */
export const mediaTypesFitHeaders: Oas3Rule = () => ({
  MediaTypesMap(map, { report, location }) {
    for (const type of Object.keys(map)) {
      if (isFieldText(type)) continue;
      const message = `the media type ${JSON.stringify(type)} cannot stand in a header`;
      report({ message, location: location.child([type]).key() });
    }
  },
});

/** Header names must be valid, because CORS answers list them. */
export const headerNamesFitHeaders: Oas3Rule = () => ({
  Parameter(parameter, { report, location }) {
    const name: unknown = parameter.name;
    if (parameter.in !== 'header' || typeof name !== 'string' || isFieldName(name)) return;
    if (name === '') {
      const message = 'no client can send a header without a name, so this parameter is left out';
      report({ message, location: location.child(['name']), forceSeverity: 'warn' });
      return;
    }
    report({
      message: `${JSON.stringify(name)} is not a name of a header field`,
      location: location.child(['name']),
    });
  },
  HeadersMap(map, { report, location }) {
    for (const name of Object.keys(map)) {
      if (isFieldName(name)) continue;
      const message = `${JSON.stringify(name)} is not a name of a header field`;
      report({ message, location: location.child([name]).key() });
    }
  },
});
