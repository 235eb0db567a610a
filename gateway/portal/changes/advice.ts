// Pure: what a client does about a breaking change, by the rule of the comparison that found it.

/** The first that matches decides. */
const ADVICE: readonly (readonly [rule: RegExp, what: string])[] = [
  [/^operation-removed$/, 'Stop calling it: it answers with 404.'],
  [/^security-(added|scope-added)$/, 'Use a key that has the scope.'],
  [/^security-/, 'Use another of the credentials that the reference names.'],
  [/^request-.*-required$/, 'Send it with every request.'],
  [/^request-media-type-removed$/, 'Send another of the media types that the reference names.'],
  [/^request-(parameter|property|body)-removed$/, 'Stop sending it.'],
  [/^request-parameter-style-changed$/, 'Write it in the form that the reference shows.'],
  [/^request-default-changed$/, 'Send the value that you rely on.'],
  [/^request-additional-properties-closed$/, 'Send no fields that the reference does not name.'],
  [/^request-/, 'Check the values that you send: one that does not fit is refused with 400 validation_failed.'],
  [/^response-media-type-removed$/, 'Accept another of the media types that the reference names.'],
  [/^response-.*-(removed|optional)$/, 'Do without it: responses may lack it.'],
  [/^response-/, 'Let your program accept the values that are possible now.'],
];

/** Sentences, each once; none if nothing breaks. */
export function adviceFor(rules: Iterable<string>): string[] {
  const found = [...rules].map((rule) => ADVICE.find(([one]) => one.test(rule))?.[1]);
  return [...new Set(found.map((one) => one ?? 'Compare your requests with the reference.'))];
}
