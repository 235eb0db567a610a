// Writes the advice for clients about a breaking change, from the rule of the comparison that found it. Pure.

/**
 * The advice for each rule. The first rule that matches applies. `isChecked` is true if the gateway refuses requests that are unchanged.
 */
const ADVICE: readonly (readonly [rule: RegExp, what: string, isChecked?: boolean])[] = [
  [/^operation-removed$/, 'Stop calling it: it answers with 404.'],
  [/^security-(added|scope-added)$/, 'Use a key that has the scope.'],
  [/^security-/, 'Use another of the credentials that the reference names.'],
  [/^request-.*-required$/, 'Send it with every request.', true],
  [/^request-media-type-removed$/, 'Send another of the media types that the reference names.'],
  [/^request-(parameter|property|body)-removed$/, 'Stop sending it.'],
  [/^request-parameter-style-changed$/, 'Write it in the form that the reference shows.', true],
  [/^request-default-changed$/, 'Send the value that you rely on.'],
  [/^request-additional-properties-closed$/, 'Send no fields that the reference does not name.', true],
  [/^request-bound-/, 'Keep what you send within the new limit.', true],
  [/^request-(value-|values-|alternative)/, 'Send one of the values that the reference names.', true],
  [/^request-type-/, 'Send it in the new type.', true],
  [/^request-format-/, 'Send it in the new format.', true],
  [/^request-pattern-/, 'Check that what you send has the new form.', true],
  [/^request-/, 'Compare what you send with the description of the body in the reference.', true],
  [/^response-media-type-removed$/, 'Accept another of the media types that the reference names.'],
  [/^response-.*-(removed|optional)$/, 'Do without it: responses may lack it.'],
  [/^response-type-/, 'Let your program read the new type.'],
  [/^response-(bound|pattern|format)-/, 'Do not rely on the old limit or form: values beyond it are possible now.'],
  [/^response-/, 'Let your program accept values that it does not know yet.'],
];

export const REFUSED_AS = 'validation_failed';
const REFUSED = `Other requests are refused with 400 ${REFUSED_AS}.`;

/** Returns sentences, each once; empty if nothing breaks. */
export function adviceFor(rules: Iterable<string>): string[] {
  const found = [...rules].map((rule) => ADVICE.find(([one]) => one.test(rule)));
  const sentences = new Set(found.map((one) => one?.[1] ?? 'Compare your requests with the reference.'));
  return [...sentences, ...(found.some((one) => one?.[2]) ? [REFUSED] : [])];
}
