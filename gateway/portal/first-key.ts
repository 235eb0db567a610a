// The text about the source of keys, which is the same on every page. The first key comes from a person, because an operation that makes
// keys itself needs a key.

/** Returns Markdown about the first key. @param contact a web or `mailto:` address; undefined if the configuration names none */
export function firstKeyText(contact: string | undefined): string {
  const text = 'The operator of this API makes your first key';
  if (contact === undefined) return `${text}.`;
  return `${text}: [ask for it](${contact.replaceAll('(', '%28').replaceAll(')', '%29')}).`;
}

export const FURTHER_KEYS =
  'With a live key that has the scopes `gateway:read` and `gateway:keys`, you make more keys on [your account](/docs/account).';
