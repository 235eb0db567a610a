// Keeps the values of environment variables out of messages, because they may be secrets.

/** Values that are no secrets, and that are parts of other words and figures by chance. */
const HARMLESS = /^(\d{1,6}|true|false|.{0,3})$/;
/** A longer value is not part of another word by chance. */
const WORD_MAX = 8;

/** Writes the names of variables in place of their values, which a message may also contain in capitals or as JSON. */
export function withoutValues(text: string, expanded: ReadonlyMap<string, string>): string {
  let shown = text;
  for (const [value, name] of [...expanded].sort(([a], [b]) => b.length - a.length)) {
    if (HARMLESS.test(value)) continue;
    const escaped = [value, JSON.stringify(value).slice(1, -1)].map((one) => one.replace(/[^\w\s]/g, '\\$&')).join('|');
    const form = value.length > WORD_MAX ? escaped : `(?<![a-z0-9])(?:${escaped})(?![a-z0-9])`;
    shown = shown.replace(new RegExp(form, 'gi'), () => name);
  }
  return shown;
}
