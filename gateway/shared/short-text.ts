// Texts of contracts for readers with little room. Pure.

/** Returns the beginning of a text, of at most that many characters, cut at a space where there is one. Reads no more of the text. */
export function shortTextOf(text: string, charactersMax: number): string {
  const begun = text
    .slice(0, charactersMax + 1)
    .trim()
    .toWellFormed();
  if (text.length <= charactersMax) return begun;
  const cut = begun.slice(0, charactersMax - 1).toWellFormed();
  const space = cut.lastIndexOf(' ');
  return `${cut.slice(0, space > charactersMax / 2 ? space : undefined).trimEnd()}…`;
}
