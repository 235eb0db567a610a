// Text of foreign origin for a terminal: characters that command the terminal, or turn the direction of text, are written as escapes.

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const HIDDEN_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Writes them in one line of text as `\u001b`: in JSON, the same text. */
export function visibleLine(text: string): string {
  return text.replace(HIDDEN, escaped);
}

/** The same, and leaves line breaks and tabs as they are. */
export function visibleLines(text: string): string {
  return text.replace(HIDDEN_IN_LINES, escaped);
}

/** Characters beyond the first plane have two units, and JSON knows units only. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
