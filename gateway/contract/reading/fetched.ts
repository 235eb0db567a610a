// Finds the references to files in a document that was fetched. Such a document has no files, so its references would lead to files of the
// gateway's machine.

import { BaseResolver, createConfig, lintDocument, makeDocumentFromString, ResolveError } from '@redocly/openapi-core';
import { OWN_RULES } from '../lint/rules.ts';

/** A resolver that reads no file, and notes the references that it was asked for. */
class RefusingResolver extends BaseResolver {
  readonly asked = new Set<string>();

  override resolveDocument(_base: string | null, reference: string): Promise<never> {
    this.asked.add(reference);
    return Promise.reject(new ResolveError(new Error('a fetched document has no files beside it')));
  }
}

/**
 * Returns the references to files in a document, each once. Addresses are not among them. Rejects if the text is not an OpenAPI document.
 */
export async function fileReferencesIn(text: string, extension: 'json' | 'yaml'): Promise<string[]> {
  const rules = { 'no-unresolved-refs': 'error' };
  const config = await createConfig({ rules, plugins: [OWN_RULES] } as Parameters<typeof createConfig>[0]);
  const resolver = new RefusingResolver();
  const document = makeDocumentFromString(text, `/fetched.${extension}`);
  await lintDocument({ document, config, externalRefResolver: resolver });
  return [...resolver.asked].filter((reference) => !/^(https?|data):/i.test(reference));
}
