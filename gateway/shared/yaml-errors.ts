// Explains why a YAML file does not parse. The parser reports what it expected, but an author needs the line that is wrong, and its correct
// form.

import { foreignSpaceBefore } from './foreign-spaces.ts';
import { entryMeant, meantEntry, NO_SECRET_ENTRY } from './secret-names.ts';
import { type Explanation, explainIndentation, type ParserError } from './yaml-indentation.ts';
import { explainLineOf } from './yaml-lines.ts';

/** Explains the first error and every duplicate key. */
export function explainErrors(errors: readonly ParserError[], text: string): (Explanation & { offset: number })[] {
  return relevantErrors(errors).map((problem) => ({ offset: problem.pos[0], ...explain(problem, text) }));
}

/** A key without content, and the indentation of the line after it. */
const EMPTY_KEY_BEFORE = /(?:^|\n)( *)(?:- )?["']?([^\s"':#]+)["']?: *\n( *)$/;

/** Returns the first error and every duplicate key. A YAML parser reports many errors for one mistake. */
function relevantErrors(errors: readonly ParserError[]): ParserError[] {
  const first = errors.find(({ code }) => code !== 'DUPLICATE_KEY');
  return errors.filter((error) => error.code === 'DUPLICATE_KEY' || error === first);
}

/** Whether a text is a page of HTML, which some services serve in place of a file. */
export function isPage(text: string): boolean {
  return /^\s*<[!?a-z]/i.test(text);
}

export const PAGE = {
  offset: 0,
  reason: 'the file holds a page of HTML or XML, perhaps one that asks for a login.',
  remedy: 'Download the file itself.',
} as const;

function explain(problem: ParserError, text: string): Explanation {
  const [from] = problem.pos;
  const conflict = /^(?:<{7}|>{7}) .*$/m.exec(text);
  if (conflict !== null)
    return {
      offset: conflict.index,
      reason: 'a merge conflict is not resolved.',
      remedy: 'Keep one of the two forms, and remove the lines of <<<<<<<, ======= and >>>>>>>.',
    };
  if (isPage(text)) return PAGE;
  const foreign = foreignSpaceBefore(text, from);
  if (foreign !== undefined) return foreign;
  const isJson = text.trimStart().startsWith('{');
  const indentation = isJson ? undefined : explainIndentation(problem, text);
  if (indentation !== undefined) return indentation;
  if (problem.code === 'DUPLICATE_KEY') {
    // After a key without content, the parser reports the end of that line.
    const [, space = '', key] = /^(\s*)["']?([^"':\s]*)/.exec(text.slice(from, from + 1000)) ?? [];
    const offset = from + space.length;
    const [, before = '', owner, indent = ''] = EMPTY_KEY_BEFORE.exec(text.slice(0, offset)) ?? [];
    if (owner !== undefined && before.length > indent.length)
      return {
        offset,
        reason: `the key "${key}" is there twice, and "${owner}" in the line before it has no content.`,
        remedy: `Indent it by ${before.length + 2} spaces, so that it belongs to "${owner}".`,
      };
    const first = isJson ? undefined : lineOfFirst(text, offset, String(key));
    const also = first === undefined ? '' : `, first on line ${first}`;
    const isPath = key?.startsWith('/') === true;
    const remedy = isPath ? 'Put the methods of both below one of the two.' : 'Remove one of the two.';
    return { offset, reason: `the key "${key}" is there twice${also}.`, remedy };
  }
  const [, sequence] = /^Invalid escape sequence (.*)$/.exec(problem.message) ?? [];
  if (sequence !== undefined && !isJson)
    return { reason: `in double quotes, ${sequence} is no escape.`, remedy: 'Write the text in single quotes.' };
  if (problem.code === 'TAB_AS_INDENT')
    return { reason: 'the line is indented by a tab.', remedy: 'Indent it with spaces.' };
  if (problem.code === 'NON_STRING_KEY') return { reason: 'a key is no plain text.', remedy: 'Write it in quotes.' };
  if (text.slice(Math.max(0, from - 1), from + 1) === '${') {
    const written = String(/\$\{\w*\}?/.exec(text.slice(from - 1))?.[0]);
    const entry = /secret["']?:\s+$/i.test(text.slice(0, from - 1)) ? entryMeant(written) : undefined;
    if (entry !== undefined) return { reason: NO_SECRET_ENTRY, remedy: meantEntry(entry) };
    return { reason: 'a variable inside { } is not quoted.', remedy: `Write it in quotes: "${written}".` };
  }
  const comment = /(\$ref["']?:\s+)(#\/[^\s}\],]*)[^\n]*\n\s*\S*$/.exec(text.slice(0, from + 1));
  if (comment !== null)
    return {
      offset: comment.index + String(comment[1]).length,
      reason: 'the text behind # is a comment.',
      remedy: `Write it in quotes: "${comment[2]}".`,
    };
  if (problem.message.startsWith('Flow ')) return openBracket(text.slice(0, from));
  if (problem.code === 'MULTIPLE_DOCS')
    return {
      reason: 'the file holds several YAML documents.',
      remedy: 'Remove the line --- and what does not belong.',
    };
  const typed = isJson ? undefined : explainLineOf(problem, text);
  if (typed !== undefined) return typed;
  const reason = `this is not well-formed ${isJson ? 'JSON' : 'YAML'} (${problem.message.replace(/\.$/, '')}).`;
  return { reason, remedy: 'Check indentation, quotes, brackets and colons on this line and the one before.' };
}

/** Returns the line of the nearest equal key before a place, with the same indentation. */
function lineOfFirst(text: string, offset: number, key: string): number | undefined {
  const lines = text.slice(0, offset).split('\n');
  const indent = String(lines.pop());
  for (let index = lines.length - 1; index >= 0 && indent.trim() === ''; index -= 1) {
    const line = String(lines[index]);
    const written = line.replace(/^( *)- /, '$1  ');
    if (!/^\s*[^#\s]/.test(line)) continue;
    if (/^["']?([^"':\s]*)["']?:/.exec(written.slice(indent.length))?.[1] === key) return index + 1;
    if (!line.startsWith(indent)) return undefined;
  }
  return undefined;
}

/** Explains an alias (`*name`) that cannot be resolved. */
export function explainAlias({ message }: Error): Explanation {
  const [, name] = /^Unresolved alias .*: (.*)$/.exec(message) ?? [];
  if (name === undefined)
    return {
      reason: `this is not well-formed YAML (${message}).`,
      remedy: 'Correct the alias, or write the value out.',
    };
  return {
    reason: `*${name} is an alias, and no anchor &${name} is before it.`,
    remedy: `For a text, write it in quotes: "*${name}".`,
  };
}

/** Returns the explanation at the last bracket of a text that is not closed in it. */
function openBracket(text: string): Explanation {
  const open: number[] = [];
  // Quoted texts and comments may have brackets, too.
  for (const { 0: token, index } of text.matchAll(
    /"(?:[^"\\\n]|\\.)*"|(?<=[\s[{,:])'[^'\n]*'|(?<=\s)#[^\n]*|[[\]{}]/g,
  )) {
    if (token === '[' || token === '{') open.push(index);
    else if (token === ']' || token === '}') open.pop();
  }
  const offset = open.at(-1);
  if (offset === undefined)
    return { reason: 'a bracket [ or { is not closed before this line.', remedy: 'Close it where its content ends.' };
  return { offset, reason: `the bracket ${text[offset]} is not closed.`, remedy: 'Close it where its content ends.' };
}
