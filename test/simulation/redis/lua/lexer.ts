// Splits Lua source into tokens.

type TokenKind = 'name' | 'keyword' | 'number' | 'string' | 'symbol' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** The name, keyword or symbol as written; the value of a string; the digits of a number. */
  readonly text: string;
  readonly line: number;
}

const KEYWORDS = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
);
const TOKEN = new RegExp(
  [
    String.raw`(?<space>\s+)`,
    String.raw`(?<comment>--[^\n]*)`,
    String.raw`(?<name>[A-Za-z_]\w*)`,
    String.raw`(?<number>0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)`,
    String.raw`(?<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")`,
    String.raw`(?<symbol>\.\.\.|\.\.|==|~=|<=|>=|[-+*/%^#<>=(){}[\];:,.])`,
  ].join('|'),
  'sy',
);
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' };

/** Throws at text that is no Lua of the kind that the gateway writes: it has no long strings and no long comments. */
export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  for (let at = 0; at < source.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(source)?.groups;
    if (groups === undefined) throw new Error(`Lua line ${line}: unexpected ${source.slice(at, at + 10)}`);
    const { space, comment, name, number, string, symbol } = groups;
    if (name !== undefined) tokens.push({ kind: KEYWORDS.has(name) ? 'keyword' : 'name', text: name, line });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, line });
    else if (string !== undefined) tokens.push({ kind: 'string', text: unescaped(string.slice(1, -1)), line });
    else if (symbol !== undefined) tokens.push({ kind: 'symbol', text: symbol, line });
    line += (space ?? comment ?? string ?? '').split('\n').length - 1;
  }
  tokens.push({ kind: 'end', text: '', line });
  return tokens;
}

function unescaped(text: string): string {
  return text.replace(/\\(\d{1,3}|.)/gs, (_, coded: string) =>
    /^\d/.test(coded) ? String.fromCharCode(Number(coded)) : (ESCAPES[coded] ?? coded),
  );
}
