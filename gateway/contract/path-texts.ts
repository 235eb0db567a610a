// Takes the texts of path parameters out of a path as the client wrote it, so that separators can be told from encoded characters.

import type { Operation } from '../operation.ts';
import { templateParameters, valuesBetween } from './routes.ts';

type Template = Pick<Operation, 'path' | 'restOfPath'>;

/**
 * Prepares the reading of paths that match a template. The texts are in the order of the template; undefined if literal text of their
 * segment is written in another way than in the template.
 */
export function createPathTexts({ path: template, restOfPath }: Template): (path: string) => (string | undefined)[] {
  const segments = template.split('/').slice(1);
  const rest = segments.indexOf(`{${restOfPath}}`);

  return function textsOf(path) {
    const given = path.split('/').slice(1);
    const further = given.length - segments.length;
    return segments.flatMap((segment, index) => {
      if (!segment.includes('{')) return [];
      if (index === rest) return [given.slice(index, index + further + 1).join('/')];
      const text = given[rest === -1 || index < rest ? index : index + further] ?? '';
      const texts = segment.split(/\{[^{}]*\}/);
      return valuesBetween(texts, text) ?? templateParameters(segment).map(() => undefined);
    });
  };
}

/** Returns whether a request can have the path of a template: it ends before a question mark. */
export function isRequestable(template: string): boolean {
  return !template.includes('?');
}
