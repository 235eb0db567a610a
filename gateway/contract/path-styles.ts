// Which path parameters have separators in their text: lists and objects, and all parameters of style label and matrix (OpenAPI 3.1.1,
// section 4.8.12.3).

import type { JsonObject, Located } from './pointer.ts';
import { formsOf, isKeyed, isListed, parameterSchema, typesOf } from './value-types.ts';

const none: ReadonlyMap<string, string> = new Map();

/** Returns the styles of these parameters, by name. */
export function pathStylesOf(root: JsonObject, parameters: readonly Located[]): ReadonlyMap<string, string> {
  const styles = parameters.flatMap((parameter) => {
    const { name, in: place, style = 'simple', content } = parameter.value as JsonObject;
    if (place !== 'path' || content !== undefined) return [];
    const types = typesOf(formsOf(root, parameterSchema(root, parameter)));
    const isSeparated = style !== 'simple' || isListed({ types }) || isKeyed({ types });
    return isSeparated ? [[String(name), String(style)] as const] : [];
  });
  return styles.length === 0 ? none : new Map(styles);
}
