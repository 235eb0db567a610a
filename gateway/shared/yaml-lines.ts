// Explains errors of a YAML parser by the text of the line that causes them, such as a key without a space after its colon.

import type { Explanation, ParserError } from './yaml-indentation.ts';

/**
 * A form of a line with a mistake, and its explanation. The first group of the pattern, if there is one, is at the place of the mistake.
 */
interface LineForm {
  readonly form: RegExp;
  /** The messages of the parser for which the form is the cause. */
  readonly message: RegExp;
  readonly reason: string;
  remedy(match: RegExpExecArray): string;
}

const KEY_MESSAGE = /^Implicit (map )?keys? |^All mapping items must start/;

/** The forms, the more special ones first. */
const FORMS: readonly LineForm[] = [
  {
    form: /^\s*-([^\s-].*?)\s*$/,
    message: KEY_MESSAGE,
    reason: 'a dash without a space after it is part of a text.',
    remedy: ([, item = '']) => `Write - ${item}.`,
  },
  {
    form: /^\s*(?:- )?(\/\/|\/\*|--|;)/,
    message: KEY_MESSAGE,
    reason: 'comments of YAML begin with #.',
    remedy: () => 'Begin it with #.',
  },
  {
    form: /^\s*(?:- )?["']?([\w./{}$-]+)["']?\s*=\s*(.*?)\s*$/,
    message: KEY_MESSAGE,
    reason: 'a key is followed by a colon, not by an equals sign.',
    remedy: ([, key, value]) => `Write ${key}: ${value}.`,
  },
  {
    form: /^\s*(?:- )?["']?([\w./{}$-]+?)["']?:(?!\s|$)(.*?)\s*$/,
    message: KEY_MESSAGE,
    reason: 'a colon without a space after it is part of a text.',
    remedy: ([, key, value]) => `Write ${key}: ${value}, with a space.`,
  },
  {
    form: /^\s*(?:- )?["']?([\w./{}$-]+)["']?(?:\s+(\S.*?))?\s*$/,
    message: KEY_MESSAGE,
    reason: 'the colon after the key is missing.',
    remedy: ([, key, value]) => `Write ${key}:${value === undefined ? '' : ` ${value}`}.`,
  },
  {
    form: /^[^#]*?[:[,-]\s+([@%`][^\s,\]]*)/,
    message: /^Plain value cannot start with/,
    reason: 'a text that begins with this character needs quotes.',
    remedy: ([, value]) => `Write it in quotes: "${value}".`,
  },
  {
    form: /^[^#]*?[:-]\s+(\*\S.*?)\s*$/,
    message: /^Unexpected scalar at node end/,
    reason: 'a text that begins with * needs quotes, because * begins an alias.',
    remedy: ([, value]) => `Write it in quotes: "${value}".`,
  },
  {
    form: /^[^#]*?[{,]\s*\S+:\s*[^\s,{}]+?[\s;]+(\w+:)/,
    message: /^Block collections are not allowed within flow/,
    reason: 'a comma is missing between two members.',
    remedy: ([, key]) => `Write a comma before ${key?.replace(':', '')}.`,
  },
  {
    form: /^[^#]*?:\s+('.*)$/,
    message: /^Unexpected scalar at node end/,
    reason: 'a quote inside the text ends it.',
    remedy: ([, value]) =>
      value?.startsWith("'") ? 'Write it in double quotes, or write two single quotes in place of the inner one.' : '',
  },
];

/** Explains an error by its line; undefined if its line has none of the forms. */
export function explainLineOf({ message, pos: [from] }: ParserError, text: string): Explanation | undefined {
  if (/^Unexpected flow-(map|seq)-end/.test(message))
    return { reason: 'there is a closing bracket too many.', remedy: 'Remove it.' };
  if (/^Missing closing ["']/.test(message)) return openQuote(text, from, message.includes("'") ? "'" : '"');
  if (message.startsWith('A block sequence may not be')) return dashAmongKeys(text, from);
  const start = text.lastIndexOf('\n', from - 1) + 1;
  // The parser may report the end of the line in front, or the line break.
  const offset = /^\s*$/.test(text.slice(start, from + 1)) && text[from] === '\n' ? from + 1 : start;
  const [line = ''] = text.slice(offset).split('\n', 1);
  if (KEY_MESSAGE.test(message) && /[|>][+-]?\s*$/.test(text.slice(0, offset).trimEnd().split('\n').at(-1) ?? ''))
    return { offset, reason: 'the text below | or > is not indented.', remedy: 'Indent it deeper than its key.' };
  for (const { form, message: about, reason, remedy } of FORMS) {
    const match = about.test(message) ? form.exec(line) : null;
    if (match === null) continue;
    const at = line.length - line.trimStart().length;
    return {
      offset: offset + (form.source.startsWith('^[^#]') ? line.indexOf(match[1] ?? '', at) : at),
      reason,
      remedy: remedy(match),
    };
  }
  return undefined;
}

/** Explains an item of a list beside keys. @param from the end of the line before it, or of comments before it */
function dashAmongKeys(text: string, from: number): Explanation | undefined {
  const found = /^ *(- (?:name: *)?["']?([\w.-]*)["']?:?) *.*$/m.exec(text.slice(from));
  if (found === null) return undefined;
  const [line, written, name] = found;
  const offset = from + found.index + line.indexOf('-');
  if (!/^["']?(openapi|swagger)/m.test(text))
    return {
      offset,
      reason: 'entries are named by their key, not listed with a dash.',
      remedy: `Write ${name}: in place of ${written}, indented as the other entries.`,
    };
  const reason = 'an item of a list stands among keys.';
  return { offset, reason, remedy: 'Write the key of the list above it, such as parameters:, or remove the dash.' };
}

/** Explains a quote that is not closed. Finds the last line before the place with one quote that begins a value. */
function openQuote(text: string, from: number, quote: string): Explanation | undefined {
  let offset = from;
  while (offset > 0) {
    offset = text.lastIndexOf('\n', offset - 2) + 1;
    const [line = ''] = text.slice(offset).split('\n', 1);
    const opened = new RegExp(`(?:^|[\\s:[{,-])(${quote})[^${quote}]*$`).exec(line);
    if (opened !== null && line.split(quote).length % 2 === 0)
      return {
        offset: offset + opened.index + opened[0].indexOf(quote),
        reason: `the quote ${quote} is not closed on this line.`,
        remedy: 'Close it where the text ends.',
      };
  }
  return undefined;
}
