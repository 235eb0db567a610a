// Lays out JSON that is on one line, as frameworks publish it: otherwise every mistake in it would be on line 1. Pure.

const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g;

/** Returns JSON of several lines as it is. Each value keeps its text, because `JSON.stringify` would round long numbers. */
export function laidOutJson(text: string): string {
  if (text.trim().includes('\n')) return text;
  const tokens = text.match(TOKENS) ?? [];
  const written: string[] = [];
  let indent = '\n';
  tokens.forEach((token, index) => {
    const isEmpty = '[{'.includes(tokens[index - 1] ?? ' ');
    if (token === '}' || token === ']') {
      indent = indent.slice(0, -2);
      written.push(isEmpty ? token : indent + token);
    } else if (token === ',') written.push(token + indent);
    else if (token === ':') written.push(': ');
    else {
      written.push(isEmpty ? indent + token : token);
      if (token === '{' || token === '[') indent += '  ';
    }
  });
  return `${written.join('')}\n`;
}
