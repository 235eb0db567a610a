// Marks strings, numbers, words and comments of code for the style sheet. This takes one pass over the text, which escapes everything.

import { escapeHtml } from './html.ts';

/** The placeholder for the key of the reader in generated code. It is a private-use character, which texts of contracts do not use. */
export const KEY_MARK = '\uE000';

/** The text in code in place of a key, before the reader has entered one. */
export const KEY_PLACEHOLDER = 'YOUR_API_KEY';

const KEYWORDS: Readonly<Record<string, string>> = {
  json: 'true|false|null',
  js: 'const|let|await|async|function|return|new|for|of|if|else|throw|try|catch|while|import|from|true|false|null|yield',
  python: 'import|from|async|await|with|as|try|except|def|return|for|in|if|else|while|print|True|False|None',
  go: 'package|import|func|if|return|defer|var|nil|err|panic|true|false',
  sh: 'curl|export|for|do|done|in|if|then|fi',
};

const STRINGS = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;
const COMMENTS: Readonly<Record<string, string>> = {
  sh: '#[^\\n]*',
  python: '#[^\\n]*',
  js: '//[^\\n]*',
  go: '//[^\\n]*',
};

const PATTERNS = new Map(Object.entries(KEYWORDS).map(([language, list]) => [language, patternOf(language, list)]));

function patternOf(language: string, list: string): RegExp {
  // A quotation of a shell may span lines; so may the raw strings of Go and the templates of JavaScript.
  const quoted = language === 'sh' ? String.raw`"(?:[^"\\]|\\[^])*"|'[^']*'` : `\`[^\`]*\`|${STRINGS}`;
  const comment = COMMENTS[language] === undefined ? '' : `(?<comment>(?<![^\\s])${COMMENTS[language]})|`;
  const number = String.raw`(?<number>(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w))`;
  const word = `(?<word>(?<![\\w.-])(?:${list})(?![\\w-]))`;
  return new RegExp(`${comment}(?<text>${quoted})|${number}|${word}`, 'g');
}

const CODE_MAX = 100_000;

/** Returns HTML. A language that is not known, and long text, are escaped only. */
export function highlight(code: string, language: string): string {
  const pattern = PATTERNS.get(language);
  if (pattern === undefined || code.length > CODE_MAX) return withKey(escapeHtml(code));
  let html = '';
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    html += escapeHtml(code.slice(end, match.index));
    end = match.index + match[0].length;
    html += `<span class="${classOf(match, code, end, language)}">${escapeHtml(match[0])}</span>`;
  }
  return withKey(html + escapeHtml(code.slice(end)));
}

function classOf({ groups }: RegExpMatchArray, code: string, end: number, language: string): string {
  if (groups?.comment !== undefined) return 'c';
  if (groups?.number !== undefined) return 'n';
  if (groups?.word !== undefined) return 'k';
  return language === 'json' && code[end] === ':' ? 'p' : 's';
}

function withKey(html: string): string {
  return html.replaceAll(KEY_MARK, `<span class="key">${KEY_PLACEHOLDER}</span>`);
}

/** Removes the mark from text of others. */
export function withoutMark(text: string): string {
  return text.replaceAll(KEY_MARK, '');
}
