// Explains where a secret belongs, if its name, a variable or the secret itself stands where the name of a secrets entry belongs.

export const NO_SECRET_ENTRY = 'this is no name of a secrets entry.';

/**
 * Returns the secrets entry whose variable is written, as `${ITEMS_TOKEN}`, `$ITEMS_TOKEN` or `ITEMS_TOKEN`; undefined for another text.
 * That may be the secret itself, so a text without a brace must have the form that variables have.
 */
export function entryMeant(written: string): string | undefined {
  const [, ...names] = /\$\{([A-Za-z]\w*)\}?|^\$([A-Z][A-Z0-9_]*)$|^([A-Z]+(?:_(?:[A-Z]+|\d))+)$/.exec(written) ?? [];
  return names.find((name) => name !== undefined)?.toLowerCase();
}

export function meantEntry(entry: string): string {
  return `Did you mean ${entry}? The gateway reads the secret from the file SECRETS_DIR/${entry} or the variable ${entry.toUpperCase()}.`;
}

export function remedyForEntry(entry: string): string {
  return `Put it into the file SECRETS_DIR/${entry}, or restart the gateway with the variable ${entry.toUpperCase()}.`;
}

/** Returns where to put the secret of a block, under a name that follows from that of the block, such as `items_credential`. */
export function entryFor(block: string): { readonly entry: string; readonly store: string } {
  const entry = `${block.toLowerCase().replace(/\W/g, '_')}_credential`;
  const store = `Put the secret itself into the file SECRETS_DIR/${entry} or the variable ${entry.toUpperCase()}`;
  return { entry, store };
}
