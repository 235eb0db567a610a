// Explains why a YAML file does not parse. The parser reports what it expected, but an author needs the line that is wrong, and its correct
// form.

import { type Explanation, explainIndentation, type ParserError } from './yaml-indentation.ts';

/** Explains the first error and every duplicate key. */
export function explainErrors(errors: readonly ParserError[], text: string): (Explanation & { offset: number })[] {
  return relevantErrors(errors).map((problem) => ({ offset: problem.pos[0], ...explain(problem, text) }));
}

/** Returns the first error and every duplicate key. A YAML parser reports many errors for one mistake. */
function relevantErrors(errors: readonly ParserError[]): ParserError[] {
  const first = errors.find(({ code }) => code !== 'DUPLICATE_KEY');
  return errors.filter((error) => error.code === 'DUPLICATE_KEY' || error === first);
}

function explain(problem: ParserError, text: string): Explanation {
  const [from] = problem.pos;
  const isJson = text.trimStart().startsWith('{');
  const indentation = isJson ? undefined : explainIndentation(problem, text);
  if (indentation !== undefined) return indentation;
  if (problem.code === 'DUPLICATE_KEY') {
    const key = /^\s*["']?([^"':\s]*)/.exec(text.slice(from, from + 100))?.[1];
    return { reason: `the key "${key}" is there twice.`, remedy: 'Remove one of the two.' };
  }
  if (problem.code === 'TAB_AS_INDENT')
    return { reason: 'the line is indented by a tab.', remedy: 'Indent it with spaces.' };
  if (problem.code === 'NON_STRING_KEY') return { reason: 'a key is no plain text.', remedy: 'Write it in quotes.' };
  if (text.slice(Math.max(0, from - 1), from + 1) === '${') {
    return {
      reason: 'a variable inside { } is not quoted.',
      remedy: `Write it in quotes: "${/\$\{\w*\}?/.exec(text.slice(from - 1))?.[0]}".`,
    };
  }
  const comment = /(\$ref["']?:\s+)(#\/[^\s}\],]*)[^\n]*\n\s*\S*$/.exec(text.slice(0, from + 1));
  if (comment !== null)
    return {
      offset: comment.index + String(comment[1]).length,
      reason: 'the text behind # is a comment.',
      remedy: `Write it in quotes: "${comment[2]}".`,
    };
  if (problem.message.startsWith('Flow '))
    return { reason: 'a bracket [ or { is not closed before this line.', remedy: 'Close it where its content ends.' };
  if (problem.code === 'MULTIPLE_DOCS')
    return {
      reason: 'the file holds several YAML documents.',
      remedy: 'Remove the line --- and what does not belong.',
    };
  const reason = `this is not well-formed ${isJson ? 'JSON' : 'YAML'} (${problem.message.replace(/\.$/, '')}).`;
  return { reason, remedy: 'Check indentation, quotes, brackets and colons on this line and the one before.' };
}
