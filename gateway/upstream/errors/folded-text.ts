// Compares texts without regard to case and composition, to find the values of a request in the texts of an upstream. Pure.

/**
 * Returns a form that is equal for texts that differ only in case or composition. The form is upper case, because lower case depends on the
 * context (ς), and decomposed (NFKD), because a composed character has several forms.
 */
export function foldText(text: string): string {
  return text.toUpperCase().normalize('NFKD').toUpperCase();
}

/** Whether a text contains one of these folded texts. */
export function containsAny(text: string, folded: readonly string[]): boolean {
  const haystack = foldText(text);
  return folded.some((part) => haystack.includes(part));
}
